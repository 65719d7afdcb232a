"""redbucket's own record: JSON Lines of ``core.records`` events."""

from __future__ import annotations

import msgspec

from redbucket.core.fingerprint import Aligner, normalise_nodeid
from redbucket.core.readers.common import Place, events, refuse, text
from redbucket.core.records import (
    SCHEMA,
    Collected,
    Footer,
    Header,
    Outcome,
    Restart,
    Run,
    Session,
    Start,
    Test,
)


class _End(Test, frozen=True, kw_only=True, tag_field="event", tag="end", gc=False):
    """An ``End`` read straight into a ``Test``: at 100,000 tests the detour is what takes the time."""


_Event = Header | Session | Collected | Start | _End | Restart | Footer
_DECODER = msgspec.json.Decoder(_Event)
_NEVER_ENDED = "it started and never ended"


def read(raw: bytes, place: Place) -> list[Run]:
    """Return one run for each header in ``raw``.

    The first damaged line ends the reading: the run in which it stands keeps
    what came before and is broken. A run without a footer is broken too.
    Raises ``Misused`` for a schema of another version.
    """
    found, damage = events(raw, place, _DECODER, _Event)
    runs: list[Run] = []
    building: _Building | None = None
    for event in found:
        if isinstance(event, Header):
            if building is not None:
                runs.append(building.finish(""))
            if event.schema != SCHEMA:
                raise refuse(place, f"its schema is {event.schema!r}", SCHEMA)
            building = _Building(event, place.source)
        elif building is None:
            building = _Building(Header(run_id=0), place.source)
            building.broken = f"{place.source}: the record has no header"
            building.take(event)
        else:
            building.take(event)
    if building is None:
        building = _Building(Header(run_id=0), place.source)
    runs.append(building.finish(damage))
    return runs


class _Building:
    """A run while its events are read."""

    def __init__(self, header: Header, source: str) -> None:
        self.header = header
        self.source = source
        self.broken = ""
        self.session = Session()
        self.collected: list[str] = []
        self.errors: dict[str, str] = {}
        self.tests: dict[str, Test] = {}
        self.open: dict[str, str] = {}  # started and not ended: id to name
        self.cost: dict[str, str] = {}  # given up by a restart, in case its end still comes
        self.names = Aligner()
        self.footer: Footer | None = None

    def take(self, event: _Event) -> None:
        """Add one event."""
        if self.footer is not None and not self.broken:
            self.broken = f"{self.source}: the record goes on after its footer"
        if isinstance(event, _End):
            self._end(event)
        elif isinstance(event, Start):
            self._start(event)
        elif isinstance(event, Collected):
            self.collected += event.ids
            self.errors.update(event.errors)
        elif isinstance(event, Restart):
            self._restart(event)
        elif isinstance(event, Session):
            self.session = event
        elif isinstance(event, Footer):
            self.footer = event

    def _start(self, start: Start) -> None:
        name = self.names.name(start.nodeid)
        before = self.open.get(start.nodeid)
        if before is not None:
            self.tests[before] = self._lost(before, Outcome.CRASHED, _NEVER_ENDED)
        self.open[start.nodeid] = name

    def _end(self, end: _End) -> None:
        # By id alone: the parent writes the end of a lost test, and does not know its index.
        nodeid = end.nodeid
        name = self.open.pop(nodeid, None) or self.cost.pop(nodeid, None) or self.names.name(nodeid)
        # The seed is as the process saw it, not the header's: a runner that scrubs the environment drops it.
        seed = end.seed.strip()
        if name != nodeid or seed != end.seed:
            end = msgspec.structs.replace(end, nodeid=name, seed=seed)
        self.tests[name] = end

    def _restart(self, restart: Restart) -> None:
        """The test that was running is what the crash or the hang cost."""
        slow = any(word in restart.reason.lower() for word in ("timeout", "timed out", "hang", "hung"))
        outcome = Outcome.TIMEOUT if slow else Outcome.CRASHED
        for key in [restart.nodeid] if restart.nodeid else list(self.open):
            name = self.open.pop(key, None)
            if name is not None:
                self.cost[key] = name
                self.tests[name] = self._lost(name, outcome, restart.reason)

    def _lost(self, name: str, outcome: Outcome, reason: str) -> Test:
        return Test(nodeid=name, outcome=outcome, seed=text(self.header.seed), message=reason)

    def finish(self, damage: str) -> Run:
        """Return the run; ``damage`` is what ended the reading, "" for the end of the file."""
        # Ids are unique where the recorder wrote them; a resumed process may name the rest once more.
        collected = tuple(dict.fromkeys(map(normalise_nodeid, self.collected)))
        broken = damage or self.broken or self._incomplete(collected)
        for name in self.open.values():
            self.tests[name] = self._lost(name, Outcome.CRASHED, _NEVER_ENDED)
        footer = self.footer or Footer(complete=False)
        return Run(
            run_id=self.header.run_id,
            source=self.source,
            world=self.header.world,
            condition=self.header.condition,
            tree=self.header.tree,
            seed=text(self.header.seed),
            nonce=self.header.nonce,
            tests=self.tests,
            collected=collected,
            errors=self.errors,
            session=self.session,
            broken=broken,
            foreign=footer.foreign,
            elsewhere=footer.elsewhere,
            parts=footer.parts,
            pinned=tuple(footer.pinned),
            sentinels=footer.sentinels,
            tampered=tuple(footer.tampered),
            prepared=tuple(footer.prepared),
            patched=tuple(footer.patched),
            dropped=tuple(footer.dropped),
            unwatched=tuple(footer.unwatched),
            appeared=tuple(footer.appeared),
            unplayed=footer.unplayed,
            openers=footer.openers,
            duration=footer.duration,
            header=self.header,
        )

    def _incomplete(self, collected: tuple[str, ...]) -> str:
        source = self.source
        if self.footer is None:
            last = next(reversed(self.open.values()), "")
            running = f", last started: {last}" if last else ""
            return f"{source}: it has no footer, so the run did not end{running}"
        if not self.footer.complete:
            return f"{source}: the run is incomplete: {self.footer.reason or 'no reason given'}"
        if self.open:
            return f"{source}: {next(iter(self.open.values()))} started and never ended"
        # Not one test ran: a run that was only to collect.
        lost = [name for name in collected if name not in self.tests] if self.tests else []
        if lost:
            return (
                f"{source}: {len(lost)} of {len(collected)} collected tests have no result, {lost[0]} first"
            )
        return ""
