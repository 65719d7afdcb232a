"""Makes the reference from the code: commands, policy, rules, schemas, exit codes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec
import tomlkit

from redbucket.cli import app
from redbucket.core import policy
from redbucket.core.doubt import chance_mixed, doubt
from redbucket.core.driftreport import DriftReport
from redbucket.core.errors import EXIT_CODES
from redbucket.core.explanation import Explanation
from redbucket.core.flakeslist import FlakesReport
from redbucket.core.ledgerlines import Line
from redbucket.core.records import Collected, End, Footer, Header, Restart, Session, Start
from redbucket.core.replayreport import ReplayReport
from redbucket.core.seals import Seal, Ticket
from redbucket.engine.classify import TestRow
from redbucket.engine.doctor import DoctorReport
from redbucket.formats.rules import ENDORSABLE, RULES
from redbucket.guards.registry import GUARDS
from tests.docs.sheets import TOP

DOCS = TOP / "docs"
_SHARED = ("folder", "quiet", "verbose")


def cell(text: str) -> str:
    """Return a text that stays in one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table, without the columns in which no row has anything."""
    kept = [n for n in range(len(head)) if n == 0 or any(row[n] for row in rows)]
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line[n] for n in kept)} |\n" for line in lines)


# --- commands


def _commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if not command.hidden:
            yield (*above, name), command
            if isinstance(command, click.Group):
                yield from _commands(command, *above, name)


def commands() -> str:
    """Return a section for each command: what it does, its options, its examples."""
    version = [p for p in app.params if p.name == "version"]
    parts = [_options(version + [p for p in _leaf(app).params if p.name in _SHARED])]
    for words, command in _commands(app):
        parts.append(f"## redbucket {' '.join(words)}\n\n{_help(command)}")
        own = [p for p in command.params if p.name not in _SHARED]
        if own:
            parts.append(_options(own))
    return "What every command takes:\n\n" + "\n".join(parts)


def _leaf(group: click.Group) -> click.Command:
    return next(c for _, c in _commands(group) if not isinstance(c, click.Group))


def _help(command: click.Command) -> str:
    """Return the help as Markdown: prose, and what stands indented in it as examples."""
    shown, examples = list[str](), list[str]()
    for line in inspect.cleandoc(command.help or "").replace("\b\n", "").splitlines():
        if line.startswith("  "):
            examples.append(line[2:])
        else:
            shown.append(line)
    text = re.sub(r"\n{2,}", "\n\n", "\n".join(shown)).strip()
    return f"{text}\n" + (f"\n```text\n{chr(10).join(examples)}\n```\n" if examples else "")


def _options(params: list[click.Parameter]) -> str:
    rows = []
    for param in params:
        if isinstance(param, click.Option):
            if param.hidden:
                continue
            said = cell(param.help or "")
            default = param.default
            shown = (
                isinstance(default, (str, int, float))
                and not isinstance(default, bool)
                and param.show_default
            )
            more = f" Default: {default}." if shown else ""
            names = ", ".join(f"`{name}`" for name in sorted(param.opts + param.secondary_opts, key=len))
            rows.append((names, _value(param), said + more))
        else:
            rows.append((f"`{param.make_metavar(click.Context(app))}`", "", ""))
    return table(("option", "takes", ""), rows)


def _value(option: click.Option) -> str:
    kind = option.type
    if option.is_flag or option.count:
        return ""
    if isinstance(kind, click.Choice):
        words = ", ".join(f"`{word}`" for word in kind.choices)
    elif isinstance(kind, (click.IntRange, click.FloatRange)):
        words = "a number" + (f", {kind.min} to {kind.max}" if kind.max is not None else "")
    elif isinstance(kind, click.Path):
        words = "a path"
    else:
        words = f"`{cell(option.metavar)}`" if option.metavar else "a number" if kind is click.INT else "text"
    return words + ("; several times" if option.multiple else "")


# --- the policy


def _tables() -> Iterator[tuple[str, Mapping[str, Any]]]:
    made = policy.schema()
    for name, field in made["$defs"]["Policy"]["properties"].items():
        reference = field.get("$ref") or field["allOf"][0]["$ref"]
        yield name, made["$defs"][reference.rpartition("/")[2]]


def whole_policy() -> str:
    """Return a policy that has every key at its default."""
    document = tomlkit.document()
    for name, described in _tables():
        made = tomlkit.table()
        for key, field in described["properties"].items():
            made.add(key, field["default"])
        document.add(name, made)
    return tomlkit.dumps(document)


def policy_keys() -> str:
    """Return a section for each table of the policy."""
    parts = []
    for name, described in _tables():
        rows = [
            (f"`{key}`", _kind(field), f"`{json.dumps(field['default'])}`", cell(field["description"]))
            for key, field in described["properties"].items()
        ]
        parts.append(
            f"## [{name}]\n\n{described['description']}\n\n{table(('key', 'takes', 'default', 'is'), rows)}"
        )
    volatile = policy.schema()["$defs"]["Volatile"]
    rows = [
        (
            f"`{key}`",
            _kind(field),
            f"`{json.dumps(field['default'])}`" if "default" in field else "",
            cell(field["description"]),
        )
        for key, field in volatile["properties"].items()
    ]
    parts.append(
        f"## [[fixtures.volatile]]\n\n{volatile['description']}\n\n{table(('key', 'takes', 'default', 'is'), rows)}"
    )
    return f"```toml\n{whole_policy()}```\n\n" + "\n".join(parts)


def _kind(field: Mapping[str, Any]) -> str:
    """Return what a value may be, in a few words."""
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_kind(one) for one in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    kind = field.get("type")
    if kind == "array":
        # a list of lists of lists stands nowhere
        return f"list of {_kind(field['items'])}" if field.get("items") else "list"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"table of {_kind(values)}" if isinstance(values, dict) and values else "table"
    if kind in ("number", "integer"):
        return ("number" if kind == "number" else "whole number") + _range(field)
    return {"string": "text", "boolean": "true or false", "null": "null", None: "anything"}.get(
        kind, str(kind)
    )


def _range(field: Mapping[str, Any]) -> str:
    if "minimum" in field and "maximum" in field:
        return f", {field['minimum']:g} to {field['maximum']:g}"
    if "exclusiveMinimum" in field:
        return f" above {field['exclusiveMinimum']:g}"
    return f", {field['minimum']:g} or more" if "minimum" in field else ""


# --- rules


def rules() -> str:
    """Return a table of all rules that a report can name."""
    rows = []
    for rule, says in sorted(RULES.items()):
        page = DOCS / "rules" / f"{rule}.md"
        if page.exists():
            found = "static guard" if rule in GUARDS else "runs"
            can = "yes" if rule in ENDORSABLE else ""
            rows.append((f"[{rule}](rules/{rule}.md)", found, can, cell(says)))
        else:
            other = "errors.md" if rule == "undecided" else "buckets.md"
            rows.append((f"[{rule}]({other})", "runs", "", cell(says)))
    return table(("rule", "found by", "can be endorsed", "says"), rows)


# --- schemas

_EVENTS = Header | Session | Collected | Start | End | Restart | Footer
# What is published as it is made here: {name: (the type, what writes it)}.
PUBLISHED: dict[str, Any] = {
    "record": _EVENTS,
    "explain": Explanation,
    "replay": ReplayReport,
    "fixtures-diff": DriftReport,
    "flakes": FlakesReport,
    "ticket": Ticket,
    "seal": Seal,
    "classify": TestRow,
    "doctor": DoctorReport,
    "ledger": Line,
}
# {name: (version, what writes it, is it one line of a file?)}
WRITTEN = {
    "gate": "`redbucket gate`, `guard`, `fixtures verify` and `flakes check` with `--format json`",
    "record": "each line of a record: `redbucket rerun --out`, `gate --keep`",
    "classify": "each row of `redbucket classify`",
    "capture": "`redbucket gate --captures`, `explain --captures`",
    "explain": "`redbucket explain --format json`",
    "replay": "`redbucket replay --format json`",
    "draft": "`redbucket draft --format json`",
    "review": "`redbucket review --format json`",
    "oracle": "`redbucket oracle --format json`",
    "budget": "`redbucket budget --format json`",
    "fixtures-diff": "`redbucket fixtures diff --format json`",
    "flakes": "`redbucket flakes list --format json`",
    "ticket": "`redbucket ticket`; whoever has it can seal a run, so it is a secret",
    "seal": "`redbucket rerun --run`, beside each record",
    "doctor": "`redbucket doctor --format json`",
    "ledger": "each line of `redbucket ledger export`",
}


def schema(name: str) -> dict[str, Any]:
    """Return the schema of one of ``PUBLISHED``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"redbucket.{name}/1",
        **msgspec.json.schema(PUBLISHED[name]),
    }


