"""The axes along which a test may flip: what each experiment changes, and the fix that fits the cause."""

from __future__ import annotations

from calendar import isleap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec

from redbucket.core.conditions import PLAIN, Conditions

LEAP_DAY = "a leap day, a year ahead or more"


@dataclass(frozen=True)
class Variant:
    """One value of an axis: fields of the spec that it replaces, and how a shell shows it."""

    name: str
    change: dict[str, Any] = field(default_factory=dict)
    shell: str = ""


@dataclass(frozen=True)
class Axis:
    """``pins``: the variants hold still what otherwise varies, so that they tell a mixed test, too.

    ``rates``: an effect that is a matter of chance, so that rates are compared. ``quiet``: the runs
    must not stand side by side. ``again``: each run uses what an equal one left behind.
    ``needs``: of no use unless the recorder saw one of these. ``hints``: goes first if it saw one of these.
    ``slows``: a test that is cut off for its time says nothing.
    ``plain``: how a shell gives a test what it has without a variant; ``recorded``: the recorder alone acts on it.
    ``together``: of no effect on a test that passes with all axes of that group changed at once. ``draws``: its
    values harm nothing by themselves, so that a test that fails with all such axes changed at once is not
    flipped by one. ``alike``: they may harm, so that this holds only if it fails in the very way that it does by
    itself.
    """

    cause: str
    variants: tuple[Variant, ...]
    fix: str
    pins: bool = False
    rates: bool = False
    quiet: bool = False
    again: bool = False
    needs: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()
    together: str = ""
    draws: bool = False
    alike: bool = False
    slows: bool = False
    plain: str = ""
    recorded: bool = False


# Not at once with the clock: it is midnight in one zone only.
_INSIDE, _AROUND = "inside", "around"
# The HOME of a run holds a git identity and nothing else.
_PLAIN_HOME = (
    'export HOME="$(mktemp -d)"; git config --global user.name Test; '
    "git config --global user.email test@example.invalid; git config --global init.defaultBranch main;"
)
FIX_ORDER = {
    "victim": "make the polluter put back what it changes (a fixture, monkeypatch, addCleanup), "
    "or stop sharing that state",
    "brittle": "let the test set up by itself what it needs, in a fixture of its own",
}
FIX_INCONSISTENT = (
    "make what the property calls depend on its input alone: no state that outlives one example"
)


