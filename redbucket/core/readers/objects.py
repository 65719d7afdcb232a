"""The plain form: ``{"run_id": 1, "tests": [{"nodeid", "outcome", "seed", ...}]}``.

One object a file, several (one a line), or an array of them.
"""

from __future__ import annotations

import msgspec

from redbucket.core.fingerprint import Aligner
from redbucket.core.readers.common import Given, Place, bound, decode_line, lines, refuse
from redbucket.core.records import Outcome, Run, Test

EXPECTED = '{"run_id": 1, "tests": [{"nodeid": "...", "outcome": "...", "seed": "..."}]}'


class _Test(msgspec.Struct, frozen=True):
    nodeid: str
    outcome: Outcome
    seed: str | int | None = None
    fixture_hash: str | None = None
    message: str | None = None
    exception: str | None = None
    fingerprint: str | None = None
    duration: float | None = None
    fixtures: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()


class _Object(msgspec.Struct, frozen=True):
    run_id: int | str
    tests: list[_Test]
    seed: str | int | None = None
    fixture_hash: str | None = None
    world: str = ""
    condition: str = "plain"


_ONE = msgspec.json.Decoder(_Object)
_WHOLE = msgspec.json.Decoder(_Object | list[_Object])


def read(raw: bytes, place: Place, given: Given) -> list[Run]:
    """Return the runs of ``raw``; a line or a file that is cut off gives a broken run.

    Raises ``Misused`` where the JSON is whole but not of this form.
    """
    try:
        whole = decode_line(raw, _WHOLE, _Object | list[_Object])
    except msgspec.ValidationError as error:
        raise refuse(place, f"{error}", EXPECTED) from None
    except msgspec.DecodeError as error:
        # "Input data was truncated" names no place: it is the end
        at = "" if "byte" in str(error) else f" (byte {len(raw)})"
        return _lines(raw, place, given, f"{error}{at}")
    objects = whole if isinstance(whole, list) else [whole]
    return [_run(item, place, given) for item in objects]


def _lines(raw: bytes, place: Place, given: Given, reason: str) -> list[Run]:
    """Return the runs of one object a line, up to the first that is damaged."""
    runs: list[Run] = []
    for number, offset, line in lines(raw):
        where = Place(place.source, number, offset)
        try:
            runs.append(_run(decode_line(line, _ONE, _Object), where, given))
        except msgspec.ValidationError as error:
            raise refuse(where, f"{error}", EXPECTED) from None
        except msgspec.DecodeError as error:
            # One object over several lines has no good first line: then the whole's reason is the better one.
            damage = f"{where}: damaged: {error}" if runs else f"{place.source}: damaged: {reason}"
            runs.append(Run(run_id=0, source=place.source, broken=damage))
            break
    return runs


def _run(item: _Object, place: Place, given: Given) -> Run:
    names = Aligner()
    tests: dict[str, Test] = {}
    for test in item.tests:
        name = names.name(test.nodeid)
        own_seed = test.seed if test.seed is not None else item.seed
        own_hash = test.fixture_hash if test.fixture_hash is not None else item.fixture_hash
        tests[name] = Test(
            nodeid=name,
            outcome=test.outcome,
            seed=given.seed_or(own_seed),
            fixture_hash=given.hash_or(own_hash),
            message=bound(test.message or ""),
            exception=test.exception or "",
            fingerprint=test.fingerprint or "",
            duration=test.duration or 0.0,
            fixtures=test.fixtures,
            attempts=test.attempts,
        )
    number, nonce = _identity(item.run_id)
    return Run(
        run_id=number,
        nonce=nonce,
        source=place.source,
        world=item.world,
        condition=item.condition,
        seed=given.seed_or(item.seed),
        tests=tests,
        collected=tuple(tests),
    )


def _identity(run_id: int | str) -> tuple[int, str]:
    """Return (number, nonce): an id that is no number, a UUID say, still tells runs apart."""
    if isinstance(run_id, int):
        return run_id, ""
    if run_id.isascii() and run_id.isdigit() and len(run_id) < 19:
        return int(run_id), ""
    return 0, run_id
