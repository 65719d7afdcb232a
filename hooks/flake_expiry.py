"""pre-commit hook ``redbucket-flake-expiry``.

Reads the index, or what a merge or a push brings; refuses a freeze that is over,
incomplete, of a test that is gone or stretched by an agent, and tests that an
agent switches off.
"""

import sys

from redbucket.app.hook_run import main


def run() -> None:
    """Judge what git and pre-commit say is coming; the exit code is redbucket's."""
    sys.exit(main("flake-expiry"))
