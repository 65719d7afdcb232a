"""What a coding agent is about to do, read from the JSON that its hook is given.

Claude Code, Codex CLI, Cursor, Gemini CLI and Copilot are told apart by their
field names. ``parse`` is total: whatever the bytes are, the answer is a ``Call``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

LONGEST_NAME = 16_384  # four times what Linux takes for a whole path


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READS = _names("read readfile readmanyfiles view viewimage grep glob ls listdirectory")
_SHELLS = _names(
    "bash shell powershell localshell terminal execcommand runshellcommand runterminalcmd runinterminal "
    "runcommand executeshellcommand executecommand writebash readbash writestdin"
)
# Tools of the five agents that write files and nothing else: a call without a target is then refused.
_WRITERS = _names(
    "edit write multiedit notebookedit applypatch writefile replace create createfile strreplace "
    "strreplaceeditor strreplacebasededittool searchreplace editfile editfiles editnotebook delete deletefile "
    "insert insertedit inserteditintofile replacestringinfile multireplacestringinfile smartedit"
)
# Of any other tool (an MCP server's) the words of its name say whether it writes.
_DELETES = _names("delete remove unlink rm")
_MOVES = _names("move rename mv")
_COPIES = _names("copy cp")
_CHANGES = _names("write edit create replace patch insert update append save overwrite")
# One name for reading and writing: the field "command" says which.
_EDITORS = _names("strreplaceeditor strreplacebasededittool texteditor")

_PATHS = _names(
    "path paths file files filepath filepaths filename notebookpath targetfile targetnotebook targetpath "
    "absolutepath relativepath uri fileuri"
)
_FROM = _names("source src sourcepath oldpath oldfilepath from")
_TO = _names("destination dest dst destinationpath newpath newfilepath to")
_WHOLE = _names("content contents filetext")
_CONTENT = _WHOLE | _names("oldstring newstring oldstr newstr text newtext oldtext newsource codeedit")

_JUDGED_EVENTS = _names("pretooluse beforetool beforemcpexecution permissionrequest")
_PAST = re.compile(r"(?:post|after|stop|subagent|session|notification).*")
_RESULTS = ("toolResult", "tool_response", "tool_output", "tool_result", "result_json")

_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # what no byte of a file name becomes
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JSON_TEXT = r'"((?:[^"\\]|\\.){0,20000})"'
_TOLD_TOOL = re.compile(r'"(?:tool_name|toolName)"\s*:\s*' + _JSON_TEXT)
_TOLD_EVENT = re.compile(r'"hook_event_name"\s*:\s*' + _JSON_TEXT)
_TOLD_CWD = re.compile(r'"cwd"\s*:\s*' + _JSON_TEXT)
_TOLD_PATH = re.compile(r'"([A-Za-z_]{2,24})"\s*:\s*' + _JSON_TEXT)
_TOLD_PATCH = re.compile(
    r"\*\*\* (?:Add File|Update File|Delete File|Move to): (.{1,4096}?)(?:\\n|\\r|\n|\"|$)"
)


class Kind(Enum):
    """What sort of call it is."""

    EDIT = "edit"
    HARMLESS = "harmless"
    UNREADABLE = "unreadable"


class Verb(Enum):
    """What happens to a path."""

    WRITE = "write"
    DELETE = "delete"
    MOVE = "move"


@dataclass(frozen=True)
class Edit:
    """One path that a call writes, deletes or moves.

    ``content`` is the whole file as it will be, ``swaps`` are (old, new, every
    one) replacements in it; both only where the payload says so.
    """

    path: str
    verb: Verb = Verb.WRITE
    content: str | None = None
    swaps: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True)
class Call:
    """One payload. ``bases`` are the folders that a relative path may start from, the likeliest first.

    ``trouble`` says what could not be read. The ``edits`` of an unreadable
    payload are the names that it seems to hold. ``again`` is set where the agent
    was already sent back once by the hook that runs when it stops.
    """

    kind: Kind
    agent: str = ""
    event: str = ""
    tool: str = ""
    bases: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    trouble: str = ""
    again: bool = False


def parse(raw: bytes, *, cut: bool = False) -> Call:
    """Return the call in ``raw``; ``cut`` says that more bytes came than were read."""
    text = raw.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    if cut:
        return _scanned(text, "the payload is too large")
    if not text.strip():
        return Call(Kind.UNREADABLE, trouble="the payload is empty")
    try:
        payload = json.loads(text)
    except RecursionError:
        return _scanned(text, "the payload is nested too deeply")
    except ValueError as problem:  # a broken escape or an endless number included
        return _scanned(text, f"the payload is not JSON ({str(problem)[:80]})")
    if not isinstance(payload, dict):
        return _scanned(text, "the payload is not a JSON object")
    return _call(payload, text)


def _call(payload: dict[str, Any], text: str) -> Call:
    event, tool = payload.get("hook_event_name"), payload.get("tool_name", payload.get("toolName"))
    call = Call(
        Kind.HARMLESS,
        agent=_agent(payload),
        event=_clean(event) if isinstance(event, str) else "",
        tool=_clean(tool) if isinstance(tool, str) else "",
        bases=_bases(payload),
        again=payload.get("stop_hook_active") is True,
    )
    if not call.agent:
        return _scanned(text, "the payload is of no agent that redbucket knows")
    folded = _plain(call.event)
    if _PAST.fullmatch(folded) or any(name in payload for name in _RESULTS):
        return call
    if not call.tool:
        if tool is not None or folded in _JUDGED_EVENTS:
            return _scanned(text, "the payload names no tool")
        return call
    return _tool_call(call, payload.get("tool_input", payload.get("toolArgs")))


def _tool_call(call: Call, given: object) -> Call:
    name = _plain(_last(call.tool))
    if _kind_of_tool(call.tool) is Kind.HARMLESS:
        return call
    known = name in _WRITERS
    arguments = given
    if isinstance(given, str):
        try:
            arguments = json.loads(given)
        except (ValueError, RecursionError):
            arguments = given
    if isinstance(arguments, dict):
        if name in _EDITORS and arguments.get("command") == "view":
            return call
        for key in ("cwd", "workdir"):
            if isinstance(folder := arguments.get(key), str):
                call = replace(call, bases=(*call.bases, _clean(folder)))
    edits = [*_by_fields(arguments, call.tool), *_by_patch(arguments, known=known)]
    bad = next((why for edit in edits if (why := _impossible(edit.path))), "")
    if bad:
        return replace(call, kind=Kind.EDIT, trouble=bad)
    if edits:
        return replace(call, kind=Kind.EDIT, edits=tuple(dict.fromkeys(edits)))
    if known:
        return replace(call, kind=Kind.EDIT, trouble="the file that it edits can't be read from the payload")
    return call


def _kind_of_tool(tool: str) -> Kind:
    """Return EDIT for a tool that may write files by name, HARMLESS for every other."""
    last = _last(tool)
    name = _plain(last)
    if name in _READS or name in _SHELLS:
        return Kind.HARMLESS
    if name in _WRITERS or _words(last) & (_CHANGES | _DELETES | _MOVES | _COPIES):
        return Kind.EDIT
    return Kind.HARMLESS


def _agent(payload: dict[str, Any]) -> str:
    event = payload.get("hook_event_name")
    event = event if isinstance(event, str) else ""
    if "toolName" in payload or "toolArgs" in payload:
        return "copilot"
    if any(name in payload for name in ("conversation_id", "generation_id", "workspace_roots")):
        return "cursor"
    if event.startswith(("Before", "After")):
        return "gemini"
    if "turn_id" in payload or payload.get("tool_name") == "apply_patch":
        return "codex"
    if event or "tool_name" in payload:
        return "claude"
    # Copilot's other events have no name, only a time and a folder
    return "copilot" if "timestamp" in payload and "cwd" in payload else ""


def _bases(payload: dict[str, Any]) -> tuple[str, ...]:
    roots = payload.get("workspace_roots")
    folders = [payload.get("cwd"), *(roots if isinstance(roots, list) else ())]
    found = [_clean(folder) for folder in folders if isinstance(folder, str) and folder]
    return tuple(dict.fromkeys(folder for folder in found if not _impossible(folder)))


def _by_fields(arguments: object, tool: str) -> Iterator[Edit]:
    words = _words(_last(tool))
    verb = Verb.DELETE if words & _DELETES else Verb.MOVE if words & _MOVES else Verb.WRITE
    names = _PATHS
    if verb is Verb.MOVE or words & _COPIES:
        names = _PATHS | _TO if words & _COPIES else _PATHS | _TO | _FROM
    waiting: list[object] = [arguments]
    while waiting:  # no recursion: the payload decides how deep it goes
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        if not isinstance(value, dict):
            continue
        for key, inner in value.items():
            if (plain := _plain(key)) in names:
                yield from (_edit(path, verb, value) for path in _texts(inner))
            if isinstance(inner, (dict, list)) and plain not in _CONTENT:
                waiting.append(inner)


def _texts(value: object) -> Iterator[str]:
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and text:
            yield _clean(text)


def _edit(path: str, verb: Verb, fields: dict[str, Any]) -> Edit:
    """Return the edit with what is known of the bytes that it leaves."""
    if verb is not Verb.WRITE:
        return Edit(path, verb)
    plain = {_plain(key): value for key, value in fields.items()}
    whole = [value for key in sorted(_WHOLE) if isinstance(value := plain.get(key), str)]
    if len(whole) == 1:
        return Edit(path, verb, content=whole[0])
    changes = plain.get("edits")
    rows = changes if isinstance(changes, list) else [fields]
    swaps = tuple(swap for row in rows if (swap := _swap(row)))
    return Edit(path, verb, swaps=swaps if len(swaps) == len(rows) else ())


def _swap(row: object) -> tuple[str, str, bool] | None:
    if not isinstance(row, dict):
        return None
    plain = {_plain(str(key)): value for key, value in row.items()}
    old, new = plain.get("oldstring", plain.get("oldstr")), plain.get("newstring", plain.get("newstr"))
    if isinstance(old, str) and isinstance(new, str) and old:
        return old, new, plain.get("replaceall") is True
    return None


def _by_patch(arguments: object, *, known: bool) -> Iterator[Edit]:
    """Yield what a patch among the arguments names, for tools that only write."""
    if not known:
        return
    for text in _strings(arguments):
        if "*** " in text:
            yield from patch_edits(text)
        elif text.startswith(("--- ", "diff --git ")) or "\n--- " in text:
            yield from _diff_edits(text)


def _strings(value: object) -> Iterator[str]:
    """Yield the strings in which an agent passes a patch: the value itself, or fields that may hold one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in ("command", "input", "patch", "diff", "patchText"):
            inner = value.get(key)
            for text in inner if isinstance(inner, list) else [inner]:
                if isinstance(text, str):
                    yield text


