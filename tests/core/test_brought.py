"""Records of other jobs: whatever of a seal or a record is changed, it does not count."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.brought import Expected, Offer, accepted
from redbucket.core.runspec import RunSpec
from redbucket.core.seals import Seal, Ticket, digest_of, is_genuine, sealed, spec_digest

TICKET = Ticket(
    base="b" * 40, head="h" * 40, reruns=3, scope="all", timeout=60, of=3, runs=[1, 2, 3], key="ab" * 32
)
EXPECTED = Expected(
    version="1+aa",
    base=TICKET.base,
    head=TICKET.head,
    tree="t" * 40,
    policy="p",
    specs=("s1", "s2", "s3"),
    environment={"Python": "3.12", "numpy": "2.0"},
)
RECORD = b'{"event":"header"}\n'


def seal(number: int = 2, ticket: Ticket = TICKET, **other: Any) -> Seal:
    plain = Seal(
        version=EXPECTED.version,
        ticket=ticket.name,
        base=EXPECTED.base,
        head=EXPECTED.head,
        tree=EXPECTED.tree,
        run=number,
        of=3,
        policy=EXPECTED.policy,
        spec=EXPECTED.specs[number - 1],
        environment=dict(EXPECTED.environment),
        record=hashlib.sha256(RECORD).hexdigest(),
    )
    return sealed(msgspec.structs.replace(plain, **other), ticket)


def offer(number: int = 2, raw: bytes | None = RECORD, **other: Any) -> Offer:
    return Offer(f"run-{number}.jsonl", raw, msgspec.json.encode(seal(number, **other)))


def codes(*offers: Offer) -> list[str]:
    return [p.code for p in accepted(offers, TICKET, EXPECTED)[1] if p.code != "record-missing"]


def test_three_good_ones() -> None:
    good, problems = accepted([offer(2), offer(1), offer(3)], TICKET, EXPECTED)
    assert (sorted(good), problems) == ([1, 2, 3], [])


def test_each_thing_that_a_run_depends_on() -> None:
    """A seal that was honestly made for something else."""
    for other, code in (
        ({"version": "1+bb"}, "record-settings"),
        ({"tree": "u" * 40}, "record-settings"),
        ({"policy": "q"}, "record-settings"),
        ({"spec": "s1"}, "record-settings"),
        ({"of": 5}, "record-settings"),
        ({"run": 7}, "record-foreign"),
        ({"base": "c" * 40}, "record-foreign"),
        ({"head": "i" * 40}, "record-foreign"),
        ({"record": "00"}, "record-changed"),
        ({"environment": {"Python": "3.11", "numpy": "2.0"}}, "other-environment"),
        ({"environment": {"Python": "3.12"}}, "other-environment"),
        ({"environment": {"Python": "3.12", "numpy": "2.0", "evil": "1"}}, "other-environment"),
        ({"schema": "redbucket.seal/9"}, "record-foreign"),
    ):
        assert codes(offer(2, **other)) == [code], other


def test_a_difference_of_environments_is_named() -> None:
    _, problems = accepted([offer(2, environment={"Python": "3.11", "numpy": "2.0"})], TICKET, EXPECTED)
    assert "Python 3.11, and 3.12 here" in problems[0].reason


@given(st.sampled_from(Seal.__struct_fields__), st.text(max_size=80))
def test_no_field_of_a_seal_can_be_set_by_hand(name: str, text: str) -> None:
    honest = seal()
    value: object = text
    if name in ("run", "of"):
        value = len(text) + 4
    if name == "environment":
        value = {"Python": text}
    if value == getattr(honest, name):
        return
    changed = msgspec.structs.replace(honest, **{name: value})
    assert codes(Offer("r", RECORD, msgspec.json.encode(changed)))
    if name not in ("ticket", "mac"):
        assert not is_genuine(changed, TICKET)


@given(st.binary(max_size=60))
def test_no_other_bytes_count(raw: bytes) -> None:
    if raw != RECORD:
        assert codes(offer(2, raw)) == ["record-changed"]
    assert codes(Offer("r", RECORD, raw)) == ["record-forged"]


def test_the_name_of_a_ticket_is_not_its_key() -> None:
    other = msgspec.structs.replace(TICKET, key="ac" * 32)
    assert TICKET.name != other.name
    assert TICKET.name not in TICKET.key
    assert not is_genuine(seal(ticket=other), TICKET)


def test_a_spec_is_told_from_any_other() -> None:
    spec = RunSpec(run_id=1, world="H", tree="t", seed="7", lines={"b.py": (2,), "a.py": (1,)})
    same = RunSpec(run_id=1, world="H", tree="t", seed="7", lines={"a.py": (1,), "b.py": (2,)})
    assert spec_digest(spec) == spec_digest(same)
    assert spec_digest(RunSpec(run_id=1, world="H", tree="t", seed="7")) != spec_digest(spec)
    assert digest_of({"path\udcff": 1}) != digest_of({"path": 1})
