"""Text of ``draft``: what is proposed, where it lies, what comes next."""

from __future__ import annotations

from redbucket.core.drafted import DraftReport
from redbucket.core.plural import plural
from redbucket.formats.clean import line, shell

_BY = {
    "law": "a law that fits",
    "base": "base as the oracle",
    "ghostwriter": "the ghostwriter",
    "model": "a model",
}


def draft_text(report: DraftReport) -> str:
    """Return what was drafted."""
    out = []
    for miss in report.misses:
        more = f" (and {plural(len(miss.also), 'more row')})" if miss.also else ""
        out.append(line(miss.nodeid) + more)
        if miss.refused:
            out.append(f"  nothing to draft: {line(miss.refused)}")
            continue
        if miss.functions:
            held = plural(miss.held, "holds", "hold")
            out.append(
                f"  {', '.join(map(line, miss.functions))}: {plural(miss.candidates, 'candidate')}, {held} on base, "
                f"{len(miss.proposals)} proposed"
            )
        for one in miss.proposals:
            alone = "" if one.drawn else " by its explicit example alone"
            tried = f"holds on base, fails on the patch{alone}" if one.tried else "not run"
            out.append(f"  {line(one.file)}: {line(one.says)} ({_BY[one.by]}; {tried})")
        out += [f"  note: {line(note)}" for note in miss.notes]
    written = [one.file for miss in report.misses for one in miss.proposals]
    if written:
        place = f"{report.folder.rstrip('/')}/{written[0]}"
        out.append(
            f"  do this: redbucket review {shell(place)} --base {report.base[:12]} --head {report.head[:12]}"
        )
    out += [f"  note: {line(note)}" for note in report.notes]
    where = f"written to {line(report.folder)}" if written else "nothing was written"
    out.append(f"  {report.seconds:.0f} s; {where}")
    return "\n".join(out)