def patch_edits(text: str) -> Iterator[Edit]:
    """Yield the files that a text in apply_patch's format adds, updates, deletes and moves.

    Content can look like a header: an added file's lines begin with "+", and
    inside an update a header is never indented.
    """
    last = ""
    inside = ""
    for line in text.splitlines():
        if (inside == "add" and line.startswith("+")) or (inside == "update" and not line.startswith("***")):
            continue
        header = re.match(r"\*\*\* (Add File|Update File|Delete File|Move to):(.*)", line.strip())
        if header is None:
            continue
        path = _clean(header[2].strip())
        if header[1] == "Move to":
            yield from (Edit(last, Verb.MOVE), Edit(path, Verb.MOVE))
            continue
        inside = {"Add File": "add", "Update File": "update"}.get(header[1], "")
        last = path
        yield Edit(path, Verb.DELETE if header[1] == "Delete File" else Verb.WRITE)


def _diff_edits(text: str) -> Iterator[Edit]:
    for line in text.splitlines():
        header = re.match(r"(?:--- |\+\+\+ |rename (?:from|to) )([^\t]+)", line)
        if header and (path := header[1].strip().strip('"')) != "/dev/null":
            yield Edit(_clean(re.sub(r"^[ab]/", "", path)))


def _scanned(text: str, trouble: str) -> Call:
    """Return what can be guessed of a payload that can't be read: its tool, and the names in it."""
    tool, event, cwd = (_first(sign, text) for sign in (_TOLD_TOOL, _TOLD_EVENT, _TOLD_CWD))
    call = Call(Kind.UNREADABLE, event=event, tool=tool, trouble=trouble, bases=(cwd,) if cwd else ())
    if _PAST.fullmatch(_plain(event)) or (tool and _kind_of_tool(tool) is Kind.HARMLESS):
        return call
    wanted = _PATHS | _FROM | _TO
    named = [_unescaped(m[2]) for m in _TOLD_PATH.finditer(text) if _plain(m[1]) in wanted]
    named += [_unescaped(m[1]) for m in _TOLD_PATCH.finditer(text)]
    return replace(call, edits=tuple(Edit(p) for p in dict.fromkeys(named) if p and not _impossible(p)))


