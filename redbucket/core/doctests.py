"""Doctests: the examples in docstrings and in text files, and what an edit does to them."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from redbucket.core.details import UNCHANGED, Alteration, Detail, Effect, alteration
from redbucket.core.pytree import docstring, is_python, parse

if TYPE_CHECKING:
    from doctest import DocTestParser

_DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_Key = tuple[str, str, frozenset[tuple[int, bool]]]


@cache
def _parser() -> tuple[DocTestParser, int]:
    """Return doctest's parser and its flag for SKIP; it brings a debugger along, and most patches have no doctest."""
    import doctest

    return doctest.DocTestParser(), doctest.SKIP


def doctest_change(old: bytes | None, new: bytes | None, path: str = "module.py") -> Alteration:
    """Return what became of the doctests of a file; ``None`` is an absent file.

    Examples are compared by the name that holds them: source, wanted output
    and options. A source that can't be parsed counts as changed if the old one
    held examples.
    """
    if old == new:
        return UNCHANGED
    before, after = _examples(old, path), _examples(new, path)
    if before is None or after is None:
        if (b">>>" not in (old or b"") and before is None) or before == {}:
            return UNCHANGED
        return Alteration(Effect.CHANGED, changes=(Detail("the file can't be parsed any more", 1, "", True),))
    additions: list[Detail] = []
    changes: list[Detail] = []
    _forget_moved(before, after)
    for name in dict.fromkeys((*before, *after)):
        _compare(name, before.get(name, []), after.get(name, []), additions, changes)
    return alteration(additions, changes, differs=False)


def _forget_moved(before: dict[str, list[_Example]], after: dict[str, list[_Example]]) -> None:
    """Take out whole sets of examples that only stand under another name now."""
    sets = {tuple(item.key for item in items): name for name, items in after.items() if name not in before}
    for name in [name for name in before if name not in after]:
        moved = sets.pop(tuple(item.key for item in before[name]), None)
        if moved is not None:
            del before[name], after[moved]


class _Example:
    def __init__(self, source: str, want: str, options: frozenset[tuple[int, bool]], line: int) -> None:
        self.source = source
        self.want = want
        self.options = options
        self.line = line

    @property
    def key(self) -> _Key:
        return self.source, self.want, self.options

    @property
    def skipped(self) -> bool:
        return (_parser()[1], True) in self.options


def _compare(
    name: str, old: list[_Example], new: list[_Example], additions: list[Detail], changes: list[Detail]
) -> None:
    if [item.key for item in old] == [item.key for item in new]:
        return
    common = Counter(item.key for item in old) & Counter(item.key for item in new)
    gone, fresh = _rest(old, common), _rest(new, common)
    for item in gone:
        text = " ".join(item.source.split())[:60]
        partner = next((other for other in fresh if other.source.strip() == item.source.strip()), None)
        partner = partner or next((other for other in fresh if _bare(other) == _bare(item)), None)
        if partner is None:
            changes.append(Detail(f"removes the doctest `>>> {text}`", item.line, name, True))
            continue
        fresh.remove(partner)
        if partner.skipped and not item.skipped:
            changes.append(Detail(f"skips the doctest `>>> {text}`", partner.line, name, True))
        elif partner.want != item.want:
            changes.append(
                Detail(f"rewrites what the doctest `>>> {text}` expects", partner.line, name, True)
            )
        else:
            weakens = len(partner.options) > len(item.options)
            changes.append(
                Detail(f"changes the options of the doctest `>>> {text}`", partner.line, name, weakens)
            )
    last = max((at for at, item in enumerate(new) if item.key in common), default=-1)
    places = {id(item): at for at, item in enumerate(new)}
    mine = {id(item) for item in fresh}
    for item in fresh:
        at = places[id(item)]
        before = at < last and _disturbs(item.source, [i for i in new[at + 1 :] if id(i) not in mine])
        what = f"adds the doctest `>>> {' '.join(item.source.split())[:60]}`"
        (changes if before else additions).append(Detail(what, item.line, name))


def _disturbs(source: str, later: list[_Example]) -> bool:
    """Return whether an example changes what those after it see: they share its names.

    An expression does not, nor does a name that is bound anew before it is read.
    """
    tree = parse(source.encode("utf-8", "replace"))
    if tree is None or not all(isinstance(node, (ast.Expr, ast.Assign)) for node in tree.body):
        return True
    bound: set[str] = set()
    for node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if not isinstance(target, ast.Name):
                return True
            bound.add(target.id)
    for example in later:
        if not bound:
            break
        after = parse(example.source.encode("utf-8", "replace"))
        names = [node for node in ast.walk(after) if isinstance(node, ast.Name)] if after is not None else []
        if after is None or any(isinstance(n.ctx, ast.Load) and n.id in bound for n in names):
            return True
        bound -= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return False


def _rest(items: list[_Example], common: Counter[_Key]) -> list[_Example]:
    left = Counter(common)
    found = []
    for item in items:
        if left[item.key]:
            left[item.key] -= 1
        else:
            found.append(item)
    return found


def _bare(item: _Example) -> str:
    return item.source.split("# doctest:", 1)[0].strip()


def _examples(data: bytes | None, path: str) -> dict[str, list[_Example]] | None:
    if data is None or b">>>" not in data:
        return {}
    if not is_python(path):
        return {"": _parsed(data.decode("utf-8", "surrogateescape"), 1)}
    tree = parse(data)
    if tree is None:
        return None
    found: dict[str, list[_Example]] = {}
    queue: list[tuple[ast.AST, str]] = [(tree, "")]
    while queue:
        node, name = queue.pop()
        if isinstance(node, (ast.Module, *_DOCUMENTED)):
            text = docstring(node)
            if text and ">>>" in text:
                line = node.body[0].lineno
                found.setdefault(name, []).extend(_parsed(text, line))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                inner = f"{name}.{child.name}".lstrip(".") if isinstance(child, _DOCUMENTED) else name
                queue.append((child, inner))
    return {name: items for name, items in found.items() if items}


def _parsed(text: str, line: int) -> list[_Example]:
    text = text.replace("\r\n", "\n")
    try:
        examples = _parser()[0].get_examples(text)
    except ValueError:
        # doctest itself refuses it, which fails the run: keep the text, so that a change shows.
        return [_Example(text, "", frozenset(), line)]
    return [
        _Example(item.source, item.want, frozenset(item.options.items()), line + item.lineno)
        for item in examples
    ]
