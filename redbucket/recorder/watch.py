"""Observes, by audit events, which fixtures a test reads and which entropy it touches."""

import hashlib
import os
import sys

_getcwd = os.getcwd
_fsdecode = os.fsdecode
_join = os.path.join
_normpath = os.path.normpath

_LOCAL_HOSTS = ("localhost", "127.", "::1", "0.0.0.0", "")  # noqa: S104 (names, not a bind)
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR


class Watch:
    """Collects what happens between two calls of ``take``.

    ``reads`` and ``writes`` are fixture paths relative to the tree; ``entropy``
    names what was touched. Never raises into the code under test.
    """

    def __init__(self, tree, fixtures):
        self._prefix = tree.rstrip("/") + "/"
        self._fixtures = frozenset(fixtures)
        self.reads = set()
        self.writes = set()
        self.entropy = set()
        self._hashes = {}

    def install(self):
        """Add the audit hook; it can't be removed, and ends with the process."""
        sys.addaudithook(self._hook)

    def _hook(self, event, args):
        try:
            if event == "open":
                if self._fixtures:
                    self._opened(args)
            elif event[0] == "s":
                self._system(event, args)
            elif event in ("os.remove", "os.rename", "os.truncate"):
                for name in args[:2]:
                    self._changed(name)
            elif event in ("_thread.start_new_thread", "_thread.start_joinable_thread"):
                self.entropy.add("thread")
            elif event in ("os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn"):
                self.entropy.add("subprocess")
            elif event == "time.sleep":
                self.entropy.add("sleep")
        except Exception:  # an audit hook that raises breaks the code under test
            self.entropy.add("unobserved")

    def _relative(self, name):
        if isinstance(name, int):
            return None
        path = _fsdecode(name)
        if not path.startswith("/"):
            path = _normpath(_join(_getcwd(), path))
        elif "/." in path or "//" in path:
            path = _normpath(path)
        if not path.startswith(self._prefix):
            return None
        return path[len(self._prefix) :]

    def _opened(self, args):
        path = self._relative(args[0])
        if path is None or path not in self._fixtures:
            return
        mode, flags = args[1], args[2]
        writes = flags & _WRITE_FLAGS if isinstance(flags, int) else any(c in (mode or "") for c in "wax+")
        (self.writes if writes else self.reads).add(path)

    def _changed(self, name):
        path = self._relative(name)
        if path is not None and path in self._fixtures:
            self.writes.add(path)
            self._hashes.pop(path, None)

    def _system(self, event, args):
        if event == "socket.connect":
            address = args[1]
            if isinstance(address, tuple) and not _local(address[0]):
                self.entropy.add("network")
            else:
                self.entropy.add("socket")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            if not _local(args[0]):
                self.entropy.add("network")
        elif event == "socket.bind":
            self.entropy.add("socket")
        elif event == "subprocess.Popen":
            self.entropy.add("subprocess")
        elif event == "sqlite3.connect":
            path = self._relative(args[0])
            if path is not None and path in self._fixtures:
                self.reads.add(path)

    def take(self):
        """Return (reads, writes, entropy) since the last call, and start afresh."""
        taken = self.reads, self.writes, self.entropy
        self.reads, self.writes, self.entropy = set(), set(), set()
        return taken

    def digest(self, paths):
        """Return the fixture hash: sha256 over the sorted (path, sha256) of ``paths``."""
        if not paths:
            return ""
        total = hashlib.sha256()
        for path in sorted(paths):
            total.update(("%s\0%s\n" % (path, self._hash(path))).encode("utf-8", "surrogateescape"))
        return total.hexdigest()

    def _hash(self, path):
        full = self._prefix + path
        try:
            stat = os.stat(full)
            key = stat.st_mtime_ns, stat.st_size, stat.st_ino
            cached = self._hashes.get(path)
            if cached is None or cached[0] != key:
                digest = hashlib.sha256()
                with open(full, "rb") as stream:
                    for block in iter(lambda: stream.read(1 << 20), b""):
                        digest.update(block)
                cached = self._hashes[path] = key, digest.hexdigest()
            return cached[1]
        except OSError:
            return "absent"


def _local(host):
    if host is None:
        return True
    name = _fsdecode(host) if isinstance(host, (bytes, str)) else str(host)
    return name == "" or name.startswith(_LOCAL_HOSTS[:-1])
