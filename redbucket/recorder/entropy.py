"""Makes the system's entropy, as Python code reads it, repeat from run to run."""

import hashlib
import os
import random
import sys


class Repeated:
    """Replaces ``os.urandom`` and the seeding of generators without a seed."""

    def __init__(self, seed):
        self._seed = seed
        self._stream = b""
        self._count = 0
        self.start("")
        os.urandom = self.urandom
        random._urandom = self.urandom
        plain = random.Random.seed
        repeated = self

        def seed_(self, a=None, version=2):
            if a is None and type(self) is not random.SystemRandom:
                a = int.from_bytes(repeated.urandom(16), "big")
            plain(self, a, version)

        random.Random.seed = seed_
        for name in ("uuid", "secrets"):  # where they were loaded before us, under their own names
            module = sys.modules.get(name)
            if module is not None and hasattr(module, "urandom"):
                module.urandom = self.urandom

    def start(self, name):
        """Begin the numbers of one test."""
        self._stream = ("%s\0%s" % (self._seed, name)).encode("utf-8", "backslashreplace")
        self._count = 0

    def urandom(self, size):
        """Return ``size`` bytes that are the same in each run."""
        found = b""
        while len(found) < size:
            self._count += 1
            found += hashlib.sha256(b"%d\0%s" % (self._count, self._stream)).digest()
        return found[:size]
