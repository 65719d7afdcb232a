"""The native hooks: which there are, and the text of each script."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from redbucket.core.errors import Misused

LOCAL = ("pre-commit", "pre-merge-commit", "pre-push", "reference-transaction")
SERVER = ("pre-receive",)
ALL = (*LOCAL, *SERVER)
KEPT = ".redbucket-kept"
# Hooks that run no test unless they are told to: what speaks for and against it, and how to tell them.
STATIC = {
    "reference-transaction": ("slow; a fast-forward meets no other hook", "redbucket install --full"),
    "pre-receive": ("slow; the server needs the project's interpreter", "redbucket install --server --full"),
}

# git hands these their work on standard input.
_FED = frozenset({"pre-push", "reference-transaction", "pre-receive"})

# Isolated: neither the folder that git stands in nor PYTHONPATH can put another "redbucket" first.
_CODE = """\
import sys
sys.path[:] = [p for p in sys.path if p not in ("", ".")]
try:
    from redbucket.app.native_run import entry
except ImportError as error:
    sys.exit(
        "redbucket: refused: %s can not import redbucket any more: %s [redbucket-gone]\\n"
        "  do this: install redbucket there again, or run `redbucket install` where it is" % (sys.executable, error)
    )
entry()
"""

_HEAD = """\
#!/bin/sh
{marker}
# Made by `redbucket install`; `redbucket uninstall` puts back what was here.
kept="${{0%/*}}/{name}{kept}"
python={python}
"""

_FEED = """\
input=$(cat; echo .)
input=${input%.}
if [ -x "$kept" ]; then
    printf '%s' "$input" | "$kept" "$@" || exit $?
fi
"""

_PLAIN = """\
if [ -x "$kept" ]; then
    "$kept" "$@" || exit $?
fi
"""

# Runs at every change of any ref: what does not concern a protected branch ends here, before any Python.
_FILTER = """\
[ "$1" = prepared ] || exit 0
case "$input" in
{patterns}
    *) exit 0 ;;
esac
"""

_ALIVE = """\
if [ ! -x "$python" ]; then
    echo "redbucket: refused: the Python that redbucket was installed with is gone: $python [interpreter-gone]" >&2
    echo "  do this: install redbucket again and run \\`redbucket install\\`, or remove this hook: $0" >&2
    exit 1
fi
code={code}
"""


def marker(name: str) -> str:
    """Return the line by which our own script is recognised."""
    return f"# redbucket-hook: {name}"


def names(asked: str | None, *, server: bool, bare: bool) -> tuple[str, ...]:
    """Return the hooks to install. Raises Misused "unknown-hook" or "bare-repository"."""
    if asked is None:
        if bare and not server:
            raise Misused(
                "bare-repository",
                "this repository has no work tree: only a server hook makes sense here",
                "redbucket install --server",
            )
        return SERVER if server else LOCAL
    wanted = tuple(dict.fromkeys(word.strip() for word in asked.split(",") if word.strip()))
    for name in wanted:
        if name not in ALL:
            raise Misused("unknown-hook", f"there is no native hook {name!r}", f"known: {', '.join(ALL)}")
    if not wanted:
        raise Misused("unknown-hook", "no hook is named", f"known: {', '.join(ALL)}")
    return tuple(dict.fromkeys((*wanted, *(SERVER if server else ()))))


def script(name: str, python: Sequence[str], protected: Sequence[str], *, full: bool) -> str:
    """Return the script of hook ``name``.

    ``python`` is the interpreter with its options, ``protected`` the branches
    that are protected now; ``full`` runs the tests where the static guards
    alone are usual.
    """
    parts = [_HEAD.format(marker=marker(name), name=name, kept=KEPT, python=shlex.quote(python[0]))]
    parts.append(_FEED if name in _FED else _PLAIN)
    if name == "reference-transaction":
        patterns = "\n".join(f"    *{shlex.quote(f' refs/heads/{branch}')}'\n'*) ;;" for branch in protected)
        parts.append(_FILTER.format(patterns=patterns))
    parts.append(_ALIVE.format(code=shlex.quote(_CODE)))
    feed = "printf '%s' \"$input\" | " if name in _FED else "exec "
    options = " ".join(shlex.quote(word) for word in python[1:])
    listed = shlex.quote(" ".join(protected))
    parts.append(
        f'{feed}"$python" {options} -c "$code" {name} {"full" if full else "static"} {listed} "$@"\n'
    )
    return "".join(parts)
