"""The report as JSON, schema ``redbucket.gate/1``."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from redbucket.core.report import SCHEMA, GateReport
from redbucket.formats import phrases
from redbucket.formats.clean import utf8

# What a terminal would obey. JSON can say these by number, so nothing is lost.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

# Section 3 of the design: what every document has, whatever is added later.
_PROMISED = {
    "GateReport": "schema verdict exit_code base head merge_tree seed identity tests findings",
    "IdentityReport": "agent marks",
    "Row": "nodeid bucket introduced cause why spend doubt outcomes fixtures",
    "Finding": "rule severity path nodeid reason remedy",
}


def render(report: GateReport, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """Return ``report`` as indented JSON; the options change nothing."""
    if not report.summary:
        report = msgspec.structs.replace(report, summary=phrases.summary(report))
    try:
        encoded = msgspec.json.encode(report, order="deterministic")
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_escaped(msgspec.to_builtins(report)), order="deterministic")
    text = msgspec.json.format(encoded, indent=2).decode()
    return _OBEYED.sub(lambda m: f"\\u{ord(m[0]):04x}", text) + "\n"


def read_back(report: GateReport) -> GateReport:
    """Return a report that was read from JSON as it was before: without the summary that ``render`` made."""
    plain = msgspec.structs.replace(report, summary="")
    return plain if report.summary == phrases.summary(plain) else report


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what ``render`` gives."""
    built = msgspec.json.schema(GateReport)
    for name, fields in _PROMISED.items():
        built["$defs"][name]["required"] = sorted(
            {*fields.split(), *built["$defs"][name].get("required", ())}
        )
    built["$defs"]["GateReport"]["properties"]["schema"] = {"const": SCHEMA}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **built}


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, dict):
        return {utf8(key): _escaped(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(item) for item in value]
    return value
