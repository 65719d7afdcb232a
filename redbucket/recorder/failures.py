"""What a failure is known by: exception, innermost project frame, normalised message."""

import hashlib
import re

# The same list as redbucket.core.fingerprint, kept in step by a test: what varies
# between two runs of one failure without being the failure. Plain numbers stay,
# because a changed number in an assertion is a different failure.
VOLATILE = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}"), "0x…"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"(?<![\w.])(?:127\.0\.0\.1|localhost|\[::1\]):\d{4,5}\b"), "<local address>"),
    (re.compile(r"(/tmp|/var/tmp|/dev/shm)(?:/[\w.\-+@]+)+"), "<temporary path>"),
    (re.compile(r"\b(pid|process|thread)([ =:#]+)\d+", re.I), r"\1\2<id>"),
    (re.compile(r"\bid=(['\"]?)\d{6,}\1"), "id=<id>"),
    (re.compile(r"(@ ?|\bat |\.\.\.)\d{6,}(?=>)"), r"\1<id>"),
    (re.compile(r"\bgoroutine \d+"), "goroutine <id>"),
    (re.compile(r"\b(thread '[^'\n]*') \(\d+\)"), r"\1 (<id>)"),
    (re.compile(r"(?<=[\w;\]])@[0-9a-f]{5,8}\b(?![.@\w])"), "@<id>"),
    (re.compile(r"\b(Object(?: Id)?) ?#\d+"), r"\1 #<id>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?: ?(?:ms|µs|us|ns|s|sec|secs|seconds|milliseconds))\b"), "<duration>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b"), "<hex>"),
)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")


def normalise(message, places=()):
    """Return ``message`` without what varies; ``places`` are (path, placeholder) pairs."""
    for path, name in places:
        message = message.replace(path, name)
    for pattern, replacement in VOLATILE:
        message = pattern.sub(replacement, message)
    return message


def normalise_nodeid(nodeid):
    """Return ``nodeid`` as text that JSON can hold, without the addresses of a parameter's repr."""
    nodeid = str(nodeid).encode("utf-8", "backslashreplace").decode("utf-8")
    return _ADDRESS.sub("0x…", nodeid) if "0x" in nodeid else nodeid


def unique(ids):
    """Return the ids, normalised, with an occurrence number where one repeats."""
    seen, result = {}, []
    for nodeid in ids:
        nodeid = normalise_nodeid(nodeid)
        count = seen[nodeid] = seen.get(nodeid, 0) + 1
        name = nodeid
        if count > 1:
            name = "%s#%d" % (nodeid, count)
            while name in seen:  # a real id may look like that already
                count += 1
                name = "%s#%d" % (nodeid, count)
            seen[nodeid] = count
            seen[name] = 1
        result.append(name)
    return result


def fingerprint(phase, exception, frame, message):
    """Return 16 hex digits that are equal for two failures of the same kind."""
    text = "\0".join((phase, exception, frame, message[:4000]))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def frame_of(traceback, tree):
    """Return "path:function" of the innermost frame in ``tree``, else of the innermost frame."""
    prefix = tree.rstrip("/") + "/"
    found = last = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        last = "%s:%s" % (code.co_filename.rpartition("/")[2], code.co_name)
        if code.co_filename.startswith(prefix) and "/site-packages/" not in code.co_filename:
            found = "%s:%s" % (code.co_filename[len(prefix) :], code.co_name)
        traceback = traceback.tb_next
    return found or last


def describe(error):
    """Return (type name with module, text) of an exception, whatever its ``__str__`` does."""
    kind = type(error)
    name = "%s" % kind.__name__
    try:
        name = kind.__qualname__
        if kind.__module__ != "builtins":
            name = "%s.%s" % (kind.__module__, name)
        text = str(error)
        # a str subclass may answer anything to len() and slices
        text = str.__str__(text) + _more(error, 0)
    except BaseException as second:  # the code under test raises what it likes here
        return name, "<no message: %s in __str__>" % type(second).__name__
    return name, text


def _more(error, depth):
    """Return what ``str`` leaves out: a group's members, a doctest's example and its two sides."""
    got, example = getattr(error, "got", None), getattr(error, "example", None)
    if example is not None:
        shown = "\n>>> %s" % str(getattr(example, "source", "")).strip().replace("\n", "\n... ")
        if isinstance(got, str):
            return "%s\nexpected: %s\ngot: %s" % (shown, getattr(example, "want", ""), got)
        raised = getattr(error, "exc_info", None)
        if type(error).__name__ == "UnexpectedException" and isinstance(raised, tuple):
            return "%s\nraised: %s: %s" % (shown, type(raised[1]).__name__, raised[1])
    if type(error).__name__ == "MultipleDoctestFailures":
        return "".join(_more(failure, depth + 1) for failure in list(error.failures)[:20])
    members = getattr(error, "exceptions", None)
    if not isinstance(members, tuple) or depth > 3:
        return ""
    lines = []
    for member in members[:20]:
        if isinstance(member, BaseException):
            lines.append("\n%s%s: %s" % ("  " * (depth + 1), type(member).__name__, str(member)))
            lines.append(_more(member, depth + 1))
    return "".join(lines)


def notes(error, depth=0):
    """Return the notes on an exception and on a group's members, a line for each paragraph.

    Hypothesis tells the failing example there, and the blob that reproduces it. They are no part of a fingerprint: in
    another run the same failure may have another example.
    """
    found = []
    try:
        for note in list(getattr(error, "__notes__", ()))[:20]:
            for paragraph in str(note)[:4000].split("\n\n"):
                text = " ".join(line.strip() for line in paragraph.splitlines()).strip()
                if text:
                    found.append("\n" + text)
        members = getattr(error, "exceptions", None)
        if isinstance(members, tuple) and depth <= 3:
            for member in members[:20]:
                if isinstance(member, BaseException):
                    found.append(notes(member, depth + 1))
    except BaseException:  # an attribute of the code under test may raise what it likes
        return ""
    return "".join(found)


def kept(phase, error, traceback, tree, places, cut):
    """Return what the record keeps of an exception: message, type, fingerprint."""
    name, text = describe(error)
    text = cut(text)
    frame = frame_of(traceback, tree)
    return {
        "phase": phase,
        "exception": name,
        "message": ("%s: %s (%s)" % (name, text, frame) if text else "%s (%s)" % (name, frame))
        + cut(notes(error)),
        "fingerprint": fingerprint(phase, name, frame, normalise(text, places)),
    }
