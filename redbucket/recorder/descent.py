"""Leads the processes that tests start into the judged tree, too.

Where an editable install points at the user's work tree, a child that knows nothing of this run would import that.
Its ``sitecustomize`` turns it as ``roots`` turned this process, and an environment that a test makes up for a Python
program gets the path to it. What stays out of reach: ``python -I`` and ``-E``, which take no word from outside.
"""

import os
import subprocess
import sys

_CUSTOM = """\
import sys
HERE = {here!r}
mine = sys.modules.pop("sitecustomize", None)
sys.path[:] = [place for place in sys.path if place != HERE]
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("sitecustomize_roots", {roots!r})
roots = module_from_spec(spec)
spec.loader.exec_module(roots)
roots.turn({tree!r}, {places!r}, {outside!r})
try:
    import sitecustomize  # the environment's own
except ImportError:
    sys.modules["sitecustomize"] = mine
"""


def lead(folder, tree, places, outside):
    """Make ``folder`` with that sitecustomize, and see that it is on the path of each Python program."""
    os.mkdir(folder)
    beside = os.path.join(folder, "roots.py")
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "roots.py")
    with open(own, "rb") as source, open(beside, "wb") as copy:
        copy.write(source.read())
    text = _CUSTOM.format(here=folder, roots=beside, tree=tree, places=list(places), outside=list(outside))
    with open(
        os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8", errors="surrogateescape"
    ) as stream:
        stream.write("# -*- coding: utf-8 -*-\n" + text)
    path = [folder] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    os.environ["PYTHONPATH"] = whole = os.pathsep.join(path)
    real = subprocess.Popen._execute_child
    bins = {
        os.path.realpath(os.path.dirname(python))
        for python in (sys.executable, os.path.realpath(sys.executable))
    }

    def execute(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more):
        if env is not None and _is_python(args, executable, env, bins):
            env = _with(env, folder, whole)
        return real(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *more)

    subprocess.Popen._execute_child = execute


def _is_python(args, executable, env, bins):
    """True for a program of this interpreter's environment: itself, or a script beside it."""
    import shutil

    try:
        name = os.fsdecode(executable or (args if isinstance(args, (str, bytes, os.PathLike)) else args[0]))
        found = shutil.which(name, path=env.get("PATH"))
    except (TypeError, IndexError, AttributeError, ValueError):
        return False
    return found is not None and os.path.realpath(os.path.dirname(found)) in bins


def _with(env, folder, whole):
    """Return ``env`` with the path to the tree; bytes stay bytes."""
    try:
        given = dict(env)
        key = b"PYTHONPATH" if any(isinstance(name, bytes) for name in given) else "PYTHONPATH"
        known = os.fsdecode(given.get(key, "") or "")
        if folder in known.split(os.pathsep):
            return env
        made = os.pathsep.join(filter(None, [whole, known]))
        given[key] = os.fsencode(made) if isinstance(key, bytes) else made
        return given
    except (TypeError, ValueError):
        return env  # it raises where the test sees it
