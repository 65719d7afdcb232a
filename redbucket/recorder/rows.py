"""Holds the values that reach a parametrised test against the literals that stand in its file.

Product code can change rows in memory once they are collected: a wrong function then passes under the right ids. Where
all that a test is called with stands in its own decorators, its number says which rows it must get; otherwise its
values must be those of some row. What is computed is not looked at, nor what goes to a fixture (``indirect``).
"""

import ast
import re

from .held import LONGEST, same, wrapped

_LINE = re.compile(r"^([ \t]*)(?:(@)|(?:async[ \t]+)?def |class )", re.MULTILINE)
_MARK = re.compile(r"@(?:pytest\.)?mark\.parametrize\(")
_PLACES = frozenset(("ids", "scope"))  # what else may be said without another meaning for the values
_COMPUTED = object()


class Rows:
    """``look`` is called right before each test's function, ``held`` is what knows the tests' files."""

    def __init__(self, held):
        self._held = held
        self._files = {}
        self._tables = {}
        self._shown = set()
        self._taken = {}

    def look(self, item):
        """Note the parameters of a test that are not what its file says."""
        function = wrapped(item.obj)
        if function is None:
            return
        code = function.__code__
        if id(code) not in self._tables:
            self._tables[id(code)] = (*self._of(code), code)
        path, tables, _ = self._tables[id(code)]
        if not tables:
            return
        numbers = self._numbers(item, tables)
        for place, (names, rows) in enumerate(tables):
            if numbers is None:
                fits = any(self._fits(item, names, row) for row in rows)
            else:
                of_it = {each[place] for each in numbers}
                fits = any(self._shows(item, names, rows[n], (id(code), place, n)) for n in of_it)
            if not fits:
                self._held.saw("parameter %s of %s" % (", ".join(names), path))

    def _numbers(self, item, tables):
        """Return the numbers of the row of each table that a test may be for: None if unknown, else a list of lists.

        Some versions of pytest count the rows of each decorator (8.0 to 8.3), others the calls of a function, through
        all combinations, where the first decorator's rows are the innermost.
        """
        callspec = getattr(item, "callspec", None)
        params = getattr(callspec, "params", ())
        if len(params) != sum(len(names) for names, _ in tables):
            return None
        rows = [callspec.indices.get(names[0]) for names, _ in tables]
        if not all(type(each) is int for each in rows):
            return None
        if self._taken.setdefault((id(item.parent), item.originalname, *rows), item) is not item:
            return []  # a number that another test has
        if len(tables) == 1:
            return [rows] if 0 <= rows[0] < len(tables[0][1]) else []
        total, calls = rows[0], []
        for _, all_rows in tables:
            total, number = divmod(total, len(all_rows))
            calls.append(number)
        found = [calls] if total == 0 and len(set(rows)) == 1 else []
        if all(0 <= row < len(all_rows) for row, (_, all_rows) in zip(rows, tables)):
            found.append(rows)
        return found

    def _shows(self, item, names, row, key):
        """Return whether a test's values are those of a row, which can only have been changed by a test that had it."""
        fits = self._fits(item, names, row, key not in self._shown)
        if fits:
            self._shown.add(key)
        return fits

    def _fits(self, item, names, row, first=False):
        """Return whether a test's values are those of a row, as far as they are known; ``first``: all of them."""
        got = item.funcargs
        for name, (value, fixed) in zip(names, row):
            if (fixed or first) and value is not _COMPUTED and name in got and not same(value, got[name]):
                return False
        return True

    def _of(self, code):
        path = self._held.path(code.co_filename)
        if path is None:
            return "", ()
        if path not in self._files:
            self._files[path] = dict(_decorated(self._held.text(path)))
        texts = self._files[path].get(code.co_firstlineno, ())
        calls = list(map(_call, texts))
        if (
            None in calls
        ):  # a decorator that seems to end within a text: nor need the others be what they seem
            return path, ()
        return path, tuple(filter(None, map(_table, calls)))


def _decorated(text):
    """Yield (line of the first decorator, [texts of the decorators that give rows]) of what is defined."""
    if "parametrize" not in text or len(text) > LONGEST:
        return
    line, position, begun, texts = 1, 0, None, []
    found = list(_LINE.finditer(text))
    for match, after in zip(found, [*found[1:], None]):
        line += text.count("\n", position, match.start())
        position = match.start()
        if match[2] is None:
            if texts:
                yield begun, texts
            begun, texts = None, []
        else:
            begun = begun or line
            end = after.start() if after is not None else len(text)
            if _MARK.match(text, match.end(1)):
                texts.append(text[match.end() : end])


def _call(text):
    """Return the call that a decorator is, None if it is none."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _table(call):
    """Return ([names], [[(value, whether it can't be changed)] of each row]) of a decorator; None: of another form."""
    options = {each.arg: each.value for each in call.keywords} if isinstance(call, ast.Call) else {None: None}
    if None in options or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    given = dict(zip(("argnames", "argvalues", "indirect"), call.args), **options)
    if set(given) - _PLACES != {"argnames", "argvalues"} or len(call.args) > 2:
        return None
    names, _ = _value(given["argnames"])
    alone = isinstance(names, str) and "," not in names
    if isinstance(names, str):
        names = [each.strip() for each in names.split(",")]
        if names[-1] == "":  # versions differ in what "name," means
            return None
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(each, str) for each in names):
        return None
    rows = given["argvalues"]
    if not isinstance(rows, (ast.List, ast.Tuple)) or not rows.elts:
        return None
    found = [_row(each, len(names), alone) for each in rows.elts]
    return None if None in found else (names, found)


def _row(node, width, alone):
    """Return the (value, whether it can't be changed) of one row, None if what it is can't be told."""
    if isinstance(node, ast.Starred):
        return None
    if isinstance(node, ast.Call) and _is_param(node.func):
        parts = node.args
    elif alone:
        parts = [node]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = node.elts
    else:
        parts = None
    if parts is None or any(isinstance(each, ast.Starred) for each in parts):
        return [(_COMPUTED, True)] * width
    return [_value(each) for each in parts] if len(parts) == width else None


def _is_param(node):
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "param"
        and isinstance(node.value, ast.Name)
        and node.value.id == "pytest"
    )


def _value(node):
    """Return (the literal's value, or _COMPUTED; whether it can't be changed)."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _COMPUTED, True
    return value, _fixed(value)


def _fixed(value):
    kind = type(value)
    return kind not in (list, dict, set) and (kind is not tuple or all(map(_fixed, value)))
