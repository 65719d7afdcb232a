"""The ids of errors and problems, read from the source, and the page that explains them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "redbucket"
CODES = {"Undecided": 2, "Misused": 3, "WorldFailed": 4}
HEAD = """# Errors and notes by id

Each error ends in its id in brackets, and notes and undecided points of a report begin with theirs. This page is made
from the source: `…` stands for what differs from case to case. Exit codes: 2 cannot decide, 3 misused,
4 the world failed.

## Errors

| id | exit | says | do this |
|---|---|---|---|
"""
NOTES = """
## Undecided points and notes in a report

What is under "Undecided" makes the exit code 2; a note changes nothing.

| id | says | do this |
|---|---|---|
"""


def _text(node: ast.expr | None) -> str:
    """Return a message with "…" where the code puts values in."""
    if isinstance(node, ast.Constant):
        return str(node.value) if node.value is not None else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.IfExp):
        return " / ".join(dict.fromkeys(filter(None, (_text(node.body), _text(node.orelse)))))
    return "…" if node is not None else ""


def _ids(node: ast.expr | None) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return _ids(node.body) + _ids(node.orelse) if isinstance(node, ast.IfExp) else []


@cache
def _calls() -> list[ast.Call]:
    return [
        node
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def errors() -> dict[tuple[str, int], list[tuple[str, str]]]:
    """Return {(id, exit code): [(what it says, what to do)]}."""
    found: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for call in _calls():
        assert isinstance(call.func, ast.Name)
        if call.func.id in CODES and call.args:
            for name in _ids(call.args[0]):
                said = tuple(_text(call.args[n]) if n < len(call.args) else "" for n in (1, 2))
                found.setdefault((name, CODES[call.func.id]), []).append((said[0], said[1]))
    return found


def notes() -> dict[str, list[tuple[str, str]]]:
    """Return {id: [(what it says, what to do)]} of a report's problems."""
    found: dict[str, list[tuple[str, str]]] = {}
    for call in _calls():
        assert isinstance(call.func, ast.Name)
        if call.func.id == "Problem":
            given = {word.arg: word.value for word in call.keywords}
            for name in _ids(given.get("code")):
                found.setdefault(name, []).append((_text(given.get("reason")), _text(given.get("remedy"))))
    for node in ast.walk(ast.parse((SOURCE / "engine/troubles.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 3:
            name, reason, remedy = map(_text, node.value.elts)
            found.setdefault(name, []).append((reason, remedy))
    return found


def _cell(texts: list[str]) -> str:
    kept = list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip("… ")))
    return "<br>".join(kept).replace("|", "\\|") or "(what the case needs)"


def page() -> str:
    """Return docs/errors.md."""
    lines = [HEAD]
    for (name, code), said in sorted(errors().items()):
        lines.append(
            f"| `{name}` | {code} | {_cell([s for s, _ in said])} | {_cell([r for _, r in said])} |\n"
        )
    lines.append(NOTES)
    for name, said in sorted(notes().items()):
        lines.append(f"| `{name}` | {_cell([s for s, _ in said])} | {_cell([r for _, r in said])} |\n")
    return "".join(lines)
