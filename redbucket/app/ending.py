"""The end of every command: an error becomes a line on stderr and an exit code. The only catch-all."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.app.output import ReaderGone, complain, interrupted, report_bug, world_failure
from redbucket.app.signals import children_answer, one_interrupt
from redbucket.core.errors import RedbucketError, WorldFailed


def ended(call: Callable[[], int]) -> int:
    """Return what ``call`` returns, or the exit code of the error that it ends in."""
    try:
        with children_answer(), one_interrupt() as interrupt:
            try:
                return call()
            except Exception as error:
                if interrupt.asked:  # whatever it has become on its way
                    raise KeyboardInterrupt from error
                raise
    except KeyboardInterrupt:
        return interrupted()
    except RedbucketError as error:
        complain(error)
        return error.exit_code
    except ReaderGone:
        # nothing is left to say; what was not read is no verdict
        return WorldFailed.exit_code
    except OSError as error:
        complain(world_failure(error))
        return WorldFailed.exit_code
    except Exception as error:  # noqa: BLE001 (the one catch-all: a traceback is for us, not for the user)
        return report_bug(error)
