"""What a property names that is another thing tomorrow: clocks, folders, networks, entropy without a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from redbucket.core.filescope import FileScope, full_name
from redbucket.core.pytree import dotted
from redbucket.core.supplies import UNPINNED

_CLOCKS = (
    *("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter"),
    *(
        "time.perf_counter_ns",
        "time.process_time",
        "time.localtime",
        "time.gmtime",
        "time.ctime",
        "time.strftime",
    ),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
    *("timeit.timeit", "timeit.default_timer", "time.sleep"),
)
_FOLDERS = ("os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob")
_FOLDER_METHODS = frozenset({"iterdir", "rglob"})
_NETWORKS = (
    "socket.",
    "urllib.request.",
    "http.client.",
    "requests.",
    "httpx.",
    "aiohttp.",
    "ftplib.",
    "smtplib.",
)
# Where the order of what a folder gives is lost on purpose.
_ORDERING = frozenset({"sorted", "set", "frozenset", "len", "sum", "any", "all", "Counter"})
_ONE_ARGUMENT = {"time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.strftime": 2}


def unsteady(scope: FileScope, node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield (what, line) for each call that makes a test depend on the day, the machine or chance.

    ``what`` begins with wall time, directory order, network, or unpinned entropy.
    """
    steady = {
        id(argument)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in _ORDERING
        for argument in ast.walk(call)
    }
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        name = _full(scope, call.func)
        kind = _kind(name, call, id(call) in steady)
        if kind:
            yield f"{kind}: {name}()", call.lineno


def _full(scope: FileScope, node: ast.expr) -> str:
    """Return the dotted name with what the file's imports mean put in."""
    name = dotted(node)
    if not name:
        return f".{node.attr}" if isinstance(node, ast.Attribute) else ""
    first, dot, rest = name.partition(".")
    ref = scope.imports.get(first)
    if ref is None:
        return name if not dot else f".{name.rpartition('.')[2]}"
    # ``import os.path`` binds os
    return f"{full_name(ref) if ref.name or ref.module.partition('.')[0] != first else first}{dot}{rest}"


def _kind(name: str, call: ast.Call, steady: bool) -> str:
    if name in _CLOCKS and len(call.args) < _ONE_ARGUMENT.get(name, 99):
        return "wall time"
    if (name in _FOLDERS or name.rpartition(".")[2] in _FOLDER_METHODS) and not steady:
        return "directory order"
    if name.startswith(_NETWORKS) and not name.startswith(("socket.inet", "socket.hton", "socket.ntoh")):
        return "network"
    if name.startswith(UNPINNED) or name == "random.SystemRandom":
        return "unpinned entropy"
    if name in ("random.Random", "numpy.random.default_rng", "random.seed") and not (
        call.args or call.keywords
    ):
        return "unpinned entropy"
    return ""
