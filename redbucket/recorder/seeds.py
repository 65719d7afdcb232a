"""Pins every source of pseudo-randomness that can be pinned, afresh for each test."""

import hashlib
import os
import random
import sys

_sha = hashlib.sha256
_seed = random.seed
_draw = random.getrandbits
_twin = random.Random()
_twin_seed = _twin.seed
_twin_draw = _twin.getrandbits

pinned = set()
_urandom_calls = [0]
_number = [0]
_given = [""]
_drawn = [False]


def derive(seed, name):
    """Return a 32-bit integer for ``name``: each test gets its own numbers, the same in each run."""
    return int.from_bytes(
        _sha(("%s\0%s" % (seed, name)).encode("utf-8", "backslashreplace")).digest()[:4], "big"
    )


def pin(seed, name):
    """Seed ``random``, NumPy's global generator and PyTorch, where they are loaded."""
    number = derive(seed, name)
    _number[0], _given[0], _drawn[0] = number, seed, False
    _seed(number)
    pinned.add("random")
    _pin_loaded(number)
    return number


def _pin_loaded(number):
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None and hasattr(numpy_random, "seed"):
        numpy_random.seed(number)
        pinned.add("numpy.random")
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(number)
        pinned.add("torch")


def used():
    """True if the global ``random`` is not where ``pin`` left it, or was used aside; draws from it once."""
    if _drawn[0]:
        return True
    # a twin seeded alike and one draw of each: a fifth of the cost of comparing the states
    _twin_seed(_number[0])
    return _draw(32) != _twin_draw(32)


class Aside:
    """Gives what outlives one test, a wider fixture say, numbers of its own: the same whichever test needs it first."""

    def __init__(self, seed, name):
        self._number = _number[0]
        self._saved = [(random.setstate, random.getstate())]
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None and hasattr(numpy_random, "set_state"):
            self._saved.append((numpy_random.set_state, numpy_random.get_state()))
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "set_rng_state"):
            self._saved.append((torch.set_rng_state, torch.get_rng_state()))
        drawn = _drawn[0]
        self.number = pin(seed, name)
        _drawn[0] = drawn

    def end(self):
        """Put the test's own numbers back where they stood."""
        _drawn[0] = used()
        _number[0] = self._number
        _pin_loaded(self._number)  # what was imported meanwhile starts as for any other test
        for put, state in self._saved:
            put(state)


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
    """Pin Hypothesis, and take from its settings what a run of the gate has no use for (see ``_calm``)."""
    core = sys.modules.get("hypothesis.core")
    if core is None or "hypothesis" in pinned:
        return
    _force(core, seed)
    pinned.add("hypothesis")
    settings = sys.modules["hypothesis"].settings
    try:
        changes = _calm(settings.default)
        if changes:
            settings.register_profile("pinned", parent=settings.default, **changes)
            settings.load_profile("pinned")
    except Exception as error:
        pinned.add("hypothesis (settings kept: %s)" % type(error).__name__)


def _force(core, seed):
    core.global_force_seed = int(seed) if str(seed).isdigit() else derive(seed, "hypothesis")


def calm(function):
    """Do the same for a property whose settings were made before ``pin_hypothesis``."""
    name = "_hypothesis_internal_use_settings"
    function = getattr(function, "__func__", function)
    used = getattr(function, name, None)
    if used is None or "hypothesis" not in pinned:
        return
    try:
        changes = _calm(used)
        if changes:
            setattr(function, name, type(used)(used, **changes))
    except Exception as error:
        pinned.add("hypothesis (settings kept: %s)" % type(error).__name__)


def _calm(settings):
    """Return what to change: no stock deadline, for a loaded machine is not a failure, no explaining, and the blob.

    To explain a failure Hypothesis runs it again, traced line by line, for comments in its report: four fifths of the
    time of a failing property.
    """
    changes = {}
    deadline = getattr(settings, "deadline", None)
    if deadline is not None and deadline.total_seconds() == 0.2:
        changes["deadline"] = None
    phases = tuple(getattr(settings, "phases", ()))
    kept = tuple(phase for phase in phases if phase.name != "explain")
    if kept != phases:
        changes["phases"] = kept
    if getattr(settings, "print_blob", True) is False:
        changes["print_blob"] = True  # a capture keeps it
    return changes


def pin_randomly(config, number):
    """Give pytest-randomly the test's own number; it seeds Faker, factories and its plugins by it."""
    module = sys.modules.get("pytest_randomly")
    if module is None or not hasattr(config.option, "randomly_seed"):
        return
    config.option.randomly_seed = number
    reseed = getattr(module, "_reseed", None)
    if reseed is not None:
        reseed(config)
        pinned.add("pytest-randomly")


# Generators that come to life on import.
LATE = ("numpy.random", "torch", "hypothesis.core")


def late(module):
    """Seed a generator whose module has just been imported."""
    if module.__name__ == "hypothesis.core":
        _force(module, _given[0])
    else:
        _pin_loaded(_number[0])
