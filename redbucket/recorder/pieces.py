"""Pieces of state: what an object is compared by, and how its contents are put back.

A piece is (what is compared, the object, what it is put back from).
"""

import contextlib
import copy
import pickle
import random

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS = (dict, list, set, tuple, frozenset)
_MOST = 2000  # items of one container; beyond that a copy would cost more than the test


def of(value):
    """Return the piece of state that a value is."""
    if isinstance(value, _PLAIN):
        return value, value, value
    if type(value) in _CONTAINERS and len(value) <= _MOST:
        if _all_plain(value):
            saved = copy.deepcopy(value)
            return saved, value, saved
        # of objects it is only told which they are: a copy of them would never be equal
        members = value.items() if type(value) is dict else value
        same = [(m[0], id(m[1])) if type(value) is dict else id(m) for m in members]
        return same if type(value) not in (set, frozenset) else frozenset(same), value, copy.copy(value)
    with contextlib.suppress(Exception):
        state = _generator(value)
        if state is not None:
            return pickle.dumps(state), value, state
    return id(value), value, value  # which object it is: all that can be said of it


def _generator(value):
    """Return the state of a generator of random numbers, None of anything else."""
    if isinstance(value, random.Random) and type(value) is not random.SystemRandom:
        return value.getstate()
    module = type(value).__module__
    if module.startswith("numpy.random"):
        if hasattr(value, "bit_generator"):
            return copy.deepcopy(value.bit_generator.state)
        if hasattr(value, "get_state"):
            return copy.deepcopy(value.get_state())
    if module.startswith("torch") and type(value).__name__ == "Generator":
        return value.get_state()
    return None


def _all_plain(value):
    if isinstance(value, _PLAIN):
        return True
    if type(value) is dict:
        return len(value) <= _MOST and all(_all_plain(k) and _all_plain(v) for k, v in value.items())
    return type(value) in _CONTAINERS and len(value) <= _MOST and all(_all_plain(v) for v in value)


def same(old, new):
    """True if two pieces compare equal, or can't be compared."""
    try:
        return type(old) is type(new) and bool(old == new)
    except Exception:
        return True


def put_into(value, saved):
    """Give an object that may be held elsewhere, too, the contents that it had."""
    if isinstance(value, random.Random):
        value.setstate(saved)
    elif hasattr(value, "bit_generator"):
        value.bit_generator.state = saved
    elif hasattr(value, "get_state") and hasattr(value, "set_state"):
        value.set_state(saved)
    elif type(value) in (dict, set):
        value.clear()
        value.update(saved)
    elif type(value) is list:
        value[:] = saved