def schemas() -> str:
    """Return a section for each schema, with a table for each of its objects."""
    parts = [
        table(
            ("schema", "written by", "file"),
            [
                (f"[redbucket.{n}/1](#redbucket{n}1)", says, f"[{n}.schema.json]({n}.schema.json)")
                for n, says in WRITTEN.items()
            ],
        )
    ]
    for name in WRITTEN:
        made = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
        parts.append(f"## redbucket.{name}/1\n")
        for title, described in made["$defs"].items():
            if "properties" in described:
                parts.append(
                    f"### {name}: {title}\n\n{_prose(described.get('description', ''))}\n\n{_fields(described)}"
                )
            elif "enum" in described:
                values = ", ".join(f"`{value}`" for value in described["enum"])
                parts.append(
                    f"### {name}: {title}\n\n{_prose(described.get('description', ''))}\n\n{values}\n"
                )
    return "\n".join(parts)


def _prose(text: str) -> str:
    return text.replace("``", "`").strip()


def _fields(described: Mapping[str, Any]) -> str:
    needed = set(described.get("required", ()))
    rows = []
    for key, field in described["properties"].items():
        default = "" if key in needed or "default" not in field else f"`{json.dumps(field['default'])}`"
        rows.append((f"`{key}`", cell(_kind(field)), "yes" if key in needed else "", default))
    return table(("field", "holds", "required", "default"), rows)


