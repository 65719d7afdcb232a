"""Starts child processes late: a test that does not wait for what they do then fails."""

import os
import shutil
import subprocess


def delay(seconds):
    """Make each process that ``subprocess`` starts sleep first; its id and its streams stay its own."""
    real = subprocess.Popen.__init__
    first = "sleep %s; " % seconds

    def init(self, args, *more, **named):
        if not more and named.get("executable") is None:
            args = _late(args, named, first)
        real(self, args, *more, **named)

    subprocess.Popen.__init__ = init


def _late(args, named, first):
    words = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    if not words:
        return args
    if named.get("shell"):
        if not isinstance(words[0], str):
            return args
        return [first + words[0]] + words[1:] if len(words) > 1 else first + words[0]
    path = (named.get("env") or os.environ).get("PATH")
    if shutil.which(words[0], path=path) is None:
        return args  # a program that is not there raises in the parent: so it should
    return ["/bin/sh", "-c", first + 'exec "$0" "$@"'] + words
