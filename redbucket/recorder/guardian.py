"""Ends everything when redbucket itself is gone, even after a SIGKILL.

The guardian is a forked grandchild, so that no ``os.wait`` in a test ever meets it.
It holds one end of a pipe whose other end only redbucket has: end of file means
that nobody is left to stop the tests and what they started.
"""

import os
import signal


def post(life_fd, record_fd, place):
    """Leave a guardian behind that waits for the end of file on ``life_fd``."""
    child = os.fork()
    if child:
        os.close(life_fd)
        os.waitpid(child, 0)
        return
    try:
        if os.fork() == 0:
            _guard(life_fd, record_fd, place)
    finally:
        os._exit(0)


def _guard(life_fd, record_fd, place):
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2, record_fd):
        os.dup2(null, fd)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(life_fd, 1):
        pass
    _kill_strays(place)
    os.killpg(0, signal.SIGKILL)


def _kill_strays(place):
    """Kill what left the session but still lives in the run's folder (Linux)."""
    needle = os.fsencode(place) + b"/"
    try:
        entries = os.listdir("/proc")
    except OSError:
        return
    for entry in entries:
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % entry, "rb") as stream:
                if needle in stream.read():
                    os.kill(int(entry), signal.SIGKILL)
        except OSError:
            continue  # gone meanwhile, or somebody else's
