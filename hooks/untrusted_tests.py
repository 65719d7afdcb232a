"""pre-commit hook ``redbucket-untrusted-tests``.

Reads the index, or what a merge or a push brings; refuses an agent's change of an
existing test, and lists the tests that count for nothing.
"""

import sys

from redbucket.app.hook_run import main


def run() -> None:
    """Judge what git and pre-commit say is coming; the exit code is redbucket's."""
    sys.exit(main("untrusted-tests"))
