"""Why a file could not be collected: the error and its place in one line, then the lines that led there."""

import re
import traceback

_HEADER = "Traceback (most recent call last):"
_FRAME = re.compile(r'  File "(.+)", line (\d+)')


def of_error(error, shown, tree):
    """Return what the record keeps of a collector that raised ``error``; ``shown`` is what the runner shows of it.

    pytest wraps what an import raised into an error of its own, whose text begins with pytest's frames.
    """
    try:
        if isinstance(error.__cause__, (ImportError, SyntaxError)) and _of_pytest(type(error)):
            error = error.__cause__
        if _of_pytest(type(error)):
            return shown  # made for people: a fixture that is not there, two files of one name
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:  # the code under test raises what it likes here
        return shown
    return of_traceback(text, tree, shown)


def of_traceback(text, tree, shown=""):
    """Return a traceback with the error first, or ``shown`` (by default ``text``) where it is none."""
    lines = text.replace(tree.rstrip("/") + "/", "").splitlines()
    start = max((n for n, line in enumerate(lines) if line == _HEADER), default=-1) + 1
    # a file that does not parse is named like a frame; what is raised stands at the margin
    end = next((n for n in range(start, len(lines)) if lines[n] and not lines[n].startswith("  ")), None)
    if end is None:
        return shown or text
    frames = [(n, found) for n, found in ((n, _FRAME.match(lines[n])) for n in range(start, end)) if found]
    own = [(n, found) for n, found in frames if _in_tree(found.group(1))]
    head, rest = lines[end], lines[end + 1 :]
    if own:
        head = "%s (%s:%s)" % (head, own[-1][1].group(1), own[-1][1].group(2))
    kept = own + [frame for frame in frames[-1:] if frame not in own]
    led = ["  %s:%s%s" % (found.group(1), found.group(2), _source(lines[n + 1])) for n, found in kept]
    return "\n".join([head] + rest + led)


def _source(line):
    return ": " + line.strip() if line.startswith("    ") else ""


def _in_tree(path):
    return not path.startswith(("/", "<")) and "site-packages/" not in path


def _of_pytest(kind):
    return kind.__module__.partition(".")[0] in ("_pytest", "pytest")
