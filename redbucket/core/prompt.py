"""What a model is asked, and what is made of its answer: text to review, nothing else."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from redbucket.core.calls import Target
from redbucket.core.pytree import docstring

# Of the classified row; no source, no diff, no name of a person or a machine.
_FIELDS = ("nodeid", "bucket", "why", "cause", "message", "outcomes", "doubt")


def prompt(row: dict[str, Any], target: Target) -> str:
    """Return the prompt: the classified JSON, the signature and the docstring, and what is wanted."""
    known = {key: row[key] for key in _FIELDS if row.get(key) not in (None, "", [], {})}
    arguments = ast.unparse(target.node.args)
    returns = f" -> {ast.unparse(target.node.returns)}" if target.node.returns is not None else ""
    text = docstring(target.node) or ""
    return "\n".join(
        [
            "A test found a broken invariant. Write one property-based test for it with Hypothesis and pytest.",
            "It must go through a domain, and assert a law (not one example).",
            "It must depend on no clock, folder, network or unseeded randomness.",
            f"Import the function by: {target.imports[0]}; it is called as {target.callee}.",
            "Answer with one Python code block and nothing else.",
            "",
            json.dumps(known, indent=1, ensure_ascii=True),
            "",
            f"def {target.name}({arguments}){returns}:",
            f'    """{text}"""' if text else "    ...",
        ]
    )


def answer_text(answer: str, nodeid: str) -> str:
    """Return the code in an answer with a line that says what it is; all of it as comments where there is none."""
    head = f"# Written by a model for the miss of {nodeid}: text to review, not run by anyone yet.\n"
    blocks = re.findall(r"```(?:python|py)?\s*\n(.*?)```", answer, re.S)
    code = max(blocks, key=len) if blocks else answer
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        code = "".join(f"# {line}\n" for line in answer.splitlines())
    return head + code.rstrip() + "\n"
