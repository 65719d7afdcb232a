"""What a patch does to one judge-side file: nothing, additions only, or a change of the judge."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from redbucket.core.additions import addition_changes
from redbucket.core.annotations import strip_annotations
from redbucket.core.decorators import compare_decorators
from redbucket.core.definitions import elements, exported, holds_tests, packages, same_type
from redbucket.core.details import UNCHANGED, Alteration, Detail, Effect, alteration
from redbucket.core.doctests import doctest_change
from redbucket.core.functions import Around, compare_functions
from redbucket.core.plainadditions import plain_additions
from redbucket.core.plural import plural
from redbucket.core.pytree import (
    UNREADABLE,
    is_conftest,
    is_python,
    kept_shape,
    parse_anew,
    same_tree,
    shape,
    syntax_error,
    without_docstring,
)
from redbucket.core.reaching import Reach
from redbucket.core.scope import Asked, Entry, Scope, read_scope
from redbucket.core.skipping import Skipping
from redbucket.core.verbatim import share_shapes

__all__ = ["Alteration", "Detail", "Effect", "altered", "doctest_change"]

_DOCUMENTS = (".rst", ".md")
_TEXT_TESTS = (*_DOCUMENTS, ".txt")


def altered(
    old: bytes | None,
    new: bytes | None,
    path: str,
    *,
    outer_fixtures: Collection[str] | None = (),
    inherited: Mapping[str, Collection[str]] | None = None,
    is_strange: Callable[[str], bool] = lambda module: False,
) -> Alteration:
    """Return what became of a judge-side file; ``None`` is an absent file.

    ``outer_fixtures`` are names of fixtures that a new definition here would
    hide from the tests below, None where base has no test below; ``inherited`` maps the file's classes to the
    names they inherit from other files; ``is_strange`` says of a module, by the end of its name, that it may be a
    file whose functions skip tests, or reach into other objects.
    """
    if old == new:
        return UNCHANGED
    if new is None:
        return Alteration(Effect.CHANGED, changes=(Detail("deletes the file", 1, "", True),))
    if not is_python(path):
        return _other(old, new, path)
    if not is_conftest(path) and (added := plain_additions(old, new)) is not None:
        return alteration(added, [])
    return compared(old, new, path, outer_fixtures=outer_fixtures, inherited=inherited, is_strange=is_strange)


def compared(
    old: bytes | None,
    new: bytes,
    path: str,
    *,
    outer_fixtures: Collection[str] | None = (),
    inherited: Mapping[str, Collection[str]] | None = None,
    is_strange: Callable[[str], bool] = lambda module: False,
) -> Alteration:
    """Return what ``altered`` does of a Python file that is there, by the two syntax trees."""
    after = parse_anew(new)
    if after is None:
        line, words = syntax_error(new) or (None, "")
        change = Detail(f"makes the file one that {UNREADABLE}: {words}", line or 1, "", False)
        return Alteration(Effect.CHANGED, changes=(change,), unreadable=True)
    before = ast.Module(body=[], type_ignores=[]) if old is None else parse_anew(old)
    if before is None:
        change = Detail(f"changes a file whose old form {UNREADABLE}", 1, "", False)
        return Alteration(Effect.CHANGED, changes=(change,))
    for tree in (before, after):
        strip_annotations(tree)
    bodies = [without_docstring(tree) for tree in (before, after)]
    if old is not None:
        share_shapes(bodies[0], old, bodies[1], new)
    if len(bodies[0]) == len(bodies[1]) and all(
        kept_shape(was) == kept_shape(now) for was, now in zip(*bodies, strict=True)
    ):
        if old is not None and same_tree(old, new):
            return UNCHANGED
        said = [] if old is None else [Detail("changes annotations, which no test runs by")]
        return alteration(said, [])
    comparison = _Comparison(
        read_scope(bodies[0]),
        read_scope(bodies[1]),
        path,
        source=old or b"",
        new_file=old is None,
        outer_fixtures=outer_fixtures,
        inherited=inherited or {},
        is_strange=is_strange,
    )
    comparison.run(comparison.old, comparison.new, "")
    examples = doctest_change(old, new, path)
    return alteration(
        [*comparison.additions, *(d for d in examples.additions if old is not None)],
        [*comparison.changes, *examples.changes],
    )


def _other(old: bytes | None, new: bytes, path: str) -> Alteration:
    if old is None:
        return alteration([Detail("adds the file")], [])
    if path.endswith(_TEXT_TESTS):
        examples = doctest_change(old, new, path)
        if examples.effect is not Effect.NOTHING or b">>>" in old or path.endswith(_DOCUMENTS):
            return examples
    change = Detail("changes the file, which is in no language that is understood here", 1, "", False)
    return Alteration(Effect.CHANGED, changes=(change,))


class _Comparison:
    """Walks two scopes side by side, a class's members like a module's."""

    def __init__(
        self,
        old: Scope,
        new: Scope,
        path: str,
        *,
        source: bytes,
        new_file: bool,
        outer_fixtures: Collection[str] | None,
        inherited: Mapping[str, Collection[str]],
        is_strange: Callable[[str], bool],
    ) -> None:
        self.old = old
        self.new = new
        self.conftest = is_conftest(path)
        self.new_file = new_file and not self.conftest
        self.outer_fixtures = outer_fixtures
        self.inherited = inherited
        self.additions: list[Detail] = []
        self.changes: list[Detail] = []
        self.asked = Asked(old, source)
        self.reach = Reach(self._defined(), self._is_foreign, patches=self.new_file)
        self.is_strange = is_strange
        changing = Reach(self._defined(), self._is_foreign, arguments=True)
        self.around = Around(
            changing.calls, Skipping(new.nodes).calls, self._is_builtin, self._is_newly_strange
        )

    def _is_foreign(self, name: str) -> bool:
        """Return whether a name of the new file stands for what others have, too."""
        entries = self.new.names.get(name)
        if entries is None:
            return not hasattr(builtins, name)
        return name in self.old.names or any(entry.kind == "import" for entry in entries)

    def _defined(self) -> Iterator[ast.AST]:
        return (entry.node for entries in self.new.names.values() for entry in entries)

    def _is_builtin(self, name: str) -> bool:
        """Return whether neither form of the file gives a name of Python's own another meaning."""
        return hasattr(builtins, name) and not any(
            name in side.names or any("import *" in said for said in side.said.values())
            for side in (self.old, self.new)
        )

    def _is_newly_strange(self, name: str) -> bool:
        """Return whether a name is imported by the patch alone, from a strange module or as one."""
        if name in self.old.names:
            return False
        nodes = [entry.node for entry in self.new.names.get(name, ()) if entry.kind == "import"]
        modules = {part for node in nodes for part in _modules(node)}
        return any(map(self.is_strange, modules))

    def run(self, old: Scope, new: Scope, owner: str) -> None:
        """Compare two bodies; ``owner`` is the qualified name of their class."""
        for name, entries in new.names.items():
            unit = f"{owner}.{name}".lstrip(".")
            before = old.names.get(name)
            if before is None:
                self._added(entries, owner, unit, new)
            elif [entry.text for entry in before] != [entry.text for entry in entries]:
                self._changed(before, entries, owner, unit)
        for name, entries in old.names.items():
            if name not in new.names:
                self._removed(entries[0], old, new, f"{owner}.{name}".lstrip("."))
        self._statements(old, new, owner)

    def _added(self, entries: list[Entry], owner: str, unit: str, scope: Scope) -> None:
        if len(entries) > 1 and all(entry.kind in ("function", "class") for entry in entries):
            self._note(f"defines {unit} {len(entries)} times", entries[-1], unit)
        problems = addition_changes(
            entries[0],
            owner=owner,
            asked=self.asked,
            conftest=self.conftest,
            new_file=self.new_file,
            outer_fixtures=self.outer_fixtures,
            inherited=self.inherited.get(owner, ()),
            plain_class=scope.plain,
            reach=self.reach,
        )
        if entries[0].name == "__all__" and not owner and not self.new_file:
            problems += self._left_out(entries[-1])
        if problems:
            self.changes += [Detail(text, entries[0].line, unit, weakens) for text, weakens in problems]
        elif entries[0].kind != "import":
            self._note(f"adds {_KINDS[entries[0].kind]}{unit}", entries[0], unit)

    def _left_out(self, entry: Entry) -> list[tuple[str, bool]]:
        """Return what a new ``__all__`` takes from files that import all of this one: tests and fixtures, too."""
        listed = exported(entry.node)
        public = {
            name
            for name, entries in self.old.names.items()
            if not name.startswith("_") and name in self.new.names and entries[0].kind != "import"
        }
        gone = sorted(public - (listed or set()))
        few = ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
        return [(f"adds an __all__ that leaves out {few}", True)] if gone else []

    def _note(self, text: str, entry: Entry, unit: str) -> None:
        self.additions.append(Detail(text, entry.line, unit))

    def _changed(self, before: list[Entry], after: list[Entry], owner: str, unit: str) -> None:
        old, new = before[-1], after[-1]
        if (gone := packages(before)) is not None and (kept := packages(after)) is not None:
            # ``import a`` and ``import a.b`` bind one and the same a
            for module in gone - kept:
                if self.new.uses(module.rpartition(".")[2]):
                    text = f"no longer imports {module}, which is still used"
                    self.changes.append(Detail(text, new.line, unit))
            return
        texts = [entry.text for entry in before]
        if len(after) > len(before) and old.kind in ("function", "class"):
            text = f"defines {unit} a second time, which hides the first"
            self.changes.append(Detail(text, new.line, unit, True))
            return
        if len(before) > 1 or len(after) > 1 or old.kind != new.kind:
            if not (old.kind == new.kind == "value" and self._rows(before, after, unit, texts)):
                self.changes.append(Detail(f"changes {unit}", new.line, unit))
            return
        if old.guard != new.guard:
            self.changes.append(Detail(f"changes the condition under which {unit} exists", new.line, unit))
        if isinstance(old.node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert isinstance(new.node, ast.FunctionDef | ast.AsyncFunctionDef)
            is_test = old.name.startswith("test")
            more, worse = compare_functions(old.node, new.node, unit, is_test=is_test, around=self.around)
            self.additions += more
            self.changes += worse
        elif isinstance(old.node, ast.ClassDef) and isinstance(new.node, ast.ClassDef):
            self._class(old.node, new.node, unit)
        elif old.kind == "import":
            if self._reads(old.name, owner) and not same_type(old, new):
                self.changes.append(Detail(f"takes {unit} from somewhere else", new.line, unit))
        elif not self._rows(before, after, unit, texts) and not self._exports(old, new, unit):
            self.changes.append(Detail(f"changes the value of {unit}", new.line, unit))

    def _class(self, old: ast.ClassDef, new: ast.ClassDef, unit: str) -> None:
        more, worse = compare_decorators(old.decorator_list, new.decorator_list, unit, new.lineno)
        self.additions += more
        self.changes += worse
        heads = [[shape(part) for part in (*node.bases, *node.keywords)] for node in (old, new)]
        if heads[0] != heads[1]:
            self.changes.append(Detail(f"changes the bases of {unit}", new.lineno, unit))
        plain = all(isinstance(base, ast.Name) and base.id == "object" for base in new.bases)
        self.run(
            read_scope(without_docstring(old), plain=plain),
            read_scope(without_docstring(new), plain=plain),
            unit,
        )

    def _rows(self, before: list[Entry], after: list[Entry], unit: str, texts: list[str]) -> bool:
        """Note a list that only feeds ``parametrize`` and only grew; return whether that is so.

        Anywhere else a longer list can accept more: ``assert x in ALLOWED``.
        """
        name = before[0].name
        if "." in unit or not (self.old.only_rows(name) and self.new.only_rows(name)):
            return False
        rows = [elements(entries[0]) for entries in (before, after)]
        if len(texts) != 1 or len(after) != 1 or rows[0] is None or rows[1] is None:
            return False
        gone = Counter(rows[0]) - Counter(rows[1])
        if gone:
            text = f"removes {plural(sum(gone.values()), 'row')} of {unit}"
            self.changes.append(Detail(text, after[0].line, unit, True))
        else:
            more = plural(len(rows[1]) - len(rows[0]), "row")
            self._note(f"adds {more} to {unit}", after[0], unit)
        return True

    def _exports(self, old: Entry, new: Entry, unit: str) -> bool:
        """Note an ``__all__`` that only gained names that the file did not have; return whether that is so."""
        lists = [exported(entry.node) for entry in (old, new)]
        if unit != "__all__" or lists[0] is None or lists[1] is None or not lists[0] <= lists[1]:
            return False
        fresh = lists[1] - lists[0]
        # the others would take the place of what a file that imports all of this has already
        if not fresh or any(name in self.old.names or hasattr(builtins, name) for name in fresh):
            return False
        self._note(f"exports {', '.join(sorted(fresh))}", new, unit)
        return True

    def _removed(self, entry: Entry, old: Scope, new: Scope, unit: str) -> None:
        used = self.new.uses(entry.name)
        if entry.kind == "import":
            if self._reads(entry.name, unit.rpartition(".")[0]):
                self.changes.append(
                    Detail(f"no longer imports {entry.name}, which is still used", entry.line, unit)
                )
            return
        is_test = entry.name.startswith("test") or (entry.kind == "class" and holds_tests(entry))
        if is_test:
            self.changes.append(Detail(_fate(entry, old, new, unit), entry.line, unit, True))
        elif used or self.conftest or "." in unit:
            self.changes.append(Detail(f"removes {unit}", entry.line, unit))
        elif entry.kind == "function" and not entry.fixture:
            self._note(f"removes the unused helper {unit}", entry, unit)
        elif entry.kind == "value" and not entry.ambient:
            self._note(f"removes the unused value {unit}", entry, unit)
        else:
            self.changes.append(Detail(f"removes {unit}", entry.line, unit))

    def _reads(self, name: str, owner: str) -> bool:
        """Return whether an imported name is read; a class's own may be read through an instance."""
        return self.new.uses(name) if owner else self.new.reads(name)

    def _statements(self, old: Scope, new: Scope, owner: str) -> None:
        gone, fresh = old.statements - new.statements, new.statements - old.statements
        where = f" in class {owner}" if owner else ""
        for text in gone:
            what = f"removes a statement{where}: {old.said[text]}"
            self.changes.append(Detail(what, old.lines[text], owner))
        for text in fresh:
            # A new file may prepare what it likes for its own tests, but not patch what all tests import.
            reaches = text in new.foreign or self.reach.calls(new.parts[text])
            if self.new_file and not reaches:
                continue
            weakens = reaches or text in new.meddling or new.skips(text)
            what = f"runs at import{where}: {new.said[text]}"
            self.changes.append(Detail(what, new.lines[text], owner, weakens))


def _modules(node: ast.AST) -> Iterator[str]:
    """Yield the modules that an import may read, with dots; of a relative one as much of the name as it gives."""
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    module = getattr(node, "module", None) or ""
    yield module
    for alias in node.names:
        yield f"{module}.{alias.name}".lstrip(".")


def _fate(entry: Entry, old: Scope, new: Scope, unit: str) -> str:
    """Say whether a test of ``old`` is gone, or has another name in ``new``."""
    name = new.by_body().get(entry.body)
    if name is None or name in old.names:
        return f"deletes {unit}"
    if name.startswith(("test", "Test")):
        return f"renames {unit} to {name}"
    return f"renames {unit} to {name}, which is not collected as a test"


_KINDS = {"function": "", "class": "class ", "value": "value ", "import": ""}
