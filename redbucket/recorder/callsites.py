"""Where a test touches entropy: the lines of the tree that ask for it. In diagnostic runs alone.

Audit events tell of threads, sleeps, sockets, processes and listings. Clocks and generators raise none:
they are seen by ``sys.monitoring`` on Python 3.12 and newer, and before that by a profile function,
which costs a multiple. No call site is ever disabled: one that was first seen with another
callable would be lost for good.
"""

import datetime
import os
import random
import secrets
import sys
import threading
import time
import uuid

from . import watch

_CLOCKS = (
    "time",
    "time_ns",
    "localtime",
    "gmtime",
    "ctime",
    "strftime",
    "asctime",
    "monotonic",
    "perf_counter",
)
_DATES = ("now", "utcnow", "today")
_EVENTS = {
    "_thread.start_new_thread": "a thread",
    "_thread.start_joinable_thread": "a thread",
    "time.sleep": "time.sleep",
    "socket.connect": "socket.connect",
    "socket.bind": "socket.bind",
    "socket.getaddrinfo": "socket.getaddrinfo",
    "socket.gethostname": "socket.gethostname",
    "subprocess.Popen": "subprocess.Popen",
    "os.system": "os.system",
    "os.fork": "os.fork",
    "os.posix_spawn": "os.posix_spawn",
    "os.listdir": "os.listdir",
    "os.scandir": "os.scandir",
    "builtins.id": "id",
}
_SETTING = ("seed", "getstate", "setstate")
_MOST = 50
_TOOLS = (3, 4)  # 0 to 2 and 5 are those of debuggers, coverage, profilers and optimisers


class Sites:
    """Collects "path:line what" between two calls of ``take``."""

    def __init__(self, tree):
        self._prefix = tree.rstrip("/") + "/"
        self._found = {}
        self._on = False
        self._named = _named()
        self._codes = {f.__code__: name for f, name in self._named.values() if hasattr(f, "__code__")}
        self._urandom()
        sys.addaudithook(self._audit)
        if hasattr(sys, "monitoring"):
            self._monitor(sys.monitoring)
        else:
            sys.setprofile(self._profile)
            threading.setprofile(self._profile)

    def begin(self):
        """Forget what was found, and look from now on."""
        self._found = {}
        self._on = True

    def take(self):
        """Return what was found, in order; look no more until ``begin``."""
        self._on = False
        return list(self._found)[:_MOST]

    def _add(self, what, frame):
        """Note the innermost line of the tree; stop at ours, which only looks."""
        try:
            while frame is not None:
                path = frame.f_code.co_filename
                if path.startswith(self._prefix):
                    self._found["%s:%d %s" % (path[len(self._prefix) :], frame.f_lineno, what)] = None
                    return
                if frame.f_globals.get("__package__") == __package__:
                    return
                frame = frame.f_back
        except Exception:  # never into the code under test
            self._on = False

    def _audit(self, event, args):
        if self._on and event in _EVENTS:
            frame = sys._getframe(1)
            own = frame.f_code is watch.start_new_thread.__code__  # it stands between the tree and the event
            self._add(_EVENTS[event], frame.f_back if own else frame)

    def _urandom(self):
        """Calls from C, such as those of ``map``, raise no event; the wrapper is met by each."""
        real = os.urandom

        def urandom(size):
            if self._on:
                self._add("os.urandom", sys._getframe(1))
            return real(size)

        os.urandom = urandom
        random._urandom = urandom
        for module in (uuid, secrets):
            if hasattr(module, "urandom"):
                module.urandom = urandom

    def _monitor(self, monitoring):
        for tool in _TOOLS:
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "redbucket call sites")
                monitoring.register_callback(tool, monitoring.events.CALL, self._called)
                monitoring.set_events(tool, monitoring.events.CALL)
                return

    def _called(self, code, offset, function, first):
        if self._on:
            name = self._name(function, first)
            if name is not None:
                self._add(name, sys._getframe(1))

    def _profile(self, frame, event, argument):
        if not self._on:
            return
        if event == "c_call":
            name = self._name(argument)
            if name is not None:
                self._add(name, frame)
        elif event == "call" and frame.f_code in self._codes:
            self._add(self._codes[frame.f_code], frame.f_back)

    def _name(self, function, first=None):
        """Return what a callable is called if it is a source of entropy, None if not.

        A method written in C comes unbound, with its object as the ``first`` argument.
        """
        try:
            known = self._named.get(id(function)) or self._named.get(id(getattr(function, "__func__", None)))
            if known is not None:
                return known[1]
            owner = getattr(function, "__self__", first if hasattr(function, "__objclass__") else None)
            name = getattr(function, "__name__", "")
            if isinstance(owner, type):
                if issubclass(owner, datetime.date) and name in _DATES:
                    return "%s.%s" % (owner.__name__, name)
            elif isinstance(owner, random.Random) and name not in _SETTING:
                return "random.%s" % name
            module = type(owner).__module__
            if module.startswith("numpy.random"):
                return "numpy %s.%s" % (type(owner).__name__, name)
            if name.startswith(("rand", "normal", "bernoulli", "multinomial")) and module in (
                "torch._C",
                "torch",
            ):
                return "torch.%s" % name
        except Exception:  # an object that does not like to be asked
            return None
        return None


def _named():
    """Return {id: (callable, name)}; the callables are held, so that no id is used again."""
    found = {}
    for name in _CLOCKS:
        _hold(found, getattr(time, name), "time.%s" % name)
    for name in ("uuid1", "uuid4"):
        _hold(found, getattr(uuid, name), "uuid.%s" % name)
    for name in ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice", "randbits"):
        _hold(found, getattr(secrets, name), "secrets.%s" % name)
    for name, member in vars(random.Random).items():
        if callable(member) and not name.startswith("_") and name not in _SETTING:
            _hold(found, member, "random.%s" % name)
    _hold(found, os.getpid, "os.getpid")
    return found


def _hold(found, function, name):
    found[id(getattr(function, "__func__", function))] = (getattr(function, "__func__", function), name)
