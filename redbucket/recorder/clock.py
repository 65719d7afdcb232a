"""Shows another time of day, which goes on as usual: never frozen, and never the monotonic clock."""

import ctypes
import datetime
import gc
import time

_time, _time_ns = time.time, time.time_ns
_localtime, _gmtime, _ctime, _strftime = time.localtime, time.gmtime, time.ctime, time.strftime


class Shifted:
    """The clock that shows ``instant`` whenever ``align`` is called."""

    def __init__(self, instant):
        self._instant = instant
        self._shift = 0
        self.align()
        self._patch_time()
        self._patch_datetime()

    def align(self):
        """Bring the clock back to the instant."""
        self._shift = int(self._instant * 1000000000) - _time_ns()

    def _now(self):
        return (_time_ns() + self._shift) / 1000000000

    def _patch_time(self):
        now = self._now
        time.time = now
        time.time_ns = lambda: _time_ns() + self._shift
        time.localtime = lambda secs=None: _localtime(now() if secs is None else secs)
        time.gmtime = lambda secs=None: _gmtime(now() if secs is None else secs)
        time.ctime = lambda secs=None: _ctime(now() if secs is None else secs)
        time.strftime = lambda form, when=None: _strftime(form, _localtime(now()) if when is None else when)

    def _patch_datetime(self):
        """Replace the class methods in place: who imported the class long ago sees them, too."""
        now = self._now
        utc = datetime.timezone.utc

        def dt_now(cls, tz=None):
            return cls.fromtimestamp(now(), tz)

        def dt_utcnow(cls):
            return cls.fromtimestamp(now(), utc).replace(tzinfo=None)

        def dt_today(cls):
            return cls.fromtimestamp(now())

        def d_today(cls):
            return cls.fromtimestamp(now())

        _replace(datetime.datetime, {"now": dt_now, "utcnow": dt_utcnow, "today": dt_today})
        _replace(datetime.date, {"today": d_today})


def _replace(kind, methods):
    # A built-in type takes no new attributes; its dictionary does, and PyType_Modified drops what
    # the interpreter remembered of it. CPython alone has both.
    (dictionary,) = [d for d in gc.get_referents(kind.__dict__) if isinstance(d, dict)]
    for name, function in methods.items():
        dictionary[name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