def axes(other_seed: Callable[[str], str], now: float, spinners: int, seed: str) -> tuple[Axis, ...]:
    """Return the axes besides order, the likeliest and cheapest first. ``now`` is in seconds since 1970.

    ``seed`` is what TEST_SEED and PYTHONHASHSEED are in a run that changes nothing.
    """
    return (
        Axis(
            "hash order",
            tuple(_hash(other_seed(f"hash {n}")) for n in range(1, 7)),
            "sort what comes from a set or a dict of a set, or compare without order",
            together=_INSIDE,
            draws=True,
            plain=f"PYTHONHASHSEED={seed}",
        ),
        Axis(
            "random seed",
            tuple(_seed(other_seed(f"seed {n}")) for n in range(1, 7)),
            "the inputs of some seeds fail: if they are legal inputs the code is wrong (keep the seed as a test); "
            "else draw from the legal ones",
            hints=frozenset({"random"}),
            together=_INSIDE,
            draws=True,
            plain=f"TEST_SEED={seed}",
            recorded=True,
        ),
        Axis(
            "system entropy",
            tuple(
                Variant(f"entropy {n}", {"conditions": Conditions(entropy=other_seed(f"entropy {n}"))})
                for n in range(1, 9)
            ),
            "pass the random source or the id in, and give it a fixed one in the test",
            pins=True,
            hints=frozenset({"urandom"}),
            together=_INSIDE,
            draws=True,
        ),
        Axis(
            "clock",
            tuple(_instant(name, at) for name, at in instants(now)),
            "pass the time in, or freeze it in the test; a date that is written down ends one day",
            pins=True,
            together=_INSIDE,
        ),
        Axis(
            "time zone",
            tuple(_env("TZ", zone) for zone in ("Pacific/Auckland", "America/Los_Angeles", "Asia/Kolkata")),
            "use aware times in one zone, or set the zone in the test",
            together=_AROUND,
            alike=True,
            plain="TZ=UTC",
        ),
        Axis(
            "locale",
            (
                Variant(
                    "LC_ALL=C, LANG=C",
                    {
                        "conditions": Conditions(
                            env={"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
                        )
                    },
                    "LC_ALL=C LANG=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
                ),
                _env("LC_ALL", "de_DE.UTF-8"),
            ),
            'name the encoding (encoding="utf-8") and the locale where they matter',
            together=_AROUND,
            alike=True,
            plain='LANG="${LANG:-C.UTF-8}"',
        ),
        Axis(
            "terminal width",
            (_env("COLUMNS", "40"), _env("COLUMNS", "240")),
            "give the width to what prints, or compare without line breaks",
            together=_AROUND,
            alike=True,
            plain="env -u COLUMNS",
        ),
        Axis(
            "umask",
            (
                Variant("umask 077", {"conditions": Conditions(umask=0o77)}, "umask 077;"),
                Variant("umask 000", {"conditions": Conditions(umask=0)}, "umask 000;"),
            ),
            "set the mode that is wanted with chmod; the mode that open() gives is the user's",
            together=_AROUND,
            alike=True,
        ),
        Axis(
            "home folder",
            (Variant("an empty HOME", {"conditions": Conditions(empty_home=True)}, 'HOME="$(mktemp -d)"'),),
            "let the test bring its own configuration, and point HOME at it",
            together=_AROUND,
            alike=True,
            plain=_PLAIN_HOME,
        ),
        Axis(
            "directory order",
            tuple(
                Variant(f"folders listed in {how} order", {"conditions": Conditions(listing=how)})
                for how in ("descending", "ascending")
            ),
            "sort what comes from a folder",
            together=_AROUND,
            alike=True,
        ),
        Axis(
            "leftover files",
            (Variant("the HOME and TMPDIR of a run before"),),
            "use tmp_path, or remove what an earlier run may have left before the test starts",
            again=True,
        ),
        Axis(
            "leftover state",
            (Variant("a second run in the same process", {"conditions": Conditions(twice=True)}),),
            "the test changes what it depends on: put it back at its end, or set it at its start",
        ),
        Axis(
            "subprocess",
            (
                Variant(
                    "child processes that start half a second late",
                    {"conditions": Conditions(late_children=0.5)},
                ),
            ),
            "wait for the child, or for what it makes, with a generous limit",
            needs=frozenset({"subprocess"}),
            hints=frozenset({"subprocess"}),
            slows=True,
        ),
        Axis(
            "network",
            (Variant("the network denied", {"conditions": Conditions(no_network=True)}),),
            "replace the remote side by a fake, or by a recorded answer",
            needs=frozenset({"network"}),
            hints=frozenset({"network"}),
        ),
        Axis(
            "concurrency",
            (
                Variant(
                    "threads switched every microsecond", {"conditions": Conditions(switch_interval=1e-6)}
                ),
                Variant("threads switched every 5 seconds", {"conditions": Conditions(switch_interval=5.0)}),
            ),
            "a race: guard the shared state with a lock, or join before the assertion. "
            "If it is in the product, it is a bug",
            rates=True,
            hints=frozenset({"thread"}),
            together=_INSIDE,
        ),
        Axis(
            "load",
            (Variant(f"{spinners} busy processes beside it", {"conditions": Conditions(load=spinners)}),),
            "wait for the event itself (with a generous limit) instead of for a time",
            rates=True,
            quiet=True,
        ),
    )


def at_once(group: Sequence[Axis]) -> list[dict[str, Any]]:
    """Return fields of the spec that change all axes of ``group`` at once, until each variant had its turn.

    The nth changes each to its nth variant, from the first again where there are fewer. What is a matter of rates has
    its first variant each time: that is the one in which it fails more often.
    """
    found = []
    for number in range(max((len(axis.variants) for axis in group), default=0)):
        fields: dict[str, Any] = {}
        changed: dict[str, Any] = {}
        env: dict[str, str] = {}
        for axis in group:
            change = dict(axis.variants[0 if axis.rates else number % len(axis.variants)].change)
            given = change.pop("conditions", PLAIN)
            fields.update(change)
            changed.update({k: v for k, v in msgspec.structs.asdict(given).items() if v != getattr(PLAIN, k)})
            env.update(given.env)
        found.append({**fields, "conditions": Conditions(**{**changed, "env": env})})
    return found


def instants(now: float) -> tuple[tuple[str, float], ...]:
    """Return (name, seconds since 1970) of times of day and dates at which code trips, whatever day ``now`` is."""
    today = datetime.fromtimestamp(now, timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    midnight, noon = today + timedelta(days=1), today + timedelta(hours=12)
    named = (
        ("noon", noon),
        ("noon and a second", noon + timedelta(seconds=1)),
        ("just before midnight", midnight - timedelta(milliseconds=30)),
        ("just after midnight", midnight + timedelta(milliseconds=20)),
        _other_kind_of_day(noon),
        ("the last day of a year", _last_day(noon)),
        (LEAP_DAY, _leap_day(noon + timedelta(days=366))),
        ("two years ago", noon - timedelta(days=731)),
    )
    return tuple((f"{name} ({_utc(at)})", at.timestamp()) for name, at in named)


def _other_kind_of_day(noon: datetime) -> tuple[str, datetime]:
    """The next day of a weekend, and on one the next day of work."""
    weekday = noon.weekday()
    if weekday < 5:
        return "the next Saturday", noon + timedelta(days=5 - weekday)
    return "the next Monday", noon + timedelta(days=7 - weekday)


def _last_day(noon: datetime) -> datetime:
    """31 December: the end of a month, of a year, and in most years a week that counts for the next one."""
    last = noon.replace(month=12, day=31)
    return last if last > noon else last.replace(year=last.year + 1)


def _leap_day(noon: datetime) -> datetime:
    year = noon.year if (noon.month, noon.day) <= (2, 29) else noon.year + 1
    while not isleap(year):
        year += 1
    return noon.replace(year=year, month=2, day=29)


def _utc(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _instant(name: str, at: float) -> Variant:
    return Variant(name, {"conditions": Conditions(clock=at)})


def _hash(seed: str) -> Variant:
    return Variant(f"PYTHONHASHSEED={seed}", {"hash_seed": seed}, f"PYTHONHASHSEED={seed}")


def _seed(seed: str) -> Variant:
    return Variant(f"TEST_SEED={seed}", {"seed": seed}, f"TEST_SEED={seed}")


def _env(name: str, value: str) -> Variant:
    return Variant(f"{name}={value}", {"conditions": Conditions(env={name: value})}, f"{name}={value}")
