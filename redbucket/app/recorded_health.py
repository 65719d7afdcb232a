"""Puts doctor's look at recorded fixtures and freezes together with the real world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from redbucket.app import fixture_verify
from redbucket.app.session import Session
from redbucket.core.attributes import NAME, Attributes
from redbucket.core.errors import RedbucketError
from redbucket.core.fixers import Fixer, fixers, rewritable
from redbucket.core.manifests import Scope
from redbucket.core.patch import Entry
from redbucket.core.paths import JudgeSide
from redbucket.core.policy import Policy
from redbucket.core.report import GateReport, Verdict
from redbucket.engine import doctor, doctor_recorded

_PRE_COMMIT = ".pre-commit-config.yaml"
_SNIFFED = 8000  # git looks for a NUL in as many bytes (buffer_is_binary)
_LARGEST = 256 * 1024  # what is larger is hardly reformatted, and costs time


def checks(opened: Session, entries: Mapping[str, Entry], policy: Policy) -> Iterator[doctor.Check]:
    """Yield the checks of ``entries``, base's files."""
    side = JudgeSide(policy)
    scope = Scope(side)
    manifests = sorted(p for p in scope.candidates(entries) if scope.is_manifest(p) or scope.locked_by(p))
    yield _lock(opened, manifests, sum(side.is_fixture(path) for path in entries))
    recorded = [path for path, entry in entries.items() if entry.is_file and scope.is_recorded(path)]
    if recorded:
        content = _content(opened, {path: entries[path].oid for path in recorded})
        given = rewritable(_fixers(opened), recorded, lambda path: _tags(path, content.get(path)))
        if check := doctor_recorded.rewriters(given):
            yield check
        files = [(p, opened.scratch.read(e.oid)) for p, e in entries.items() if _speaks(p, e)]
        texts = [path for path, raw in content.items() if b"\n" in raw and _is_text(raw)]
        if check := doctor_recorded.line_ends(Attributes(files), texts, policy.fixtures.paths):
            yield check
    yield _freezes(opened)


def _speaks(path: str, entry: Entry) -> bool:
    return path.rpartition("/")[2] == NAME and entry.is_file


def _lock(opened: Session, manifests: list[str], fixtures: int) -> doctor.Check:
    if not manifests:
        return doctor_recorded.lock(GateReport(verdict=Verdict.ACCEPT, exit_code=0), manifests, fixtures)
    top = opened.repository.work_tree
    start = top or opened.repository.git_dir
    try:
        verified = fixture_verify.run(start, (), revision=None if top else "HEAD")
    except RedbucketError as error:
        return doctor.failed("fixture-lock", error)
    return doctor_recorded.lock(fixture_verify.report_of(verified), manifests, fixtures)


def _freezes(opened: Session) -> doctor.Check:
    from redbucket.app.flakes_desk import flakes_bytes, tree_to_check
    from redbucket.core.flakes import parse
    from redbucket.core.policy import FLAKES_NAME
    from redbucket.engine.flakes import RULE
    from redbucket.engine.subject import Request

    try:
        raw = flakes_bytes(opened)
        if raw is None:
            return doctor.ok("freezes", "none")
        tree = tree_to_check(opened)
        report = opened.guard(Request(), (RULE,), tree=tree, scope="tree")
        return doctor_recorded.freezes(report, len(parse(raw, FLAKES_NAME).entries))
    except RedbucketError as error:
        return doctor.failed("freezes", error)


def _content(opened: Session, oids: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of the paths that are not large."""
    sizes = opened.scratch.objects.sizes(oids.values())
    small = {oid for oid in oids.values() if sizes[oid] <= _LARGEST}
    blobs = opened.scratch.read_blobs(small)
    return {path: blobs[oid] for path, oid in oids.items() if oid in small}


def _fixers(opened: Session) -> list[Fixer]:
    import yaml

    top = opened.repository.work_tree
    place = top / _PRE_COMMIT if top is not None else None
    if place is None or not place.is_file():
        return []
    try:
        return fixers(yaml.safe_load(place.read_bytes()))
    except (yaml.YAMLError, ValueError):  # said by the checks of the hooks
        return []


def _tags(path: str, raw: bytes | None) -> frozenset[str]:
    """Return a path's types, as pre-commit sees them; ``raw`` is its content, None for a large one."""
    from identify import identify

    found = frozenset(identify.tags_from_filename(path)) | {"file"}
    if found & {"text", "binary"}:
        return found
    return found | {"binary" if raw is None or not _is_text(raw) else "text"}


def _is_text(raw: bytes) -> bool:
    return b"\0" not in raw[:_SNIFFED]
