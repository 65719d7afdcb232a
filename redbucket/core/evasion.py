"""Signs in product code that it knows of its tests or of its judge."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from redbucket.core.alwaysequal import always_equal, own_equality
from redbucket.core.assertions import callee
from redbucket.core.detection import Detection
from redbucket.core.findings import Severity
from redbucket.core.frameworks import (
    FRAMEWORKS,
    framework_import,
    framework_names,
    full_name,
)
from redbucket.core.pytree import UNREADABLE, dotted, parse, source_text, syntax_error
from redbucket.core.testtree import is_main_guard

# Without one of these there is no sign: most files need no parsing. A name can't be
# spelled otherwise in ASCII (Python folds look-alike letters only beyond it), and a
# text that is put together needs one of these to be asked for.
_WORDS = re.compile(
    rb"pytest|unittest|nose|environ|getenv|modules|argv|exit|Exit|quit|__eq__|__ne__|setattr|delattr"
    rb"|StopIteration|__class__|getattr|__import__|import_module|builtins|_getframe|inspect|traceback|_current_frames|get_objects|get_referrers|REDBUCKET_|TEST_SEED"
    rb"|\b(?:time|random|datetime|uuid)\b[\w\s.\\]*=[^=]"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OUTCOMES = frozenset(
    {"exit", "fail", "importorskip", "skip", "skipTest", "xfail", "SkipTest", "Skipped", "Exit"}
)
_FRAMES = frozenset(
    {
        "inspect.currentframe",
        "inspect.getouterframes",
        "inspect.stack",
        "sys._current_frames",
        "sys._getframe",
        "traceback.extract_stack",
        "traceback.format_stack",
        "traceback.walk_stack",
    }
)
_TEST_WORDS = ("test_", "pytest", "_pytest", "assert")
_TESTS = frozenset({"test", "tests", "unittest"})
_CLOCKS = frozenset({"builtins", "datetime", "random", "time", "uuid"})
_EXITS = frozenset({"exit", "quit", "sys.exit", "SystemExit"})


@dataclass(frozen=True)
class Sign:
    """One sign: what it is, the code (equal for equal code), where, and how much it weighs."""

    what: str
    code: str
    line: int
    severity: Severity


def signs(source: bytes, path: str, *, helper: bool = False) -> list[Sign]:
    """Return the signs in a product file; that it can't be read is one, where it holds words that matter.

    A ``helper`` exists to help tests, so that it may know of their framework.
    """
    if source.isascii() and not _WORDS.search(source):
        return []
    tree = parse(source)
    if tree is None:
        line, words = syntax_error(source) or (None, "")
        return [Sign(f"the file {UNREADABLE}, so nothing is known of it", words, line or 1, Severity.WARN)]
    # A function inside a function is seen twice.
    found = list(dict.fromkeys(_Reader(_Plain().visit(tree), path, helper).read()))
    found.sort(key=lambda sign: sign.line)
    return found


class _Plain(ast.NodeTransformer):
    """Writes ``getattr(a, "b")`` as ``a.b``, ``__import__("a")`` as ``a``, and joins texts: what they mean."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        name, plain = dotted(node.func), not node.keywords and len(texts) == 1
        if plain and name == "getattr" and len(node.args) == 2 and texts[0].isidentifier():
            return ast.copy_location(ast.Attribute(node.args[0], texts[0], ast.Load()), node)
        if (
            plain
            and name in ("__import__", "import_module", "importlib.import_module")
            and len(node.args) == 1
        ):
            parts = texts[0].split(".")
            if all(part.isidentifier() for part in parts):
                return ast.copy_location(ast.parse(texts[0], mode="eval").body, node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        sides = [s.value for s in (node.left, node.right) if isinstance(s, ast.Constant)]
        if isinstance(node.op, ast.Add) and len(sides) == 2 and all(isinstance(s, str) for s in sides):
            return ast.copy_location(ast.Constant("".join(map(str, sides))), node)
        return node


class _Reader:
    def __init__(self, tree: ast.Module, path: str, helper: bool) -> None:
        self.tree = tree
        self.nodes = list(ast.walk(tree))
        self.helper = helper
        self.script = path.rsplit("/", 1)[-1] in ("__main__.py", "setup.py") or path.startswith("scripts/")
        texts = (node.value for node in self.nodes if isinstance(node, ast.Constant))
        self.words = [text for text in texts if isinstance(text, str)]
        self.names: Mapping[str, str] = framework_names(self.nodes)
        self.detection = Detection(tree, self.nodes)
        self.functions = {node.name: node for node in self.nodes if isinstance(node, ast.FunctionDef)}

    def read(self) -> Iterator[Sign]:
        yield from self._import_time(self.tree.body)
        walks = any(isinstance(node, ast.Call) and dotted(node.func) in _FRAMES for node in self.nodes)
        for node in self.nodes:
            yield from self._node(node)
            if walks and isinstance(node, _FUNCTIONS):
                yield from self._frames(node)
        yield from self._of_detection()
        for node, returned in always_equal(self.nodes):
            text = "an object that is equal to everything"
            yield self._sign(text, node, Severity.REFUSE if returned else Severity.WARN)
        for node in own_equality(self.nodes):
            yield self._sign(
                "a kind of number, text or collection with an == of its own", node, Severity.WARN
            )
        for node in _other_classes(self.nodes):
            yield self._sign("an object that says it is of another class", node, Severity.WARN)
        for node in _stopping(self.nodes):
            yield self._sign("product code ends a loop of its caller's", node, Severity.WARN)

    def _sign(self, what: str, node: ast.AST, severity: Severity) -> Sign:
        return Sign(what, source_text(node, 200), getattr(node, "lineno", 1), severity)

    def _node(self, node: ast.AST) -> Iterator[Sign]:
        softened = Severity.WARN if self.helper else Severity.REFUSE
        if framework := framework_import(node):
            severity = Severity.NOTE if self.helper else Severity.WARN
            yield self._sign(f"product code imports {framework}", node, severity)
        if isinstance(node, ast.Call):
            name = full_name(node.func, self.names)
            if name and name.rpartition(".")[2] in _OUTCOMES:
                yield self._sign("product code decides a test's outcome", node, softened)
            elif name and (name.startswith("unittest.mock.patch") or ".patch" in name):
                yield self._sign("product code patches through a mock library", node, Severity.WARN)
            elif callee(node) in ("setattr", "delattr") and node.args:
                yield from self._patched(node.args[0], node)
            elif dotted(node.func) == "atexit.register" and self._exits(node.args):
                yield self._sign("product code ends the process at exit", node, Severity.REFUSE)
            elif dotted(node.func) in ("gc.get_objects", "gc.get_referrers"):
                yield self._sign("product code searches the objects of the process", node, Severity.NOTE)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            known = full_name(raised, self.names)
            # A raised call is seen as a call.
            if known.rpartition(".")[2] in _OUTCOMES and not isinstance(node.exc, ast.Call):
                yield self._sign("product code decides a test's outcome", node, softened)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield from self._patched(node.value, node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            key = node.slice
            if (
                dotted(node.value) == "sys.modules"
                and isinstance(key, ast.Constant)
                and key.value in FRAMEWORKS
            ):
                yield self._sign("product code replaces a test framework", node, Severity.REFUSE)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from self._word(node, node.value)

    def _word(self, node: ast.Constant, text: str) -> Iterator[Sign]:
        if text.startswith("REDBUCKET_"):
            yield self._sign("product code looks for the gate", node, Severity.REFUSE)
        elif text == "TEST_SEED":
            yield self._sign("product code reads the seed of the tests", node, Severity.WARN)

    def _patched(self, target: ast.AST, node: ast.AST) -> Iterator[Sign]:
        text = dotted(target)
        if full_name(target, self.names) or any(
            isinstance(part, ast.Subscript)
            and dotted(part.value) == "sys.modules"
            and isinstance(part.slice, ast.Constant)
            and str(part.slice.value).split(".", 1)[0] in FRAMEWORKS
            for part in ast.walk(target)
        ):
            severity = Severity.WARN if self.helper else Severity.REFUSE
            yield self._sign("product code patches a test framework", node, severity)
        elif text.split(".", 1)[0] in _CLOCKS:
            yield self._sign(f"product code replaces a part of {text}", node, Severity.WARN)

    def _exits(self, nodes: list[ast.expr]) -> bool:
        for node in nodes:
            parts: list[ast.AST] = [node]
            if isinstance(node, ast.Name) and node.id in self.functions:
                parts.append(self.functions[node.id])
            if any(dotted(part) == "os._exit" for top in parts for part in ast.walk(top)):
                return True
        return False

    def _import_time(self, body: list[ast.stmt]) -> Iterator[Sign]:
        """Exits that importing the file runs into, and exits of functions that fork nothing."""
        stack: list[tuple[ast.AST, ast.AST | None]] = [
            (node, None) for node in body if not is_main_guard(node)
        ]
        while stack:
            node, function = stack.pop()
            inner = node if isinstance(node, _FUNCTIONS) else function
            stack.extend((child, inner) for child in ast.iter_child_nodes(node))
            if not isinstance(node, ast.Call):
                continue
            name = dotted(node.func)
            if name == "os._exit":
                if function is None:
                    yield self._sign("importing this file ends the process", node, Severity.REFUSE)
                elif _succeeds(node) and not _forks(function):
                    yield self._sign("product code ends the process as a success", node, Severity.WARN)
            elif name in _EXITS and function is None and not self.script:
                severity = Severity.WARN if _succeeds(node) else Severity.NOTE
                yield self._sign("importing this file can end the process", node, severity)

    def _frames(self, function: ast.AST) -> Iterator[Sign]:
        nodes = list(ast.walk(function))
        calls = [node for node in nodes if isinstance(node, ast.Call) and dotted(node.func) in _FRAMES]
        if not calls:
            return
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        words = [value for value in values if isinstance(value, str)]
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        if any(word.startswith(_TEST_WORDS) or word.strip("/_.") in _TESTS for word in words):
            yield self._sign("product code looks for a test among its callers", calls[0], Severity.REFUSE)
        elif attributes & {"f_locals", "f_globals"}:
            yield self._sign("product code reads its callers' variables", calls[0], Severity.WARN)
        elif any(word.startswith(_TEST_WORDS) for word in self.words):
            yield self._sign(
                "product code walks the stack, in a file that names tests", calls[0], Severity.WARN
            )
        else:
            yield self._sign("product code walks the stack", calls[0], Severity.NOTE)

    def _of_detection(self) -> Iterator[Sign]:
        for node, answers in self.detection.found():
            if answers:
                text = "product code gives another answer when it is under test"
                yield self._sign(text, node, Severity.WARN if self.helper else Severity.REFUSE)
            else:
                yield self._sign("product code asks whether it is under test", node, Severity.WARN)


def _other_classes(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield what gives objects a ``__class__`` that is computed: ``isinstance`` believes it, ``except`` does not."""
    for node in (node for node in nodes if isinstance(node, ast.ClassDef)):
        for part in node.body:
            targets = part.targets if isinstance(part, ast.Assign) else []
            named = isinstance(part, ast.FunctionDef) and part.name == "__class__"
            if named or any(dotted(target) == "__class__" for target in targets):
                yield part


def _stopping(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield each StopIteration that is raised elsewhere than in an iterator's own methods: ``map`` ends by it."""
    owned = {
        id(part)
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in ("next", "anext", "send", "throw")
        for part in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Raise) and node.exc is not None and id(node) not in owned:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if dotted(raised) in ("StopIteration", "builtins.StopIteration"):
                yield node


def _succeeds(node: ast.Call) -> bool:
    return not node.args or (isinstance(node.args[0], ast.Constant) and node.args[0].value in (0, None))


def _forks(function: ast.AST) -> bool:
    return any(dotted(node) in ("os.fork", "os.forkpty", "pty.fork") for node in ast.walk(function))
