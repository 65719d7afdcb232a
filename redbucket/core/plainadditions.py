"""Test files that only gained plain functions, told from what was added alone.

Most patches to tests add a file or put tests at the end of one. To compare two syntax trees takes ten times as long as
to see that nothing else happened, which counts where a patch adds to thousands of files.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from redbucket.core.details import Detail
from redbucket.core.pytree import docstring, parse_anew

# Other columns and line ends than those that stand there.
_UNUSUAL = (b"\f", b"\r", b"\0")
# What could end a string that the old file left open, and a doctest, which is compared by itself.
_NOT_AT_THE_END = (b'"""', b"'''", b">>>")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def plain_additions(old: bytes | None, new: bytes) -> list[Detail] | None:
    """Return the functions that a file gained if that is all, and nothing that it had can mean something else by them.

    None where that is not plain to see: then the two must be compared. ``old`` is None for a file that is new.
    """
    fresh = new if old is None else _tail(old, new)
    if fresh is None or not new.isascii() or any(sign in fresh for sign in _UNUSUAL) or b">>>" in fresh:
        return None
    if any(b"coding" in line for line in new.split(b"\n", 2)[:2]):
        return None
    tree = parse_anew(fresh)
    if tree is None:
        return None
    found = _new_file(tree) if old is None else _tests(tree, old)
    if found is None or len({function.name for function in found}) < len(found):
        return None
    above = old.count(b"\n") if old is not None else 0
    return [Detail(f"adds {function.name}", function.lineno + above, function.name) for function in found]


def _tail(old: bytes, new: bytes) -> bytes | None:
    """Return what ``new`` has after all of ``old``; None where the two could be read as one statement."""
    if not old.endswith(b"\n") or not new.startswith(old):
        return None
    last = old.rstrip().rpartition(b"\n")[2].lstrip()
    fresh = new[len(old) :]
    if last.startswith(b"@") or last.endswith(b"\\") or any(sign in fresh for sign in _NOT_AT_THE_END):
        return None
    return fresh


def _new_file(tree: ast.Module) -> list[_Function] | None:
    """Return the functions of a file that holds nothing else but imports."""
    body = tree.body[1:] if docstring(tree) is not None else tree.body
    found = [node for node in body if _is_plain(node)]
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    bound = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    if len(found) + len(imports) < len(body) or "*" in bound:
        return None
    # pytest's hooks act on all tests that run beside these
    if any(function.name in bound or function.name.startswith("pytest_") for function in found):
        return None
    return found


def _tests(tree: ast.Module, old: bytes) -> list[_Function] | None:
    """Return the tests that were added, if there is nothing else, under names that the old file does not speak of."""
    found = [node for node in tree.body if _is_plain(node)]
    if not found or len(found) < len(tree.body):
        return None
    if any(not function.name.startswith("test") or function.name.encode() in old for function in found):
        return None
    return found


def _is_plain(node: ast.stmt) -> TypeGuard[_Function]:
    """Return whether a statement defines a function and works out nothing else as it does so."""
    if not isinstance(node, _FUNCTIONS) or node.decorator_list or node.returns is not None:
        return False
    args = node.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return not (args.defaults or any(args.kw_defaults) or getattr(node, "type_params", None)) and not any(
        arg is not None and arg.annotation is not None for arg in every
    )
