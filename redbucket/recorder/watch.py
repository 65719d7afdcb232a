"""Observes, by audit events, which fixtures a test reads and which entropy it touches."""

import _thread
import hashlib
import os
import sys
import threading

_open = open
_stat = os.stat
_sha = hashlib.sha256
_getcwd = os.getcwd
_readlink = os.readlink
_fsdecode = os.fsdecode
_join = os.path.join
_normpath = os.path.normpath
_start = _thread.start_new_thread

_LOCAL_HOSTS = ("localhost", "127.", "::1", "0.0.0.0", "")  # noqa: S104 (names, not a bind)
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR


def start_new_thread(*args, **kwargs):
    """Start a thread as ``_thread`` does, and say so: before Python 3.12 that raises no audit event."""
    sys.audit("_thread.start_new_thread", *args)
    return _start(*args, **kwargs)


def _announce_threads():
    _thread.start_new_thread = threading._start_new_thread = start_new_thread


class Watch:
    """Collects what happens between two calls of ``take``.

    ``reads`` and ``writes`` are fixture paths relative to the tree; ``entropy``
    names what was touched. ``openers`` says of each of the ``data`` files that the whole
    run read, which files of the tree opened it. Never raises into the code under test.
    """

    def __init__(self, tree, fixtures, data=()):
        self._prefix = tree.rstrip("/") + "/"
        self._fixtures = frozenset(fixtures)
        self._data = frozenset(data)
        self._followed = self._fixtures | self._data
        self.openers = {}
        # set while modules are imported: {fixture: file of the module whose top level read it}
        self.importing = None
        self.reads = set()
        self.writes = set()
        self.entropy = set()
        self._hashes = {}
        self._databases = {}
        # {fixture that was opened to be written, and not emptied by that: what the disk says of it}
        self.pending = {}
        self._hashing = False
        self.guarded = {}  # {id of a function of the machinery: its name}; such a function lives on
        self.recoded = set()
        self.compiling = None  # called with source, or None, and the name of its file
        self.executing = None  # called with the code that is about to be executed

    def install(self):
        """Add the audit hook; it can't be removed, and ends with the process."""
        sys.addaudithook(self._hook)
        if sys.version_info < (3, 12):
            _announce_threads()

    def _hook(self, event, args):
        try:
            if event == "open":
                if self._followed and not self._hashing:
                    self._opened(args)
            elif event[0] == "s":
                self._system(event, args)
            elif event == "object.__setattr__":
                if id(args[0]) in self.guarded:
                    self.recoded.add(self.guarded[id(args[0])])
            elif event in ("os.remove", "os.rename", "os.truncate"):
                if self._fixtures:
                    self._removed(event, args)
            elif event in ("_thread.start_new_thread", "_thread.start_joinable_thread"):
                self.entropy.add("thread")
            elif event in ("os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn"):
                self.entropy.add("subprocess")
            elif event == "compile":
                if self.compiling is not None:
                    self.compiling(args[0], args[1])
            elif event == "exec":
                if self.executing is not None:
                    self.executing(args[0])
            elif event == "time.sleep":
                self.entropy.add("sleep")
        except Exception:  # an audit hook that raises breaks the code under test
            self.entropy.add("unobserved")

    def _relative(self, name, folder_fd=-1):
        if isinstance(name, int):
            return None
        path = _fsdecode(name)
        if not path.startswith("/"):
            folder = _getcwd() if folder_fd < 0 else _readlink("/proc/self/fd/%d" % folder_fd)
            path = _normpath(_join(folder, path))
        elif "/." in path or "//" in path:
            path = _normpath(path)
        if not path.startswith(self._prefix):
            return None
        path = path[len(self._prefix) :]
        return path if path in self._followed else None

    def _opened(self, args):
        path = self._relative(args[0])
        if path is None:
            return
        mode, flags = args[1], args[2]
        known = isinstance(flags, int)
        writes = flags & _WRITE_FLAGS if known else any(c in (mode or "") for c in "wax+")
        if path in self._data:
            if not writes:
                self.openers.setdefault(path, set()).add(self._opener())
        elif not writes:
            self._read(path)
        elif flags & os.O_TRUNC if known else any(c in (mode or "") for c in "wx"):
            self.writes.add(path)
        else:  # some open to write, and only read: what was written shows
            if flags & os.O_RDWR if known else "+" in mode:
                self._read(path)
            self.pending.setdefault(path, self._stamp(path))

    def _stamp(self, path):
        """Return what changes whenever a file is written, and can't be set back; None for no file."""
        try:
            stat = _stat(self._prefix + path)
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_ctime_ns

    def _opener(self):
        """Return the innermost file of the tree that is at work, relative to it; "" for none."""
        frame = sys._getframe(3)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self._prefix):
                return name[len(self._prefix) :]
            frame = frame.f_back
        return ""

    def _read(self, path):
        self.reads.add(path)
        if self.importing is not None:
            frame = sys._getframe(2)
            while frame is not None:
                code = frame.f_code
                if code.co_name == "<module>" and code.co_filename.startswith(self._prefix):
                    self.importing[path] = code.co_filename
                    return
                frame = frame.f_back
            self.importing.setdefault(path, "")

    def _removed(self, event, args):
        fds = args[2:4] if event == "os.rename" else args[1:2] if event == "os.remove" else ()
        names = args[:2] if event == "os.rename" else args[:1]
        for place, name in enumerate(names):
            path = self._relative(name, fds[place] if place < len(fds) else -1)
            if path is not None and path not in self._data:
                self.writes.add(path)

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
            self._database(args[0])

    def _database(self, name):
        """SQLite opens its files in C: whether it wrote shows in the hash only."""
        if isinstance(name, (str, bytes)) and _fsdecode(name).startswith("file:"):
            name = _fsdecode(name)[len("file:") :].partition("?")[0]
        path = self._relative(name)
        if path is not None and path not in self._data:
            self._read(path)
            self._databases[path] = self._hash(path)

    def settle(self, reads, writes):
        """Add to ``writes`` the databases among ``reads``, and what is open to be written, that were written since."""
        for path, before in list(self.pending.items()):
            now = self._stamp(path)
            if before != now:
                writes.add(path)
                self.pending[path] = now
        for path in reads & set(self._databases):
            before, now = self._databases[path], self._hash(path)
            if before != now:
                writes.add(path)
                self._databases[path] = now

    def take(self):
        """Return (reads, writes, entropy) since the last call, and start afresh."""
        if not (self.reads or self.writes or self.entropy):
            return set(), set(), set()
        taken = self.reads, self.writes, self.entropy
        self.reads, self.writes, self.entropy = set(), set(), set()
        return taken

    def digest(self, paths):
        """Return the fixture hash: sha256 over the sorted (path, sha256) of ``paths``."""
        if not paths:
            return ""
        total = _sha()
        for path in sorted(paths):
            total.update(("%s\0%s\n" % (path, self._hash(path))).encode("utf-8", "surrogateescape"))
        return total.hexdigest()

    def _hash(self, path):
        full = self._prefix + path
        self._hashing = True  # our own reading is no test's
        try:
            stat = _stat(full)
            key = stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
            cached = self._hashes.get(path)
            if cached is None or cached[0] != key:
                digest = _sha()
                with _open(full, "rb") as stream:
                    for block in iter(lambda: stream.read(1 << 20), b""):
                        digest.update(block)
                cached = self._hashes[path] = key, digest.hexdigest()
            return cached[1]
        except OSError:
            return "absent"
        except Exception as error:  # a stand-in for the file system may do anything
            return "unreadable: %s" % type(error).__name__
        finally:
            self._hashing = False


def _local(host):
    if host is None:
        return True
    name = _fsdecode(host) if isinstance(host, (bytes, str)) else str(host)
    return name == "" or name.startswith(_LOCAL_HOSTS[:-1])
