"""What ``flakes add`` asks for, before anything is written."""

from __future__ import annotations

from datetime import date

from redbucket.core.errors import Misused
from redbucket.core.flakes import Freeze, latest
from redbucket.core.freezefields import bad_id, one_line, read_expiry, replay_trouble


def requested(
    nodeid: str, fields: dict[str, str], replay: str, today: date, max_days: int, name: str
) -> Freeze:
    """Return the entry that the fields make. Raises Misused, with all that is wrong in one line."""
    faults = [fault for fault in (bad_id(nodeid),) if fault]
    faults += [
        f"--{key} is missing" for key in ("owner", "ticket", "expires") if not fields.get(key, "").strip()
    ]
    if not replay.strip():
        faults.append("--replay is missing")
    elif trouble := replay_trouble(replay):
        faults.append(trouble)
    expires = None
    if fields.get("expires", "").strip():
        expires, fault = read_expiry(fields["expires"])
        if expires is None:
            faults.append(fault)
        elif expires < today:
            faults.append(f"{expires} is over (today is {today}, UTC)")
        elif expires > latest(today, max_days):
            faults.append(
                f"{expires} is more than {max_days} days ahead: {latest(today, max_days)} is the last day"
            )
    if faults:
        raise Misused(
            "freeze-incomplete",
            f"no freeze of {one_line(nodeid)[:200]}: {'; '.join(faults)}",
            f"give --owner, --ticket, --expires (at most {max_days} days ahead: [freeze] max_days) and --replay; "
            f"{name} is not touched",
        )
    owner, ticket, reason = (one_line(fields.get(key, "")).strip() for key in ("owner", "ticket", "reason"))
    return Freeze(nodeid, (nodeid,), owner, ticket, expires, replay, reason)