# --- exit codes


def exit_codes() -> str:
    """Return the table of exit codes."""
    return table(("exit code", "means"), [(str(code), cell(says)) for code, says in EXIT_CODES.items()])


# --- what few runs can know


def chances() -> str:
    """Return what three runs show of a flake, by its rate, and the doubt by runs with and without the patch."""
    seen = [
        (f"{p:.0%}", f"{1 - (1 - p) ** 3:.0%}", f"{chance_mixed(p, 3):.0%}", f"{p**3:.1%}")
        for p in (0.02, 0.05, 0.1, 0.2, 0.5, 0.63, 0.8, 0.9, 0.95)
    ]
    head = (
        "it fails",
        "at least one failure is seen",
        "both outcomes are seen",
        "it looks like a miss: three failures",
    )
    doubts = [
        (f"{n} of {n}", f"{m} of {m}", f"1 in {round(1 / doubt(n, m)):,}")
        for n, m in ((3, 1), (3, 3), (5, 5), (9, 7), (10, 10))
    ]
    with_patch = ("failed with the patch", "passed without it", "doubt, at most")
    return f"{table(head, seen)}\nAnd of a test that failed:\n\n{table(with_patch, doubts)}"


MADE = {
    "three-runs.md": chances,
    "commands.md": commands,
    "policy.md": policy_keys,
    "rules.md": rules,
    "schemas.md": schemas,
    "exit-codes.md": exit_codes,
}
_BEGIN, _END = "<!-- made from the code: REDBUCKET_REGENERATE=1 pytest tests/docs -->\n", "<!-- end -->\n"


def page(name: str) -> str:
    """Return a page of the docs with what is made from the code in its place."""
    text = (DOCS / name).read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    assert begin
    assert end, f"docs/{name} has no place for what is made"
    return f"{before}{_BEGIN}\n{MADE[name]()}\n{_END}{after}"
