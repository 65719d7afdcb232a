"""pre-commit hook ``redbucket-gate``.

Reads the commits that a merge or a push brings; refuses what the gate refuses.
"""

import sys

from redbucket.app.hook_run import main


def run() -> None:
    """Judge what git and pre-commit say is coming; the exit code is redbucket's."""
    sys.exit(main("gate"))
