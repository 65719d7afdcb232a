"""One judge-side Python file as named nodes: tests, fixtures, helpers, values, imports."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from redbucket.core.pytree import docstring, dotted, hash_text, parse, shape, without_docstring
from redbucket.core.references import ImportRef, References, import_refs, references

AMBIENT = "<module>"
BODY = "<body>"
WHOLE = "*"

# Module-level names that pytest or unittest act on for the whole file or folder.
AMBIENT_NAMES = frozenset(
    {
        "__test__",
        "collect_ignore",
        "collect_ignore_glob",
        "load_tests",
        "pytest_plugins",
        "pytestmark",
        "setUpModule",
        "setup_function",
        "setup_module",
        "tearDownModule",
        "teardown_function",
        "teardown_module",
    }
)
# Methods that run around every test of a class.
AROUND_TESTS = frozenset(
    {
        "__init__",
        "asyncSetUp",
        "asyncTearDown",
        "run",
        "setUp",
        "setUpClass",
        "setUpTestData",
        "setup",
        "setup_class",
        "setup_method",
        "tearDown",
        "tearDownClass",
        "teardown",
        "teardown_class",
        "teardown_method",
    }
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Node:
    """Everything that one qualified name stands for in a file.

    A name defined twice is one node: which definition wins is Python's matter,
    that there is a second one changes the digest.
    """

    name: str
    line: int
    kind: str = "value"
    digest: str = ""
    names: set[tuple[str, str]] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    imports: set[ImportRef] = field(default_factory=set)

    def add(self, text: str, refs: References) -> None:
        """Put one more definition or statement into this node."""
        self.digest = hash_text(self.digest + text)
        self.names |= refs.names
        self.requests |= refs.requests
        self.imports |= refs.imports


@dataclass
class Module:
    """A file's nodes by qualified name, and what must be known to resolve names in it."""

    path: str
    parsed: bool
    nodes: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, list[ImportRef]] = field(default_factory=dict)
    stars: list[ImportRef] = field(default_factory=list)
    bases: dict[str, list[str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    fixtures: dict[str, list[str]] = field(default_factory=dict)
    plugins: list[str] = field(default_factory=list)
    loaded: set[ImportRef] = field(default_factory=set)

    def node(self, name: str, line: int, kind: str) -> Node:
        """Return the node of ``name``, made if there is none."""
        if name not in self.nodes:
            self.nodes[name] = Node(name, line, kind)
        return self.nodes[name]


def fixture_of(node: ast.stmt) -> tuple[str, bool] | None:
    """Return (fixture name, autouse) if ``node`` is a pytest fixture."""
    if not isinstance(node, _FUNCTIONS):
        return None
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = dotted(call.func if call else decorator)
        if name.rsplit(".", 1)[-1] not in ("fixture", "yield_fixture"):
            continue
        options: Mapping[str | None, ast.expr] = {k.arg: k.value for k in call.keywords} if call else {}
        given, auto = options.get("name"), options.get("autouse")
        renamed = (
            given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else node.name
        )
        # Anything but a plain False may be true when it runs.
        return renamed, auto is not None and not (isinstance(auto, ast.Constant) and not auto.value)
    return None


def is_main_guard(node: ast.stmt) -> bool:
    """Return whether ``node`` is ``if __name__ == "__main__":`` without an else."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.ops[0], ast.Eq)
        and {shape(node.test.left), shape(node.test.comparators[0])}
        == {shape(ast.Name("__name__", ast.Load())), shape(ast.Constant("__main__"))}
    )


@lru_cache(maxsize=32)  # two guards ask for the same files
def read_module(path: str, source: bytes) -> Module:
    """Return the nodes of a file; one that does not parse has a single ambient node of its bytes.

    The module is shared with whoever asks next, and must not be changed.
    """
    tree = parse(source)
    module = Module(path, parsed=tree is not None)
    ambient = module.node(AMBIENT, 1, "module")
    if tree is None:
        ambient.digest = hashlib.sha256(source).hexdigest()
        return module
    # A module docstring with doctests is a test of its own name.
    if tree.body and (live := without_docstring(tree)) is tree.body and _is_text(live[0]):
        module.node("__doc__", 1, "function").add(shape(live[0]), references(()))
    _statements(module, tree.body, "", "")
    _link_bases(module)
    return module


def _link_bases(module: Module) -> None:
    """Make each class depend on where its bases come from, not on every member of them."""
    for owner, bases in module.bases.items():
        body = _outer(module, owner, BODY)
        for base in bases:
            node = module.nodes.get(base.split(".", 1)[0])
            if node and node.kind == "import":
                body.add(node.digest, references(()))
            elif node and node.kind != "class":
                body.names.add((node.name, ""))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _statements(module: Module, body: Iterable[ast.stmt], owner: str, guard: str) -> None:
    """Sort statements into nodes; ``owner`` is the class they stand in, ``guard`` the conditions."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            _function(module, node, owner, guard)
        elif isinstance(node, ast.ClassDef):
            _class(module, node, owner, guard)
        elif _is_text(node) or isinstance(node, ast.Pass) or (not owner and is_main_guard(node)):
            continue
        elif isinstance(node, ast.If):
            for body, inner in branches(node, guard):
                _statements(module, body, owner, inner)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            _try(module, node, owner, guard)
        elif owner:
            _outer(module, owner, BODY).add(guard + shape(node), references([node]))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            _import(module, node, guard)
        else:
            _value(module, node, guard)


def branches(node: ast.If, guard: str) -> Iterator[tuple[list[ast.stmt], str]]:
    """Yield the bodies of an ``if`` with the condition that each is under.

    Not by recursion: each ``elif`` is an ``if`` inside the one before, and some files have thousands.
    """
    rest: list[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        step = rest[0]
        inner = hash_text(guard + shape(step.test))
        yield step.body, inner
        rest, guard = step.orelse, inner + "else"
    yield rest, guard


def _try(module: Module, node: ast.stmt, owner: str, guard: str) -> None:
    inner = hash_text(guard + "try")
    for name in ("body", "orelse", "finalbody"):
        _statements(module, getattr(node, name), owner, inner + name)
    for handler in getattr(node, "handlers", []):
        _statements(module, handler.body, owner, hash_text(inner + shape(handler.type)))


def _outer(module: Module, owner: str, part: str) -> Node:
    return module.node(
        f"{owner}.{part}", module.nodes[owner].line if owner in module.nodes else 1, "class body"
    )


def _function(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str, guard: str) -> None:
    name = f"{owner}.{node.name}" if owner else node.name
    fixture = fixture_of(node)
    made = module.node(name, node.lineno, "fixture" if fixture else "function")
    made.add(guard + shape(node), references([node]))
    if owner:
        module.members[owner].add(node.name)
    around = (
        node.name in AROUND_TESTS if owner else node.name in AMBIENT_NAMES or node.name.startswith("pytest_")
    )
    if fixture:
        module.fixtures.setdefault(fixture[0], []).append(name)
        around = around or fixture[1]
    if around:
        if owner:
            _outer(module, owner, BODY).names.add(("self", node.name))
        else:
            module.nodes[AMBIENT].names.add((node.name, ""))


def _class(module: Module, node: ast.ClassDef, owner: str, guard: str) -> None:
    name = f"{owner}.{node.name}" if owner else node.name
    head: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
    module.node(name, node.lineno, "class")
    module.members.setdefault(name, set())
    module.bases.setdefault(name, []).extend(filter(None, map(dotted, node.bases)))
    text = " ".join(shape(part) for part in head)
    body = without_docstring(node)
    if body is node.body and (live := docstring(node)):
        text += live
    computed = [part for part in head if part not in node.bases or not dotted(part)]
    _outer(module, name, BODY).add(guard + text, references(computed))
    if owner:
        module.members[owner].add(node.name)
    _statements(module, body, name, "")


def _import(module: Module, node: ast.Import | ast.ImportFrom, guard: str) -> None:
    for bound, ref in import_refs(node).items():
        module.loaded.add(ref)
        if bound == "*":
            module.stars.append(ref)
            module.nodes[AMBIENT].add(guard + f"from {'.' * ref.level}{ref.module} import *", references(()))
            continue
        made = module.node(bound, node.lineno, "import")
        made.add(f"{guard}{ref.level}:{ref.module}:{ref.name}", references(()))
        module.aliases.setdefault(bound, []).append(ref)


def _targets(node: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        queue = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        queue = [node.target]
    elif type(node).__name__ == "TypeAlias":
        queue = [getattr(node, "name")]  # noqa: B009 (3.12 and newer)
    else:
        queue = []
    while queue:
        item = queue.pop()
        if isinstance(item, (ast.Tuple, ast.List)):
            queue.extend(item.elts)
        elif isinstance(item, ast.Starred):
            queue.append(item.value)
        else:
            yield item


def _value(module: Module, node: ast.stmt, guard: str) -> None:
    """An assignment makes nodes; any other statement has effects on the whole file."""
    refs = references([node])
    text = guard + shape(node)
    names: list[str] = []
    for target in _targets(node):
        while isinstance(target, ast.Subscript):
            target = target.value
        # Writing into an imported object reaches beyond this file.
        if not isinstance(target, ast.Name) or target.id in module.aliases or target.id in AMBIENT_NAMES:
            names = []
            break
        names.append(target.id)
    for name in names or [AMBIENT]:
        module.node(name, node.lineno, "value").add(text, refs)
    if not names:
        for inner in ast.walk(node) if hasattr(node, "body") else ():
            if isinstance(inner, (*_FUNCTIONS, ast.ClassDef)):
                _statements(module, [inner], "", guard)
    if isinstance(node, ast.Assign) and dotted(node.targets[0]) == "pytest_plugins":
        module.plugins.extend(
            part.value
            for part in ast.walk(node.value)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
