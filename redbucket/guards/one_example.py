"""one-example: an invariant miss is answered by a property over a domain, not by one more example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from redbucket.core.errors import Misused, Undecided
from redbucket.core.findings import Finding, Severity
from redbucket.core.oneexample import Form, Reading, read_test, read_tests, shapes
from redbucket.core.pytree import is_python
from redbucket.core.testpath import file_of, pytest_id
from redbucket.core.testtree import WHOLE
from redbucket.core.treescopes import TreeScopes
from redbucket.core.untrusted import How, untrusted_tests
from redbucket.guards.alterations import Sides
from redbucket.guards.context import Context
from redbucket.guards.remedies import ENDORSE

RULE = "one-example"
_SHOWN = 3
_REMEDY = (
    "write a property over a domain (Hypothesis @given, a loop over generated values): "
    "`redbucket draft REPORT.json` proposes some, where REPORT.json is what "
    "`redbucket gate --format json --output REPORT.json` wrote of the miss; "
    "`redbucket review FILE` says whether one holds"
)
# Without one of these words a file of base has no property that could be lost.
_DOMAINS = re.compile(
    rb"hypothesis|\bgiven\b|\brange\(|itertools|random|[Ff]aker|linspace|arange|StateMachine"
)
Key = tuple[str, str]


def check(context: Context, judge_side: Sides) -> list[Finding]:
    """Refuse literal answers to misses, and an agent's example in a property's place.

    The misses are those that the caller names, and those that earlier gates found in an earlier state of the patch.
    """
    before = TreeScopes(context.base, judge_side.is_judge)
    after = TreeScopes(context.head, judge_side.is_judge)
    found = list(_replaced(context, judge_side, before, after))
    if context.misses or context.recalled:
        answers = _answers(context, judge_side, after)
        found += _answered(context, before, after, answers)
        found += _answered_since(context, judge_side, before, after, answers)
    return found


# -- a property that becomes an example ------------------------------------------------------------


def _replaced(
    context: Context, judge_side: Sides, before: TreeScopes, after: TreeScopes
) -> Iterator[Finding]:
    for path in sorted(context.agent_paths):
        old, new = context.base.entries.get(path), context.head.entries.get(path)
        if (
            old is None
            or not old.is_file
            or old == new
            or not is_python(path)
            or not judge_side.is_test(path)
        ):
            continue
        if not _DOMAINS.search(context.base.read(path)):
            continue
        scope, now = before.scope(path), after.scope(path)
        if scope is None or now is None:
            continue  # a file that is gone or unreadable is another guard's
        (was, around), (new_tests, around_now) = shapes(scope), shapes(now)
        # to read a test takes milliseconds: only what runs otherwise is read
        changed = None if around != around_now else {n for n, text in was.items() if new_tests.get(n) != text}
        if changed is not None and not changed:
            continue
        fresh: list[Reading] | None = None
        for name, reading in read_tests(scope, changed):
            if reading.form is not Form.PROPERTY:
                continue
            kept = read_test(now, name)
            if kept is None:
                if fresh is None:
                    fresh = [r for _, r in read_tests(now, set(new_tests) - set(was))]
                kept = _successor(reading, fresh)
            if kept is not None and kept.form not in (Form.PROPERTY, Form.UNKNOWN):
                yield Finding(
                    rule=RULE,
                    severity=Severity.REFUSE,
                    path=path,
                    line=kept.line,
                    nodeid=_nodeid((path, name)),
                    reason=f"{name} went through a domain, and what takes its place does not: {kept.why}",
                    remedy=f"put the property back, or {ENDORSE.format(path=path)}",
                )


def _successor(gone: Reading, fresh: Iterable[Reading]) -> Reading | None:
    """Return the best of the new tests that look at the same code as a property that is gone."""
    near = [reading for reading in fresh if reading.names & gone.names]
    return min(near, key=lambda r: r.form is not Form.PROPERTY, default=None)


# -- a miss that is answered -----------------------------------------------------------------------


def _answers(context: Context, judge_side: Sides, after: TreeScopes) -> dict[Key, Reading]:
    """Return the tests that the patch wrote or altered, whoever made it, as far as their source shows them."""
    changed = [change.path for change in context.patch.changes if judge_side.is_judge(change.path)]
    found: dict[Key, Reading] = {}
    for (path, name), mark in untrusted_tests(
        context.base, context.head, changed, judge_side.is_judge
    ).items():
        scope = after.scope(path)
        if scope is None or not mark.test_like:
            continue
        if name == WHOLE:
            found.update({(path, inner): reading for inner, reading in read_tests(scope)})
            continue
        reading = read_test(scope, name)
        if reading is not None and (mark.how is How.AUTHORED or reading.form is not Form.EMPTY):
            found[path, name] = reading
    for path in changed:  # a state machine's tests are an assignment
        scope = after.scope(path)
        for name, reading in read_tests(scope) if scope is not None else ():
            if name.endswith(".runTest") and context.base.entries.get(path) != context.head.entries.get(path):
                found.setdefault((path, name), reading)
    return found


def _answered(
    context: Context, before: TreeScopes, after: TreeScopes, answers: dict[Key, Reading]
) -> Iterator[Finding]:
    told = _ByAnswers()
    for miss in context.misses:
        missed, path = _missed(miss, context, before, after)
        near = _near(missed, answers)
        if any(reading.form is Form.PROPERTY for reading in near.values()):
            continue
        if near:
            told.add(miss, near)
            continue
        yield Finding(
            rule=RULE,
            severity=Severity.NOTE,
            path=path,
            nodeid=miss,
            reason="nothing in the patch's tests answers this miss: it can come back",
            remedy=_REMEDY,
        )
    for misses, near in told:
        unsure, reason, key, first = _told(misses, near)
        yield Finding(
            rule=RULE,
            severity=Severity.WARN if unsure else Severity.REFUSE,
            path=key[0],
            line=first.line,
            nodeid=_nodeid(key),
            reason=reason,
            remedy=_REMEDY,
        )


class _ByAnswers:
    """Misses under the tests that answer them: what the same tests do not answer is said once, not for each miss."""

    def __init__(self) -> None:
        self._found: dict[tuple[Key, ...], tuple[list[str], dict[Key, Reading]]] = {}

    def add(self, miss: str, near: dict[Key, Reading]) -> None:
        self._found.setdefault(tuple(sorted(near)), ([], near))[0].append(miss)

    def __iter__(self) -> Iterator[tuple[list[str], dict[Key, Reading]]]:
        return iter(self._found.values())


def _near(missed: Reading | None, answers: dict[Key, Reading]) -> dict[Key, Reading]:
    """Return the tests that use what the missed test uses; all of them where its source does not show that."""
    return {
        key: reading
        for key, reading in answers.items()
        if missed is None or not missed.names or reading.names & missed.names
    }


def _told(misses: list[str], near: dict[Key, Reading]) -> tuple[bool, str, Key, Reading]:
    """Return whether it is not sure that there is no property, why, and the test that is named first."""
    unsure = {reading.form for reading in near.values()} & {Form.CRASH, Form.UNKNOWN}
    chosen = sorted(near.items(), key=lambda item: (item[1].form not in unsure, item[0]))
    shown = _few([f"{name}: {reading.why}" for (_, name), reading in chosen], "; ")
    what = f"the miss of {misses[0]}" if len(misses) == 1 else f"the misses of {_few(misses, ', ')}"
    reason = f"{'no sure property' if unsure else 'no property'} answers {what}: {shown}"
    return bool(unsure), reason, *chosen[0]


def _few(words: list[str], between: str) -> str:
    more = f"{between}and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return between.join(words[:_SHOWN]) + more


# -- a miss that an earlier gate found -------------------------------------------------------------


def _answered_since(
    context: Context, judge_side: Sides, before: TreeScopes, after: TreeScopes, answers: dict[Key, Reading]
) -> Iterator[Finding]:
    """Judge what was written since the patch was found to break something: what was there by then is no answer."""
    told = _ByAnswers()
    for miss, state in context.recalled.items():
        if miss in context.misses:
            continue
        try:
            missed, _ = _missed(miss, context, before, after)
        except Misused:
            continue  # the test is gone by now, which is another guard's
        near = _near(missed, answers)
        if any(reading.form is Form.PROPERTY for reading in near.values()):
            continue
        then = TreeScopes(state, judge_side.is_judge)
        fresh = {key: reading for key, reading in near.items() if _is_new(key, then, after)}
        if fresh:
            told.add(miss, fresh)
    for misses, fresh in told:
        unsure, reason, key, first = _told(misses, fresh)
        by_agent = any(path in context.agent_paths for path, _ in fresh)
        yield Finding(
            rule=RULE,
            severity=Severity.WARN if unsure or not by_agent else Severity.REFUSE,
            path=key[0],
            line=first.line,
            nodeid=_nodeid(key),
            reason=f"{reason} (an earlier gate of this patch found the {'miss' if len(misses) == 1 else 'misses'})",
            remedy=f"{_REMEDY}; if an example is what is wanted, {ENDORSE.format(path=key[0])}",
        )


def _is_new(key: Key, then: TreeScopes, now: TreeScopes) -> bool:
    """Return whether a test was not there, or ran otherwise, in an earlier state of the patch."""
    path, name = key
    try:
        known, scope = then.scope(path), now.scope(path)
    except Undecided:
        return False  # that state's objects are gone: nothing shows when it was written
    if known is None or scope is None:
        return True
    return shapes(known)[0].get(name) != shapes(scope)[0].get(name)


def _missed(
    miss: str, context: Context, before: TreeScopes, after: TreeScopes
) -> tuple[Reading | None, str | None]:
    """Return the reading of the test that missed, and its file. Raises Misused "no-such-test"."""
    for tree, scopes in ((context.base, before), (context.head, after)):
        path = file_of(miss, tree.entries)
        if path is None:
            continue
        scope = scopes.scope(path)
        names = pytest_id(miss, tree.entries).partition("[")[0].split("::")[1:]
        reading = read_test(scope, ".".join(names)) if scope is not None and names else None
        return reading, path
    raise Misused(
        "no-such-test",
        f"neither base nor head has the file of {miss}",
        "copy the id of the missed test from a report of redbucket",
    )


def _nodeid(key: Key) -> str:
    return f"{key[0]}::{key[1].replace('.', '::')}"
