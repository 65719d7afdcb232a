"""Notices that code under test changed what trusted test files hold in memory: functions, and expected values.

Functions are held against what was compiled from the file (audit events bring what is compiled and what is executed),
values against the literals that stand there, modules that they import against the files of their names. The parent
holds base's findings against head's: tests that do it themselves do it in both.
"""

import ast
import hashlib
import os
import re
import sys
from collections import Counter
from operator import is_
from types import CodeType, FunctionType, MethodType

from .machinery import LATE, comparison, differing

_OPTIMIZED = 1  # inspect.CO_OPTIMIZED: a function's code, not a class body's
# NAME = [, {, (, a number, a text: from here to the next line that begins with a name
_VALUE = re.compile(r"^([A-Za-z_]\w*)(?:\s*:[^=\n]*)?\s*=\s*(?=[\[{(\"'\d-])", re.MULTILINE)
_TARGET = re.compile(r"^([A-Za-z_]\w*)\s*(?::[^=\n]*|\[.*\]|\.\w+)?\s*[-+*/|&^]?=(?!=)", re.MULTILINE)
_NEXT = re.compile(r"^(?=[^\s#\])}])", re.MULTILINE)
_FROM = re.compile(r"^from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n;(]+)", re.MULTILINE)
_IMPORT = re.compile(
    r"^import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)", re.MULTILINE
)
# What tests assert with; all else that they import is the product's, or a library's.
_FRAMEWORKS = ("pytest", "_pytest", "unittest") + LATE
LONGEST = 200_000
_open = open
_vars = vars
_sha = hashlib.sha256


