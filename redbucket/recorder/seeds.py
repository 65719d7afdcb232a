"""Pins every source of pseudo-randomness that can be pinned, afresh for each test."""

import hashlib
import os
import random
import sys

_sha = hashlib.sha256
_seed = random.seed
_getstate = random.getstate

pinned = set()
_urandom_calls = [0]


def derive(seed, name):
    """Return a 32-bit integer for ``name``: each test gets its own numbers, the same in each run."""
    return int.from_bytes(
        _sha(("%s\0%s" % (seed, name)).encode("utf-8", "backslashreplace")).digest()[:4], "big"
    )


def pin(seed, name):
    """Seed ``random``, NumPy's global generator and PyTorch, where they are loaded."""
    number = derive(seed, name)
    _seed(number)
    pinned.add("random")
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None and hasattr(numpy_random, "seed"):
        numpy_random.seed(number)
        pinned.add("numpy.random")
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(number)
        pinned.add("torch")
    return number


def position():
    """Return a value that changes when the global ``random`` is used."""
    version, state, gauss = _getstate()
    return state[-1], state[0], gauss


def watch_urandom():
    """Count reads of the system's entropy from Python: it is seen, but can't be pinned."""
    real = os.urandom

    def urandom(size):
        _urandom_calls[0] += 1
        return real(size)

    os.urandom = urandom
    random._urandom = urandom


def urandom_calls():
    """Return how often the system's entropy was read."""
    return _urandom_calls[0]


def pin_hypothesis(seed):
    """Pin Hypothesis, and lift its stock deadline: a loaded machine is not a failure."""
    core = sys.modules.get("hypothesis.core")
    if core is None:
        return
    core.global_force_seed = int(seed) if str(seed).isdigit() else derive(seed, "hypothesis")
    pinned.add("hypothesis")
    settings = sys.modules["hypothesis"].settings
    try:
        stock = settings.get_profile("default").deadline
        current = settings.default
        if current is not None and current.deadline == stock:
            settings.register_profile("pinned", parent=current, deadline=None, print_blob=True)
            settings.load_profile("pinned")
    except Exception as error:
        pinned.add("hypothesis (deadline kept: %s)" % type(error).__name__)
