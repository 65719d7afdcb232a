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


def environment(outside):
    """Return the prefixes of this interpreter, but those that hold the work tree itself.

    A virtual environment may live inside the work tree (``.venv``): its site-packages
    are no source. A work tree inside an environment (``$VIRTUAL_ENV/src``) is one.
    """
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix}
    prefixes |= {os.path.realpath(prefix) for prefix in prefixes}
    return tuple(p for p in prefixes if not any(_inside(folder, p) for folder in outside))


def _of_environment(path, outside):
    return any(_inside(path, prefix) for prefix in environment(outside))


def turn(tree, roots, outside):
    """Put ``roots`` first on ``sys.path`` and turn every road into ``outside`` to ``tree``.

    Return whether there may be such a road.
    """
    turned, roads = [], False
    for path in sys.path:
        twin = None if not path or _of_environment(path, outside) else _mapped(path, outside, tree)
        if twin is None:
            turned.append(path)
            continue
        roads = True
        if os.path.isdir(twin):
            turned.append(twin)
    sys.path[:] = list(dict.fromkeys(list(roots) + turned))
    strangers = False
    for finder in list(sys.meta_path):
        # the standard finders are classes; those of editable installs are instances or classes of their own modules
        module = getattr(finder, "__module__", "") or ""
        if module.startswith(("_frozen_importlib", "importlib")):
            continue
        strangers = True
        # a finder of no known kind may lead anywhere; setuptools' own only stands in for distutils
        roads = roads or module != "_distutils_hack"
        roads = _turn_object(finder, outside, tree) or roads
        if "editable" in module and module in sys.modules:
            roads = _turn_object(sys.modules[module], outside, tree) or roads
    if strangers:
        sys.meta_path.insert(0, TreeFirst(roots))
    for cached in list(sys.path_importer_cache):
        if _mapped(cached, outside, tree) and not _of_environment(cached, outside):
            del sys.path_importer_cache[cached]
    return roads


class TreeFirst:
    """Ahead of finders that would answer before ``sys.path`` does (meson-python, scikit-build-core)."""

    def __init__(self, roots):
        # before this finder is asked: an import within find_spec asks it again, without end
        from importlib.machinery import PathFinder

        self._roots = [root.rstrip("/") for root in roots]
        self._find = PathFinder.find_spec

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module that stands in the tree; leave all others alone."""
        if path is None:
            places = self._roots
        else:
            places = [p for p in path if any(_inside(p, root) for root in self._roots)]
        spec = self._find(name, places) if places else None
        # a folder without __init__ is no claim: what is installed may be a real package
        return spec if spec is not None and spec.loader is not None and spec.has_location else None


def _turn_object(holder, outside, tree):
    """Turn what an object holds of paths; True if there was one."""
    try:
        names = list(vars(holder))
    except TypeError:
        return False
    changed = False
    for name in names:
        if name.startswith("__"):
            continue
        value = getattr(holder, name, None)
        if isinstance(value, (dict, list, str)):
            turned = _turn_value(value, outside, tree, 0)
            if turned != value:
                changed = True
                try:
                    setattr(holder, name, turned)
                except (AttributeError, TypeError):
                    continue
    return changed


def _turn_value(value, outside, tree, depth):
    if depth > 4:
        return value
    if isinstance(value, str):
        if not value.startswith("/") or _of_environment(value, outside):
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
        self._tracked = frozenset(tracked)
        self._folders = {
            "/".join(parts[:end])
            for parts in (path.split("/") for path in self._tracked)
            for end in range(1, len(parts))
        }
        self.taken = {}

    def find_spec(self, name, path=None, target=None):
        """Return the installed copy's spec for a module that the tree lacks."""
        from importlib.machinery import PathFinder, SourceFileLoader

        leaf = name.rpartition(".")[2]
        for relative, places in self._places(name, path):
            stem = (relative + "/" + leaf).lstrip("/")
            if stem + ".py" in self._tracked or stem in self._folders:
                return None
            spec = PathFinder.find_spec(name, places)
            if spec is not None and spec.origin is not None:
                self.taken[name] = spec.origin
                if type(spec.loader) is SourceFileLoader:
                    spec.loader = _silent(SourceFileLoader)(spec.loader.name, spec.loader.path)
                return spec
        return None

    def _places(self, name, path):
        """Yield (folder in the tree, folders where its built parts may be)."""
        if path is None:  # an extension beside the packages; installed ones are on sys.path anyway
            for root in self._roots:
                relative = "" if root + "/" == self._tree else root[len(self._tree) :]
                yield relative, [os.path.join(folder, relative) for folder in self._outside]
            return
        inner = name.rpartition(".")[0].replace(".", "/")
        for folder in map(os.fspath, path):
            if folder.startswith(self._tree):
                relative = folder[len(self._tree) :]
                installed = [p for p in sys.path if not (p + "/").startswith(self._tree)]
                yield (
                    relative,
                    [os.path.join(folder, relative) for folder in self._outside]
                    + [os.path.join(p, inner) for p in installed],
                )
                return

    def find_distributions(self, context=None):
        """Find the metadata that a build left in the work tree (``*.egg-info``)."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        places = [place for _, folders in self._places("", None) for place in folders]
        wanted = DistributionFinder.Context(name=getattr(context, "name", None), path=places)
        return MetadataPathFinder.find_distributions(wanted)


def _silent(loader):
    """Return ``loader`` that writes no bytecode: what it loads may lie in the user's work tree."""

    class Silent(loader):
        def set_data(self, path, data, **how):
            pass

    return Silent


def foreign(tree, outside, allowed):
    """Return {module: file} of loaded modules that came from the user's work tree."""
    found = {}
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if not isinstance(origin, str) or name in allowed or _of_environment(origin, outside):
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


def copies(originals, tree):
    """Return {path: file} for changed files of which another copy, with base's bytes, was loaded from elsewhere.

    ``originals`` maps a path in the tree to the git id of its bytes in base. The installed copy may have another
    module name than the path (``package_dir``). Where the tree's file was loaded, too, the other one is a dependency.
    """
    names = {}
    for path in originals:
        names.setdefault(os.path.basename(path), []).append(path)
    loaded, found = set(), {}
    root = os.path.realpath(tree)
    for module in list(sys.modules.values()):
        origin = getattr(module, "__file__", None)
        if not isinstance(origin, str) or os.path.basename(origin) not in names:
            continue
        real = os.path.realpath(origin)
        if _inside(real, root):
            loaded.add(os.path.relpath(real, root).replace(os.sep, "/"))
            continue
        data = _read(real)
        if len(data) < (_TELLING if os.path.basename(origin) == "__init__.py" else 1):
            continue
        for path in names[os.path.basename(origin)]:
            if originals[path] == _blob_id(data, len(originals[path])):
                found[path] = origin
    return {path: origin for path, origin in found.items() if path not in loaded}


# A shorter __init__.py may be the same by chance: ``from .core import *``.
_TELLING = 64


def _read(path):
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def _blob_id(data, digits):
    import hashlib

    algorithm = hashlib.sha1 if digits == 40 else hashlib.sha256
    return algorithm(b"blob %d\0" % len(data) + data).hexdigest()