class Held:
    """``paths`` are the Python files of the judge side, relative to ``tree``."""

    def __init__(self, tree, paths, watch):
        self._tree = tree
        self._paths = {os.path.join(tree, path): path for path in paths if path.endswith(".py")}
        self._names = frozenset(name for path in self._paths.values() for name in _names(tree, path))
        self._codes, self._spaces, self._parts = {}, {}, {}  # by path; of a file there may be several modules
        self._compiled, self._sources, self._constants = {}, {}, {}
        self._fixtures = None
        self._seen = set()
        self._recoded = watch.recoded
        self._guarded = watch.guarded
        self._common = self._same = None
        self._by_test = {}
        watch.compiling, watch.executing = self._compiling, self._executing

    def _compiling(self, source, name):
        """Keep the digest of what is compiled under the name of a judging file."""
        path = self._paths.get(name) if type(name) is str else None
        if path is not None and source is not None:
            self._compiled[path] = _sha(source.encode() if isinstance(source, str) else source).digest()

    def _executing(self, code):
        """Keep the code of a module that is about to be executed, the first of each file."""
        path = self._paths.get(code.co_filename)
        if path is not None and code.co_name == "<module>" and path not in self._codes:
            self._codes[path] = code
            self._sources[path] = self._compiled.get(path)
            self._constants[path] = [(each, list(each.co_consts)) for each in _nested(code)]

    def settle(self, modules, tests, fixtures=None):
        """Note the functions, once all is imported; ``modules`` are those that are not in ``sys.modules``.

        ``tests`` are the files that tests were found in: what those hold is looked at when a test of theirs ends,
        what all others hold whenever a test ends. ``fixtures`` are pytest's definitions, None for another runner.
        """
        self._fixtures = fixtures
        for module in {id(each): each for each in [*list(sys.modules.values()), *modules]}.values():
            path = self._paths.get(getattr(module, "__file__", None) or "")
            if path in self._codes:
                self._spaces.setdefault(path, []).append(_vars(module))
        for path, spaces in self._spaces.items():
            self._parts[path] = [
                each
                for space in spaces
                for found in (
                    self._functions(path, space),
                    self._behind_decorators(path, space),
                    self._imports(path, space),
                )
                for each in found
            ]
        tests = frozenset(tests)
        self._common = [each for path, parts in self._parts.items() if path not in tests for each in parts]
        self._same = comparison(self._common)
        for path in tests.intersection(self._parts):
            self._by_test[path] = comparison(self._parts[path]), self._parts[path]
        for parts in self._parts.values():
            self._guarded.update({id(value): label for label, _, _, value, code in parts if code is not None})

    def _functions(self, path, space):
        """Yield (label, owner, name, function, code) of the undecorated functions of a file and its classes."""
        decorated = _decorated(self.text(path))
        for name, codes in _definitions(self._codes[path], decorated).items():
            functions = [code for code in codes if code.co_flags & _OPTIMIZED]
            if functions and name in space:
                yield from self._function(path, name, space, name, functions, space)
            if functions or not isinstance(space.get(name), type):
                continue
            kind = space[name]
            inner = [pair for code in codes for pair in _definitions(code, decorated).items()]
            for method, bodies in inner:
                if method in _vars(kind) and all(body.co_flags & _OPTIMIZED for body in bodies):
                    yield from self._function(path, name + "." + method, kind, method, bodies, space)

    def _function(self, path, label, owner, name, codes, space):
        value = (owner if owner is space else _vars(owner))[name]
        label = "%s of %s" % (label, path)
        its_own = type(value) is FunctionType and value.__globals__ is space
        # equal, not identical: a file that is imported under two names is compiled twice
        if its_own and value.__code__ in codes:
            yield label, owner, name, value, value.__code__
        else:
            self._seen.add(label)

    def _imports(self, path, space):
        """Yield (label, owner, name, value, None) of what a file imports of other such files and of frameworks."""
        files = {id(space) for spaces in self._spaces.values() for space in spaces}
        for name, module, attribute in _imported(self.text(path), space.get("__package__") or ""):
            source = sys.modules.get(module)
            inner = "%s.%s" % (module, attribute)
            below = sys.modules.get(inner)
            if below is not None and id(_vars(below)) in files:
                value = below
            elif name in space and (self._hidden(module, source, files) or self._hidden(inner, below, files)):
                self._seen.add("%s of %s" % (name, path))
                continue
            elif source is not None and (id(_vars(source)) in files or module in _FRAMEWORKS):
                value = source if attribute is None else _vars(source).get(attribute)
            else:
                continue
            label = "%s of %s" % (name, path)
            if value is None or name not in space:
                continue
            if space[name] is value:
                yield label, space, name, value, None
            else:
                self._seen.add(label)

    def _hidden(self, name, module, files):
        """Return whether a judging file has the name of a module, and another module goes by it."""
        return name in self._names and (module is None or id(_vars(module)) not in files)

    def _behind_decorators(self, path, space):
        """Yield (label, owner, name, value, None) of the decorated functions of a file: what the names stand for.

        The function itself is held against its code where the decorator says what it wraps, as a fixture does.
        """
        decorated = _decorated(self.text(path))
        found = {}
        for code in self._codes[path].co_consts:
            if isinstance(code, CodeType) and code.co_flags & _OPTIMIZED:
                found.setdefault(code.co_name, []).append(code)
        for name, codes in found.items():
            value = space.get(name)
            if value is None or not any(code.co_firstlineno in decorated for code in codes):
                continue
            label = "%s of %s" % (name, path)
            function = wrapped(value)
            if function is not None and function.__globals__ is space:
                self._guarded[id(function)] = label
                if function.__code__ not in codes:
                    self._seen.add(label)
            yield label, space, name, value, None

    def _fixtures_replaced(self):
        """Yield "fixture NAME of FILE" where pytest does not call the function that the file defines."""
        used = {each.argname for each in self._fixtures}
        called = {id(wrapped(each.func)) for each in self._fixtures}
        for path, spaces in self._spaces.items():
            for name, value in [pair for space in spaces for pair in list(space.items())]:
                if name in used and _is_fixture(value) and id(wrapped(value)) not in called:
                    yield "fixture %s of %s" % (name, path)

    def path(self, file):
        """Return the path in the tree of a judging file, None for all else."""
        return self._paths.get(file)

    def saw(self, label):
        """Note something else that is not as its file says."""
        self._seen.add(label)

    def look(self, name):
        """Look at what decides the test ``name``, which has just ended."""
        if self._same is None:
            return
        if not self._same():
            self._seen.update(differing(self._common))
        same, parts = self._by_test.get(name.partition("::")[0], (None, ()))
        if same is not None and not same():
            self._seen.update(differing(parts))

    def changed(self):
        """Return the sorted "NAME of FILE" of what differs now or differed when a test ended."""
        for parts in self._parts.values():
            self._seen.update(differing(parts))
        for path, spaces in self._spaces.items():
            for name, value in _values(self.text(path)):
                if any(name in space and not same(value, space[name]) for space in spaces):
                    self._seen.add("%s of %s" % (name, path))
        for path in self._codes:
            if not self._from_file(path):
                self._seen.add("the code of %s" % path)
            if not all(_same_items(code.co_consts, kept) for code, kept in self._constants[path]):
                self._seen.add("the constants of %s" % path)
        if self._fixtures is not None:
            self._seen.update(self._fixtures_replaced())
        return sorted(self._seen)[:1000]

    def _from_file(self, path):
        """Return whether what was executed for a file was compiled from its bytes, as far as that was seen."""
        try:
            with _open(os.path.join(self._tree, path), "rb") as stream:
                data = stream.read()
        except OSError:
            return True  # gone: who judges looks at the files
        digest = self._sources[path]
        if digest is None:  # cached bytecode, which a process that was started again finds
            return os.path.isdir(os.path.join(self._tree, os.path.dirname(path), "__pycache__"))
        return digest in (_sha(data).digest(), _sha(data.replace(b"\r\n", b"\n")).digest())

    def text(self, path):
        """Return what a file holds, "" if that can't be read."""
        try:
            with _open(os.path.join(self._tree, path), encoding="utf-8") as stream:
                return stream.read()
        except (OSError, ValueError):
            return ""  # gone, or in another encoding: its values are not looked at


