"""pre-commit hook ``redbucket-fixture-checksums``.

Reads the index, or what a merge or a push brings; refuses a recorded fixture that
differs from its lock, and a lock that an agent moved.
"""

import sys

from redbucket.app.hook_run import main


def run() -> None:
    """Judge what git and pre-commit say is coming; the exit code is redbucket's."""
    sys.exit(main("fixture-checksums"))
