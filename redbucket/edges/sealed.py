"""How git is called so that nothing but the arguments decides: its flags and its environment.

Apart from ``git``, so that a command that can't afford to import GitPython obeys
the same rules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

# The patch's author may have reached the repository's own config (core.fsmonitor and core.hooksPath run
# programs); what a command prints must not depend on anybody's taste either.
FLAGS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "core.useReplaceRefs=false"),
    *("-c", "core.warnAmbiguousRefs=true"),
    *("-c", "log.showSignature=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)

_SEALED = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone fetches missing objects behind the caller's back: into the user's repository,
    # from a server that may be the author's. git before 2.44 knows only the second switch.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}


def sealed_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for git: the caller's without any ``GIT_*``, plus ``extra``."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    return {**kept, **_SEALED, **(extra or {})}
