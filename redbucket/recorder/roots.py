"""Makes the tree under judgement the one that is imported, and says what was not.

An editable install adds the user's own work tree to ``sys.path`` (``.pth`` files)
or to a finder on ``sys.meta_path``. Both are turned to the judged tree, the tree's
import roots come first, and at the end every module that still came from the work
tree is named.
"""

import os
import sys


def _inside(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _mapped(path, outside, tree):
    """Return the judged twin of ``path``, or None if it is not in the user's work tree."""
    real = os.path.realpath(path)
    for folder in outside:
        if _inside(real, folder):
            return os.path.normpath(os.path.join(tree, os.path.relpath(real, folder)))
    return None


def _of_environment(path):
    """True for site-packages of a virtual environment that lives inside the work tree."""
    return any(_inside(path, prefix) for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix})


def turn(tree, roots, outside):
    """Put ``roots`` first on ``sys.path`` and turn every road into ``outside`` to ``tree``."""
    turned = []
    for path in sys.path:
        twin = None if not path or _of_environment(path) else _mapped(path, outside, tree)
        if twin is None:
            turned.append(path)
        elif os.path.isdir(twin):
            turned.append(twin)
    sys.path[:] = list(dict.fromkeys(list(roots) + turned))
    for finder in sys.meta_path:
        # the standard finders are classes; those of editable installs are instances or classes of their own modules
        module = getattr(finder, "__module__", "") or ""
        if module.startswith(("_frozen_importlib", "importlib")):
            continue
        _turn_object(finder, outside, tree)
        if "editable" in module and module in sys.modules:
            _turn_object(sys.modules[module], outside, tree)
    for cached in [
        p for p in sys.path_importer_cache if _mapped(p, outside, tree) and not _of_environment(p)
    ]:
        del sys.path_importer_cache[cached]


def _turn_object(holder, outside, tree):
    try:
        names = list(vars(holder))
    except TypeError:
        return
    for name in names:
        if name.startswith("__"):
            continue
        value = getattr(holder, name, None)
        if isinstance(value, (dict, list, str)):
            turned = _turn_value(value, outside, tree, 0)
            if turned != value:
                try:
                    setattr(holder, name, turned)
                except (AttributeError, TypeError):
                    continue


def _turn_value(value, outside, tree, depth):
    if depth > 4:
        return value
    if isinstance(value, str):
        if not value.startswith("/") or _of_environment(value):
            return value
        twin = _mapped(value, outside, tree)
        return twin if twin is not None and os.path.exists(twin) else value
    if isinstance(value, list):
        return [_turn_value(v, outside, tree, depth + 1) for v in value]
    if isinstance(value, dict):
        return {k: _turn_value(v, outside, tree, depth + 1) for k, v in value.items()}
    return value


class InstalledParts:
    """A last finder: what the tree's package lacks because it is built, not tracked.

    Compiled extensions and generated modules (``_version.py``) are in no git tree.
    They are taken from the installed copy of the package, unless git tracks that
    path (``tracked``), in which case its absence is the patch's doing.
    """

    def __init__(self, tree, roots, outside, tracked):
        self._tree, self._roots, self._outside = tree.rstrip("/") + "/", list(roots), outside
        self._tracked = tracked
        self.taken = {}

    def find_spec(self, name, path=None, target=None):
        """Return the installed copy's spec for a submodule that the tree's package lacks."""
        parent, _, leaf = name.rpartition(".")
        if not parent or path is None:
            return None
        folders = [os.fspath(p) for p in path]
        ours = [f for f in folders if f.startswith(self._tree)]
        if not ours:
            return None
        from importlib.machinery import PathFinder

        relative = ours[0][len(self._tree) :]
        if (
            relative + "/" + leaf + ".py" in self._tracked
            or relative + "/" + leaf + "/__init__.py" in self._tracked
        ):
            return None
        places = [os.path.join(folder, relative) for folder in self._outside]
        inner = parent.replace(".", "/")
        places += [
            os.path.join(p, inner) for p in sys.path if p not in self._roots and not p.startswith(self._tree)
        ]
        spec = PathFinder.find_spec(name, places)
        if spec is None or spec.origin is None or spec.submodule_search_locations:
            return None
        self.taken[name] = spec.origin
        return spec


def foreign(tree, outside, allowed):
    """Return {module: file} of loaded modules that came from the user's work tree."""
    found = {}
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if not isinstance(origin, str) or name in allowed or _of_environment(origin):
            continue
        if _inside(origin, tree):
            continue
        if _mapped(origin, outside, tree) is not None:
            found[name] = origin
    return found


def loaded_from(files, tree):
    """Return {path: file} for the ``files`` whose module was loaded from elsewhere than ``tree``.

    ``files`` maps a path in the tree to its dotted module name.
    """
    elsewhere = {}
    for path, name in files.items():
        module = sys.modules.get(name)
        origin = getattr(module, "__file__", None)
        if isinstance(origin, str) and not _inside(os.path.realpath(origin), os.path.realpath(tree)):
            elsewhere[path] = origin
    return elsewhere
