"""Which tests a patch authored or altered, by (path, qualified name)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from redbucket.core.pytree import UNREADABLE, is_python
from redbucket.core.testfiles import JudgeFiles, Tree, affected_files
from redbucket.core.testgraph import Key
from redbucket.core.testtree import AMBIENT, BODY, WHOLE, Module


class How(str, Enum):
    """What the patch did to a test."""

    AUTHORED = "authored"
    ALTERED = "altered"


@dataclass(frozen=True)
class Untrusted:
    """Why a test is the patch's: ``qualname`` "*" in the key means every test of the file.

    ``test_like`` is False for functions that are a test only if the project's
    configuration names tests in its own way.
    """

    how: How
    reason: str
    line: int
    test_like: bool = True


def is_test_like(qualname: str) -> bool:
    """Return whether pytest's or unittest's default names make ``qualname`` a test."""
    return qualname == WHOLE or qualname.rpartition(".")[2].startswith(("test", "runTest"))


def untrusted_tests(
    base: Tree, head: Tree, changed: Collection[str], is_judge: Callable[[str], bool]
) -> dict[tuple[str, str], Untrusted]:
    """Return every test of head that the changed paths authored or altered, with the reason.

    ``changed`` may hold any paths; only those on the judge side count. A file
    that does not parse, and a test file in another language, is one entry "*".
    """
    mine = {path for path in changed if is_judge(path)}
    found: dict[tuple[str, str], Untrusted] = {}
    sources = set()
    for path in mine:
        if is_python(path):
            sources.add(path)
        elif path in head.entries:
            how = How.ALTERED if path in base.entries else How.AUTHORED
            found[path, WHOLE] = Untrusted(how, f"the patch {_DID[how]} this file", 1)
    if not sources:
        return found
    # a protocol does not say that trees are told apart by what they are, as every object is
    return {**found, **_of_python(base, head, frozenset(sources), is_judge)}  # type: ignore[arg-type]


# A guard, the patch's own runs and the tree as it lands ask the same, and it reads many files.
@lru_cache(maxsize=1)
def _of_python(
    base: Tree, head: Tree, sources: frozenset[str], is_judge: Callable[[str], bool]
) -> dict[tuple[str, str], Untrusted]:
    """Return the tests that changed Python sources of the judge side affect; the answer must not be changed."""
    found: dict[tuple[str, str], Untrusted] = {}
    judge = {path for tree in (base, head) for path in tree.entries if is_python(path) and is_judge(path)}
    affected = affected_files(head, base, judge, sources)
    read: dict[tuple[str, str], Module] = {}
    before, after = JudgeFiles(base, judge, affected, read), JudgeFiles(head, judge, affected, read)
    causes = _propagate(before, after, sources)
    for path in sorted(affected & head.entries.keys()):
        module = after.graph.module(path)
        if module is None:
            continue
        if not module.parsed:
            if path in sources or (path, AMBIENT) in causes:
                how = How.ALTERED if path in base.entries else How.AUTHORED
                found[path, WHOLE] = Untrusted(how, f"this file {UNREADABLE}, so all of it counts", 1)
            continue
        for key, node in after.tests(module):
            cause = causes.get(key)
            if cause is None:
                continue
            how = How.ALTERED if before.has(key) else How.AUTHORED
            found[key] = Untrusted(how, _reason(key, cause, how), node.line, is_test_like(key[1]))
    return found


_DID = {How.AUTHORED: "added", How.ALTERED: "changed"}


def matches(nodeid: str, path: str, qualname: str) -> bool:
    """Return whether a pytest node id is the test, or lies in the class or file, that the pair names.

    Paths with ``::`` or ``[`` in a folder's name work; the parameters of the
    node id do not matter.
    """
    if nodeid != path and not nodeid.startswith(path + "::"):
        return False
    if qualname == WHOLE:
        return True
    rest = nodeid[len(path) + 2 :].split("[", 1)[0]
    name = rest.replace("::", ".")
    return name == qualname or name.startswith(qualname + ".")


def untrusted_nodeids(
    nodeids: Iterable[str], found: Mapping[tuple[str, str], Untrusted]
) -> dict[str, Untrusted]:
    """Return which of many node ids are untrusted; one look-up for each part of an id."""
    paths = {path for path, _ in found}
    result = {}
    for nodeid in nodeids:
        for at in _splits(nodeid):
            path, rest = nodeid[:at], nodeid[at + 2 :]
            if path not in paths:
                continue
            names = rest.split("[", 1)[0].split("::") if rest else []
            keys = [WHOLE, *(".".join(names[:count]) for count in range(len(names), 0, -1))]
            hit = next((found[path, key] for key in keys if (path, key) in found), None)
            if hit:
                result[nodeid] = hit
                break
    return result


def _splits(nodeid: str) -> Iterator[int]:
    at = nodeid.find("::")
    while at >= 0:
        yield at
        at = nodeid.find("::", at + 1)
    yield len(nodeid)


def _propagate(before: JudgeFiles, after: JudgeFiles, sources: Collection[str]) -> dict[Key, Key]:
    """Return for every node that can reach a changed one the changed one it was reached from."""
    reverse: dict[Key, set[Key]] = {}
    inherited: list[dict[Key, str]] = []
    for side in (before, after):
        mine: dict[Key, str] = {}
        for path in side.affected:
            module = side.graph.module(path)
            if module is None:
                continue
            for node in module.nodes.values():
                for target in side.graph.edges(module, node):
                    reverse.setdefault(target, set()).add((path, node.name))
            for name in module.nodes:
                reverse.setdefault((path, name), set()).add((path, WHOLE))
            for key, node in side.inherited(module):
                if node.kind != "inherited":
                    continue
                mine[key] = node.digest
                place, holder = node.digest.split(" ", 1)[1].rsplit(" ", 1)
                owner, _, member = key[1].rpartition(".")
                for target in ((place, f"{holder}.{member}"), (path, f"{owner}.{BODY}"), (path, AMBIENT)):
                    reverse.setdefault(target, set()).add(key)
                reverse.setdefault((path, owner), set()).add(key)
        inherited.append(mine)
    queue = []
    for path in sorted(sources):
        names: dict[str, None] = {}
        for side in (before, after):
            module = side.graph.module(path)
            names.update(dict.fromkeys(module.nodes if module else ()))
        for name in names:
            key = (path, name)
            if before.graph.digest(key) != after.graph.digest(key):
                queue.append(key)
    queue += sorted(
        key
        for key in inherited[0].keys() | inherited[1].keys()
        if inherited[0].get(key) != inherited[1].get(key)
    )
    causes: dict[Key, Key] = {key: key for key in queue}
    for key in queue:
        for user in reverse.get(key, ()):
            if user not in causes:
                causes[user] = causes[key]
                queue.append(user)
    return causes


def _reason(key: Key, cause: Key, how: How) -> str:
    if how is How.AUTHORED:
        return "the patch added this test"
    if cause == key:
        return "the patch changed this test"
    path, name = cause
    where = "" if path == key[0] else f" in {path}"
    if name == AMBIENT:
        what = "statements that act on every test" if path == key[0] else "what acts on every test"
        return f"the patch changed {what}{where}"
    if name.endswith(f".{BODY}"):
        return f"the patch changed class {name[: -len(BODY) - 1]}{where}, which it depends on"
    return f"the patch changed {name}{where}, which it depends on"