def _first(sign: re.Pattern[str], text: str) -> str:
    found = sign.search(text)
    value = _unescaped(found[1]) if found else ""
    return "" if _impossible(value) else value


def _unescaped(inner: str) -> str:
    try:
        value = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        value = inner
    return _clean(str(value))


def _impossible(path: str) -> str:
    """Return why no file can have this name, "" if one can."""
    if "\0" in path:
        return "the name of the file holds a NUL"
    return "the name of the file is longer than any can be" if len(path) > LONGEST_NAME else ""


def _clean(text: str) -> str:
    """Return ``text`` with what no name can hold replaced, as the agents' own runtimes write it."""
    return _LONE.sub("\ufffd", text)


def _plain(name: str) -> str:
    """Return a field's or tool's name without case and separators."""
    return re.sub(r"[^a-z0-9]", "", name[:200].lower())


def _last(tool: str) -> str:
    """Return a tool's own name, without the server that offers it (``mcp__server__tool``)."""
    return re.split(r"__|[.:/]", tool)[-1]


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(name[:200])}


def shown(names: Iterable[str], limit: int = 10) -> str:
    """Return names for a message: control characters escaped, long lists cut."""
    rows = list(names)
    text = ", ".join(_printable(name) for name in rows[:limit])
    return text + (f" and {len(rows) - limit} more" if len(rows) > limit else "")


def _printable(name: str) -> str:
    whole = name if len(name) <= 200 else f"{name[:120]}…{name[-60:]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in whole)
