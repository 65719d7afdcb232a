"""Hypothesis's ghostwriter: how it is asked, and what is made of its answer."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from redbucket.core.calls import Target
from redbucket.core.candidates import Candidate
from redbucket.core.laws import Law

_MARK = "GHOST"


def ghost_probe(target: Target) -> str:
    """Return a test that fails with what the ghostwriter writes for a function as its message."""
    imports = "\n".join(target.imports)
    return textwrap.dedent(f"""\
        {imports}


        def test_ghostwriter():
            from hypothesis.extra import ghostwriter

            for write in (ghostwriter.magic, ghostwriter.idempotent, ghostwriter.fuzz):
                try:
                    found = write({target.callee})
                except Exception:
                    continue
                break
            assert False, "{_MARK}\\n" + found
        """)


def ghost_tests(message: str, target: Target, given: Sequence[tuple[str, str]]) -> list[Candidate]:
    """Return the tests in a ghostwriter's text that assert something, on our domains where it knows none."""
    text = message.partition(f"{_MARK}\n")[2]
    end = text.rfind("\nassert False")
    try:
        tree = ast.parse(text[:end] if end > 0 else _cut(text))
    except (SyntaxError, ValueError):
        return []
    known = dict(given)
    imports = [ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    found = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or not any(
            isinstance(n, ast.Assert) for n in ast.walk(node)
        ):
            continue
        names = [a.arg for a in node.args.args]
        if not set(names) <= set(known):
            continue
        body = tuple(line for statement in node.body for line in ast.unparse(statement).splitlines())
        law = Law(
            f"{node.name.removeprefix('test_')}",
            "as Hypothesis's ghostwriter has it",
            body,
            imports=tuple(imports),
        )
        found.append(
            Candidate(node.name, law, 0, tuple((n, known[n]) for n in names), target, by="ghostwriter")
        )
    return found


def _cut(text: str) -> str:
    """Return the text up to its last complete test: a message ends with the place of the failure."""
    lines = text.splitlines()
    while lines:
        try:
            ast.parse("\n".join(lines))
        except (SyntaxError, ValueError):
            lines.pop()
        else:
            break
    return "\n".join(lines)
