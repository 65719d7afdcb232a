"""By what a failure and a test are known again in another run.

``VOLATILE`` is what varies between two runs of one failure without being the
failure. Plain numbers stay, line numbers too: ``assert 3 == 4`` and ``assert 5
== 4`` are two failures, and a random value must show. The recorder, which can't
import this package, holds a copy of the list; a test keeps the two in step.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b0x[0-9a-fA-F]{4,}"), "0x…"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"(?<![\w.])(?:127\.0\.0\.1|localhost|\[::1\]):\d{4,5}\b"), "<local address>"),
    (re.compile(r"(/tmp|/var/tmp|/dev/shm)(?:/[\w.\-+@]+)+"), "<temporary path>"),
    (re.compile(r"\b(pid|process|thread)([ =:#]+)\d+", re.IGNORECASE), r"\1\2<id>"),
    (re.compile(r"\bid=(['\"]?)\d{6,}\1"), "id=<id>"),
    # id() in a repr, which pytest's own abbreviation may have cut: "<py3-none-any @ 126124177984>", "...4177984>"
    (re.compile(r"(@ ?|\bat |\.\.\.)\d{6,}(?=>)"), r"\1<id>"),
    # other languages: Go's goroutines, Rust's thread numbers, Java's identity hashes, PHP's object handles
    (re.compile(r"\bgoroutine \d+"), "goroutine <id>"),
    (re.compile(r"\b(thread '[^'\n]*') \(\d+\)"), r"\1 (<id>)"),
    (re.compile(r"(?<=[\w;\]])@[0-9a-f]{5,8}\b(?![.@\w])"), "@<id>"),
    (re.compile(r"\b(Object(?: Id)?) ?#\d+"), r"\1 #<id>"),
    (
        re.compile(r"\b\d+(?:\.\d+)?(?: ?(?:ms|µs|us|ns|s|sec|secs|seconds|milliseconds))\b"),
        "<duration>",
    ),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b"), "<hex>"),
)

# More than this of a message is not looked at: it bounds the work for a hostile one.
MESSAGE_LIMIT = 8_000
_KEPT = 4_000
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")


def normalise(message: str, places: Sequence[tuple[str, str]] = ()) -> str:
    """Return ``message`` without what varies; ``places`` are (path, placeholder) pairs, tree roots say."""
    for path, name in places:
        message = message.replace(path, name)
    for pattern, replacement in VOLATILE:
        message = pattern.sub(replacement, message)
    return message


def fingerprint(phase: str, exception: str, frame: str, message: str) -> str:
    """Return 16 hex digits, equal for two failures of the same kind; ``message`` is normalised already."""
    text = "\0".join((phase, exception, frame, message[:_KEPT]))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def normalise_nodeid(nodeid: str) -> str:
    """Return ``nodeid`` without the addresses that a parameter's repr may hold."""
    return _ADDRESS.sub("0x…", nodeid) if "0x" in nodeid else nodeid


def align(ids: Iterable[str]) -> list[str]:
    """Return the ids, normalised and unique: the second of its kind gets ``#2``, the third ``#3``."""
    aligner = Aligner()
    return [aligner.name(nodeid) for nodeid in ids]


class Aligner:
    """``align`` for ids that come one by one."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def name(self, nodeid: str) -> str:
        """Return the unique name of the next ``nodeid``."""
        nodeid = normalise_nodeid(nodeid)
        count = self._seen.get(nodeid, 0) + 1
        self._seen[nodeid] = count
        if count == 1:
            return nodeid
        name = f"{nodeid}#{count}"
        # A real id may look like that already.
        while name in self._seen:
            count += 1
            name = f"{nodeid}#{count}"
        self._seen[nodeid] = count
        self._seen[name] = 1
        return name
