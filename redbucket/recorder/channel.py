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
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
_write = os.write
_getpid = os.getpid
_fstat = os.fstat
_exit = os._exit
_blake = hashlib.blake2b

MESSAGE_LIMIT = 8000
CHUNK_IDS = 500
CHUNK_CHARACTERS = 200_000
NOBODY_LISTENS = 97
CHANNEL_GONE = 96


def cut(text, limit=MESSAGE_LIMIT):
    """Return ``text`` with at most ``limit`` characters: head and tail, and the cut said."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n[... %d characters cut ...]\n%s" % (text[:half], len(text) - limit, text[-half:])


def chunks(values):
    """Yield lists of strings, each small enough for one line."""
    chunk, size = [], 0
    for value in values:
        chunk.append(value)
        size += len(value)
        if len(chunk) >= CHUNK_IDS or size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class Channel:
    """Writes events. Silent in any process but the one that opened it (a fork's child)."""

    def __init__(self, fd, key):
        self._fd = fd
        self._key = key
        self._pid = _getpid()
        self._inode = _fstat(fd).st_ino
        os.set_inheritable(fd, False)

    def send(self, event, **fields):
        """Write one event whole, or end the process if that is not possible any more."""
        if _getpid() != self._pid:
            return
        fields["event"] = event
        # lone surrogates (names that are not UTF-8) have no place in JSON text
        body = _dumps(fields).encode("utf-8", "replace")
        mac = _blake(body, key=self._key, digest_size=16).hexdigest().encode("ascii")
        self._key = _blake(self._key, digest_size=32).digest()
        data = memoryview(mac + b" " + body + b"\n")
        try:
            # a test that closes every descriptor may have opened a file under our number
            if _fstat(self._fd).st_ino != self._inode:
                _exit(CHANNEL_GONE)
            while data:
                data = data[_write(self._fd, data) :]
        except BrokenPipeError:
            _exit(NOBODY_LISTENS)  # an orphan must not go on running tests
        except OSError:
            _exit(CHANNEL_GONE)  # what can't be reported must not look as if it had run

    def collected(self, ids, errors):
        """Say which node ids will run and which collectors failed."""
        for chunk in chunks(ids):
            self.send("collected", ids=chunk)
        for chunk in chunks(errors):
            self.send("collected", errors={name: errors[name] for name in chunk})
        self.send("collected", last=True)
