"""Notices that code under test changed what trusted test files hold in memory: functions, and expected values.

Functions are held against what was compiled from the file (an audit event brings it, before it is executed), values
against the literals that stand there. The parent holds base's findings against head's: tests that do it themselves
do it in both.
"""

import ast
import os
import re
import sys
from collections import Counter
from types import CodeType, FunctionType

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
_LONGEST = 200_000
_open = open
_vars = vars


class Held:
    """``paths`` are the Python files of the judge side, relative to ``tree``."""

    def __init__(self, tree, paths, watch):
        self._tree = tree
        self._paths = {os.path.join(tree, path): path for path in paths if path.endswith(".py")}
        self._codes, self._spaces, self._parts = {}, {}, {}
        self._seen = set()
        self._recoded = watch.recoded
        self._guarded = watch.guarded
        self._common = self._same = None
        self._by_test = {}
        watch.executing = self._executing

    def _executing(self, code):
        """Keep the code of a module that is about to be executed, the first of each file."""
        path = self._paths.get(code.co_filename)
        if path is not None and code.co_name == "<module>":
            self._codes.setdefault(path, code)

    def settle(self, modules, tests):
        """Note the functions, once all is imported; ``modules`` are those that are not in ``sys.modules``.

        ``tests`` are the files that tests were found in: what those hold is looked at when a test of theirs ends,
        what all others hold whenever a test ends.
        """
        for module in [*list(sys.modules.values()), *modules]:
            path = self._paths.get(getattr(module, "__file__", None) or "")
            if path in self._codes:
                self._spaces[path] = _vars(module)
        for path, space in self._spaces.items():
            self._parts[path] = list(self._functions(path, space)) + list(self._imports(path, space))
        tests = frozenset(tests)
        self._common = [each for path, parts in self._parts.items() if path not in tests for each in parts]
        self._same = comparison(self._common)
        for path in tests.intersection(self._parts):
            self._by_test[path] = comparison(self._parts[path]), self._parts[path]
        for parts in self._parts.values():
            self._guarded.update({id(value): label for label, _, _, value, code in parts if code is not None})

    def _functions(self, path, space):
        """Yield (label, owner, name, function, code) of the undecorated functions of a file and its classes."""
        decorated = _decorated(self._text(path))
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
        if its_own and any(value.__code__ is code for code in codes):
            yield label, owner, name, value, value.__code__
        else:
            self._seen.add(label)

    def _imports(self, path, space):
        """Yield (label, owner, name, value, None) of what a file imports of other such files and of frameworks."""
        files = {id(space) for space in self._spaces.values()}
        for name, module, attribute in _imported(self._text(path), space.get("__package__") or ""):
            source = sys.modules.get(module)
            below = sys.modules.get("%s.%s" % (module, attribute))
            if below is not None and id(_vars(below)) in files:
                value = below
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
        for path, space in self._spaces.items():
            for name, value in _values(self._text(path)):
                if name in space and not _same(value, space[name]):
                    self._seen.add("%s of %s" % (name, path))
        return sorted(self._seen)[:1000]

    def _text(self, path):
        try:
            with _open(os.path.join(self._tree, path), encoding="utf-8") as stream:
                return stream.read()
        except (OSError, ValueError):
            return ""  # gone, or in another encoding: its values are not looked at


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
    if len(text) > _LONGEST:
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


def _same(one, other):
    """True if two values are of the same builtin types through and through, and equal."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if kind is dict:
        return len(one) == len(other) and all(map(_same, one.items(), other.items()))
    if kind is set:
        return one == other and {type(each) for each in one} == {type(each) for each in other}
    return one == other
