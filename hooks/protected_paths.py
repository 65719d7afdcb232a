"""pre-commit hook ``redbucket-protected-paths``.

Reads the index, or what a merge or a push brings; refuses an agent's change of a
file that judges patches.
"""

import sys

from redbucket.app.hook_run import main


def run() -> None:
    """Judge what git and pre-commit say is coming; the exit code is redbucket's."""
    sys.exit(main("protected-paths"))
