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
    """Return ``nodeid`` without the addresses that a parameter's repr may hold."""
    return _ADDRESS.sub("0x…", nodeid)


def unique(ids):
    """Return the ids, normalised, with an occurrence number where one repeats."""
    seen, result = {}, []
    for nodeid in ids:
        nodeid = normalise_nodeid(nodeid)
        count = seen[nodeid] = seen.get(nodeid, 0) + 1
        result.append(nodeid if count == 1 else "%s#%d" % (nodeid, count))
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
    name = (
        kind.__qualname__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__qualname__)
    )
    try:
        return name, str(error)
    except Exception as second:
        return name, "<no message: %s in __str__>" % type(second).__name__
