"""Which node of a judge side depends on which, over the files that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from redbucket.core.imports import ImportIndex, conftest_chain
from redbucket.core.references import ImportRef
from redbucket.core.testtree import AMBIENT, BODY, WHOLE, Module, Node

Key = tuple[str, str]
_SELF = frozenset({"self", "cls", "super"})


class TestGraph:
    """The dependencies of one tree's judge side; modules are read as they are needed."""

    __test__ = False

    def __init__(self, index: ImportIndex, load: Callable[[str], Module | None]) -> None:
        self._index = index
        self._load = load
        self._lineages: dict[Key, list[Key]] = {}

    def module(self, path: str) -> Module | None:
        """Return the module at ``path``, or ``None`` if the tree has no such judge-side source."""
        return self._load(path)

    def digest(self, key: Key) -> str:
        """Return a node's own digest, "" if it is not there."""
        module = self._load(key[0])
        node = module.nodes.get(key[1]) if module else None
        return node.digest if node else ""

    def edges(self, module: Module, node: Node) -> Iterator[Key]:
        """Yield what ``node`` depends on directly; a key may name nothing."""
        path = module.path
        owner = self._owner(module, node.name)
        if node.name == AMBIENT:
            yield from self._ambient(module)
        else:
            yield path, AMBIENT
        if owner and not node.name.endswith(BODY):
            yield path, f"{owner}.{BODY}"
        if node.kind == "class":
            yield path, f"{node.name}.{BODY}"
            for member in module.members.get(node.name, ()):
                yield path, f"{node.name}.{member}"
        if node.kind == "class body":
            for base in self.bases(module, owner):
                yield base[0], f"{base[1]}.{BODY}"
        for name, attr in node.names:
            yield from self._name(module, owner, name, attr)
        for ref in node.imports:
            yield from self._used(path, ref, "")
        for request in node.requests:
            yield from self._fixture(module, owner, request)
        if node.kind == "import":
            for ref in module.aliases.get(node.name, ()):
                yield from self._bound(path, ref)

    def bases(self, module: Module, owner: str) -> list[Key]:
        """Return the direct bases of a class that the judge side defines."""
        found: list[Key] = []
        for name in module.bases.get(owner, ()):
            found.extend(self.classes(module, name))
        return [key for key in found if key != (module.path, owner)]

    def classes(self, module: Module, name: str) -> list[Key]:
        """Return the classes that ``name`` (may be dotted) means in a module."""
        found: list[Key] = []
        queue = [(module, name)]
        seen: set[Key] = set()
        while queue:
            current, wanted = queue.pop()
            if (current.path, wanted) in seen:
                continue
            seen.add((current.path, wanted))
            if wanted in current.members:
                found.append((current.path, wanted))
                continue
            first, _, rest = wanted.partition(".")
            refs = current.aliases.get(first, []) if first in current.aliases else current.stars
            for ref in refs:
                modules, holders = self._index.targets(ref, current.path)
                steps = [(holder, f"{ref.name}.{rest}" if rest else ref.name) for holder in holders]
                if ref.name == "*":
                    steps = [(holder, wanted) for holder in holders or modules]
                elif rest:
                    steps += [(item, rest) for item in modules]
                    # ``import a.b`` then ``a.b.C``: the rest still names the package's path.
                    steps += [(item, wanted.rsplit(".", 1)[-1]) for item in modules if not ref.name]
                for place, inner in steps:
                    if (other := self._load(place)) is not None:
                        queue.append((other, inner))
        return found

    def lineage(self, module: Module, owner: str) -> list[Key]:
        """Return a class and all its bases on the judge side, nearest first."""
        start = (module.path, owner)
        if start not in self._lineages:
            found: dict[Key, None] = {}
            queue = [start]
            while queue:
                key = queue.pop(0)
                if key in found:
                    continue
                found[key] = None
                place = self._load(key[0])
                if place:
                    queue.extend(self.bases(place, key[1]))
            self._lineages[start] = list(found)
        return self._lineages[start]

    @staticmethod
    def _owner(module: Module, name: str) -> str:
        owner = name.rpartition(".")[0]
        return owner if owner in module.members else ""

    def _ambient(self, module: Module) -> Iterator[Key]:
        for path in conftest_chain(module.path):
            yield path, AMBIENT
        for ref in module.loaded:
            modules, holders = self._index.targets(ref, module.path)
            for path in (*modules, *holders):
                yield path, AMBIENT
        for plugin in module.plugins:
            for path in self._index.modules(plugin, 0, module.path):
                yield path, AMBIENT

    def _name(self, module: Module, owner: str, name: str, attr: str) -> Iterator[Key]:
        path = module.path
        if owner and (name in _SELF or name == owner.rpartition(".")[2]) and attr:
            for place, holder in self.lineage(module, owner):
                yield place, f"{holder}.{attr}"
        if name == "getattr" and owner:
            yield path, owner
        if name not in module.nodes:
            for ref in module.stars:
                for place in self._index.targets(ref, path)[0]:
                    yield from self._member(place, name)
            return
        yield path, name
        for ref in module.aliases.get(name, ()):
            yield from self._used(path, ref, attr)

    def _bound(self, path: str, ref: ImportRef) -> Iterator[Key]:
        """What the import itself depends on: it runs a module, and reads a name if it names one."""
        modules, holders = self._index.targets(ref, path)
        for place in modules:
            yield place, AMBIENT
        for place in holders:
            yield from self._member(place, ref.name)

    def _used(self, path: str, ref: ImportRef, attr: str) -> Iterator[Key]:
        """What the use of an imported name depends on, as ``name.attr`` or bare."""
        modules, holders = self._index.targets(ref, path)
        for place in holders:
            yield from self._member(place, ref.name)
        # ``import a.b`` binds a: the attribute read is b, not a name of the module.
        package = not ref.name and "." in ref.module
        for place in modules:
            if attr and not package:
                yield from self._member(place, attr)
            else:
                yield place, WHOLE

    def _member(self, path: str, name: str) -> Iterator[Key]:
        yield path, AMBIENT
        if name == "*":
            yield path, WHOLE
            return
        yield path, name
        module = self._load(path)
        if module and name not in module.nodes:
            for ref in module.stars:
                for place in self._index.targets(ref, path)[0]:
                    yield place, name

    def _fixture(self, module: Module, owner: str, name: str) -> Iterator[Key]:
        """Every definition that a request can reach: nearer ones hide farther ones, which they may use."""
        path = module.path
        if owner:
            for place, holder in self.lineage(module, owner):
                other = self._load(place)
                for key in other.fixtures.get(name, ()) if other else ():
                    if key.startswith(f"{holder}."):
                        yield place, key
        for place in (path, *conftest_chain(path)):
            other = self._load(place)
            if other is None:
                continue
            for key in other.fixtures.get(name, ()):
                if "." not in key:
                    yield place, key
            if name in other.aliases:
                yield place, name
            for ref in other.stars:
                for target in self._index.targets(ref, place)[0]:
                    yield from self._plugin(target, name)
            for plugin in other.plugins:
                for target in self._index.modules(plugin, 0, place):
                    yield from self._plugin(target, name)

    def _plugin(self, path: str, name: str) -> Iterator[Key]:
        module = self._load(path)
        for key in module.fixtures.get(name, ()) if module else ():
            yield path, key