def _names(tree, path):
    """Yield what a module is called: from the root of the tree, and from the first folder that is no package."""
    stem = path[: -len("/__init__.py")] if path.endswith("/__init__.py") else path[: -len(".py")]
    parts = stem.split("/")
    yield ".".join(parts)
    first = len(parts) - 1
    while first and os.path.exists(os.path.join(tree, *parts[:first], "__init__.py")):
        first -= 1
    yield ".".join(parts[first:])


def _nested(code):
    """Yield a code object and all in it."""
    yield code
    for each in code.co_consts:
        if type(each) is CodeType:
            yield from _nested(each)


def _same_items(one, other):
    return len(one) == len(other) and all(map(is_, one, other))


def _is_fixture(value):
    """Return whether a value is pytest's definition of a fixture (8.4 and newer, or older)."""
    if type(value) is FunctionType:
        return "_pytestfixturefunction" in _vars(value)
    return hasattr(type(value), "_get_wrapped_function")


def wrapped(value):
    """Return the function at the bottom of what decorators made of it, as far as they say; None: they don't."""
    for _ in range(20):
        if type(value) in (staticmethod, classmethod, MethodType):
            value = value.__func__
        try:
            space = _vars(value)
        except TypeError:
            return None
        if "__pytest_wrapped__" in space:
            value = space["__pytest_wrapped__"].obj
        elif "_fixture_function" in space:
            value = space["_fixture_function"]
        elif "__wrapped__" in space:
            value = space["__wrapped__"]
        else:
            return value if type(value) is FunctionType else None
    return None


def _decorated(text):
    """Return the numbers of the lines at which a decorator stands: there a decorated function's code begins."""
    return frozenset(n for n, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("@"))


def _definitions(code, decorated):
    """Return {name: [code]} of what is defined right in ``code`` and is as it was defined, undecorated."""
    found, others = {}, set()
    for each in code.co_consts:
        if isinstance(each, CodeType) and each.co_name.isidentifier():
            found.setdefault(each.co_name, []).append(each)
            if each.co_firstlineno in decorated:
                others.add(each.co_name)
    return {name: codes for name, codes in found.items() if name not in others}


def _imported(text, package):
    """Yield (name, module, attribute or None) of the imports that begin a line."""
    for dots, module, names in _FROM.findall(text):
        if dots:
            parts = package.split(".")
            parts = parts[: len(parts) - len(dots) + 1]
            module = ".".join(parts + [module] if module else parts)
        for attribute, alias in _listed(re.sub(r"#[^\n]*", "", names).strip("() \t")):
            yield alias or attribute, module, attribute
    for names in _IMPORT.findall(text):
        for module, alias in _listed(names):
            if alias or "." not in module:
                yield alias or module, module, None


def _listed(names):
    """Yield (name, alias or "") of "a, b as c"."""
    for each in names.split(","):
        words = each.split()
        if words and words[0] != "*":
            yield words[0], words[2] if len(words) == 3 else ""


def _values(text):
    """Yield (name, value) of the literals that a file gives a name to, once, and that hold something."""
    if len(text) > LONGEST:
        return
    targets = Counter(match[1] for match in _TARGET.finditer(text))
    for match in _VALUE.finditer(text):
        name = match[1]
        if targets[name] != 1:
            continue
        end = _NEXT.search(text, match.end() + 1)
        try:
            value = ast.literal_eval(text[match.end() : end.start() if end else len(text)].strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue  # computed
        if value:
            yield name, value


def same(one, other):
    """True if two values are of the same builtin types through and through, and equal."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if kind is dict:
        return len(one) == len(other) and all(map(same, one.items(), other.items()))
    if kind is set:
        return one == other and {type(each) for each in one} == {type(each) for each in other}
    return one == other
