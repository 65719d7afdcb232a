"""Part of git-trap: ``.gitattributes`` that hide a file's changes, or change its bytes."""

from __future__ import annotations

from collections.abc import Iterator

from redbucket.core.attributes import NAME, SET, Attributes, Rule
from redbucket.core.findings import Finding, Severity
from redbucket.core.hiding import hides
from redbucket.core.paths import JudgeSide
from redbucket.core.pytree import is_python
from redbucket.guards.context import Context, TreeView

_GENERATED = "linguist-generated"
_REMEDY = "narrow the rule so that it leaves what judges alone, or put {path} back to base's bytes"


def attributes(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Yield each rule of an agent that does harm to a judge-side file, one file named as an example.

    What a rule makes of a path counts, in all files of the tree together, so
    that order, macros and a folder's own file can't hide it; matched as git
    does with and without ``core.ignoreCase``.
    """
    if not any(path.rpartition("/")[2].lower() == NAME for path in context.agent_paths):
        return
    seen: set[tuple[str, int, str, Severity]] = set()
    for folded in (False, True):
        old, new = (Attributes(_files(tree), folded=folded) for tree in (context.base, context.head))
        for path in sorted({*context.base.entries, *context.head.entries}):
            for rule, what, severity in _harm(path, old, new, context, judge):
                place = (rule.source, rule.line, what, severity)
                if place not in seen:
                    seen.add(place)
                    yield _finding(rule, path, what, severity, context)


def _files(tree: TreeView) -> list[tuple[str, bytes]]:
    # git reads no .gitattributes that is a link
    names = [path for path in tree.entries if path.rpartition("/")[2].lower() == NAME]
    return [(path, tree.read(path)) for path in names if tree.entries[path].is_file]


def _harm(
    path: str, old: Attributes, new: Attributes, context: Context, judge: JudgeSide
) -> Iterator[tuple[Rule, str, Severity]]:
    judges = judge.is_judge(path) or judge.is_protected(path) or judge.is_shared_config(path)
    if not judges and not is_python(path):
        return
    before, after = old.of(path), new.of(path)
    # a folder that is left out of archives takes its files along
    parent = path.rpartition("/")[0]
    while parent and judges:
        for one, whole in ((before, old.of(parent)), (after, new.of(parent))):
            if "export-ignore" in whole:
                one.setdefault("export-ignore", whole["export-ignore"])
        parent = parent.rpartition("/")[0]
    if before == after:
        return
    tree = context.head if path in context.head.entries else context.base
    if not tree.entries[path].is_file:
        return
    for what, value in hides(before, after, tree.read(path)):
        if value.rule is not None and (judges or what.startswith("hides")):
            yield value.rule, what, Severity.REFUSE if judges else Severity.WARN
    old_value, generated = before.get(_GENERATED), after.get(_GENERATED)
    fresh = generated is not None and (old_value is None or old_value.value != generated.value)
    if judges and fresh and generated and generated.rule and generated.value in (SET, "=true"):
        yield generated.rule, "folds its changes away on code hosts", Severity.WARN


def _finding(rule: Rule, path: str, what: str, severity: Severity, context: Context) -> Finding:
    # The folded form of a name is for matching alone.
    known = context.head.entries.keys() | context.base.entries.keys()
    source = next((name for name in known if name.lower() == rule.source.lower()), rule.source)
    return Finding(
        rule="git-trap",
        severity=severity,
        path=source,
        line=rule.line,
        reason=f"the rule `{rule.pattern}` {what}: {path}",
        remedy=_REMEDY.format(path=source),
    )
