"""The record channel: one JSON event a line, written to a pipe that the parent holds.

Each line carries a keyed digest, and the key is replaced by its own digest after
each line. Code under test that reads this process's memory finds the key of the
next line only, so it can't rewrite what was said before it ran. It can still lie
about what comes after; the sentinels and the comparison with base are for that.
"""

import hashlib
import json
import os

# Bound before any code of the tree is imported: a patched module changes nothing here.
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str).encode
_write = os.write
_getpid = os.getpid
_blake = hashlib.blake2b

MESSAGE_LIMIT = 8000


def cut(text, limit=MESSAGE_LIMIT):
    """Return ``text`` with at most ``limit`` characters: head and tail, and the cut said."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n[... %d characters cut ...]\n%s" % (text[:half], len(text) - limit, text[-half:])


class Channel:
    """Writes events. Silent in any process but the one that opened it (a fork's child)."""

    def __init__(self, fd, key):
        self._fd = fd
        self._key = key
        self._pid = _getpid()
        os.set_inheritable(fd, False)

    def send(self, event, **fields):
        """Write one event whole, or end the process if the parent is gone."""
        if _getpid() != self._pid:
            return
        fields["event"] = event
        body = _dumps(fields).encode("ascii")
        mac = _blake(body, key=self._key, digest_size=16).hexdigest().encode("ascii")
        self._key = _blake(self._key, digest_size=32).digest()
        data = memoryview(mac + b" " + body + b"\n")
        try:
            while data:
                data = data[_write(self._fd, data) :]
        except BrokenPipeError:
            os._exit(97)  # nobody listens any more: an orphan must not go on running tests
