"""The marks by which an agent's work is recognised: data, and exact matching.

A mark is an exact e-mail, an exact bot account or a form that only tools
write. A person who is called Claude or Devin, or who works for a company that
makes an agent, carries none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from redbucket.core.patch import Commit, Person
from redbucket.core.policy import Policy
from redbucket.core.trailers import trailers

EMAILS = frozenset(
    {
        "codex@openai.com",
        "cursoragent@cursor.com",
        "noreply@aider.chat",
        "noreply@anthropic.com",
        "noreply@codeium.com",
        "noreply@openai.com",
        "noreply@windsurf.com",
        "openhands@all-hands.dev",
        "roomote@roocode.com",
    }
)
ACCOUNTS = frozenset(
    {
        "claude[bot]",
        "codegen-sh[bot]",
        "copilot-swe-agent[bot]",
        "cursor[bot]",
        "devin-ai-integration[bot]",
        "factory-droid[bot]",
        "google-labs-jules[bot]",
    }
)
# GitHub's numeric account ids: they stay when a login is renamed.
ACCOUNT_IDS = {
    "198982749": "Copilot",
    "223556219": "Copilot",
    "158243242": "devin-ai-integration[bot]",
    "161369871": "google-labs-jules[bot]",
}
# "Copilot" is an account without [bot]; only GitHub's own no-reply form with an id is exact.
_NUMBERED_LOGINS = ACCOUNTS | {"copilot"}
_NOREPLY = re.compile(r"(?:(\d+)\+)?([^@]+)@users\.noreply\.github\.com")
_PERSON = re.compile(r"\s*(.*?)\s*<([^<>]*)>.*")
_AIDER = " (aider)"

# Squash merges put the trailers of each commit in the middle of the message, so
# a co-author with an agent's address counts at the start of any line.
# Its value may be folded: further lines begin with a blank.
_CO_AUTHOR = re.compile(r"^co-authored-by[ \t]*:[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.I | re.M)
# How `git merge --squash` writes down what it squashed.
_SQUASHED = re.compile(r"^commit [0-9a-f]{40,64}\n(?:Merge: .*\n)?Author:[ \t]+(.+?)[ \t\r]*$", re.MULTILINE)
_FOOTER = re.compile(r"^(claude-session)[ \t]*:[ \t]*\S.*$", re.I | re.M)
_GENERATED = re.compile(
    r"^[ \t]*(?:\N{ROBOT FACE}[ \t\ufe0f]*Generated (?:with|by)\b|Generated with \[Claude Code\]\().*$",
    re.I | re.M,
)

_ANY = re.compile(r"(?!0$|false$|no$|off$).+", re.I)
ENVIRONMENT: Mapping[str, re.Pattern[str]] = {
    "AGENT": re.compile(r"amp|goose", re.I),
    "AI_AGENT": _ANY,
    "ANTIGRAVITY_AGENT": _ANY,
    "AUGMENT_AGENT": _ANY,
    "CLAUDECODE": _ANY,
    "CLAUDE_CODE": _ANY,
    "CLAUDE_CODE_REMOTE": _ANY,
    "CLAUDE_CODE_SESSION_ID": _ANY,
    "CLINE_ACTIVE": _ANY,
    "CODEX_CI": _ANY,
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE": re.compile(r"codex_web_agent"),
    "CODEX_SANDBOX": _ANY,
    "CODEX_SANDBOX_NETWORK_DISABLED": _ANY,
    "CODEX_THREAD_ID": _ANY,
    "COPILOT_CLI": _ANY,
    "CURSOR_AGENT": _ANY,
    "CURSOR_SANDBOX": _ANY,
    "GEMINI_CLI": _ANY,
    "JUNIE_DATA": _ANY,
    "OPENCODE": _ANY,
    # Devin's machines put their own tools on the path.
    "PATH": re.compile(r"(?:.*:)?/opt/\.devin(?:[/:].*)?"),
}
# Also set in a person's own shell inside an editor: never a mark.
SUSPICIONS = ("CURSOR_TRACE_ID", "GOOSE_PROVIDER", "REPL_ID")


def _glob(pattern: str, text: str) -> bool:
    # Only "*" is special: "[bot]" in an account's name is not a character class.
    parts = (re.escape(part) for part in pattern.casefold().split("*"))
    return re.fullmatch(".*".join(parts), text.casefold(), re.S) is not None


def _of_person(person: Person, policy: Policy) -> str:
    """Return what gives the person away as an agent, or an empty string."""
    name, email = person.name.strip(), person.email.strip().lower()
    login = ""
    if email in EMAILS:
        return email
    if noreply := _NOREPLY.fullmatch(email):
        number, login = noreply[1] or "", noreply[2]
        if number in ACCOUNT_IDS or login in ACCOUNTS or (number and login in _NUMBERED_LOGINS):
            return email
    if name.lower() in ACCOUNTS or name.endswith(_AIDER):
        return name
    forms = [form for form in (name, email, login, f"{name} <{email}>") if form]
    for pattern in policy.identity.agent_authors:
        if any(_glob(pattern, form) for form in forms):
            return f"{name} <{email}>"
    return ""


def _person(text: str) -> Person:
    text = " ".join(text.split())
    match = _PERSON.fullmatch(text)
    return Person(match[1], match[2]) if match else Person(text, text if "@" in text else "")


def _of_message(message: str, policy: Policy) -> Iterator[str]:
    if _SQUASHED.search(message):
        # four blanks stand before each line that was copied
        message = re.sub("^ {4}", "", message, flags=re.MULTILINE)
    for match in _CO_AUTHOR.finditer(message):
        if _of_person(_person(match[1]), policy):
            yield f"trailer Co-authored-by: {' '.join(match[1].split())}"
    for match in _SQUASHED.finditer(message):
        if _of_person(_person(match[1]), policy):
            yield f"squashed commit of {match[1]}"
    for match in _FOOTER.finditer(message):
        yield f"trailer {match[1]}"
    if line := _GENERATED.search(message):
        yield f"line {line[0].strip()}"
    for key, value in trailers(message):
        low = key.lower()
        if low == "assisted-by":
            person = _person(value)
            # A helper with an address of his own is a person; the agents' form is AGENT:MODEL [TOOL].
            if value and ("@" not in person.email or _of_person(person, policy)):
                yield f"trailer Assisted-by: {value}"
        elif low == "made-with" and value.lower() == "cursor":
            yield f"trailer Made-with: {value}"
        for pattern in policy.identity.agent_authors:
            if ":" in pattern and (_glob(pattern, f"{key}: {value}") or _glob(pattern, f"{key}:")):
                yield f"trailer {key}: {value}"


def _objects(notes: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at = 0
    while (at := notes.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(notes, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield value


def _ai_contributor(value: object) -> bool:
    queue = [value]
    while queue:
        item = queue.pop()
        if isinstance(item, list):
            queue.extend(item)
        elif isinstance(item, dict):
            who = item.get("contributor")
            kind = who.get("type") if isinstance(who, dict) else who
            if isinstance(kind, str) and kind.lower() in ("ai", "mixed"):
                return True
            queue.extend(item.values())
    return False


def _of_notes(notes: str) -> Iterator[str]:
    if not notes:
        return
    understood = False
    for value in _objects(notes):
        if isinstance(value, dict) and str(value.get("schema_version", "")).startswith("authorship/"):
            understood = True
            # git-ai writes a note for people's commits too, without prompts.
            if value.get("prompts") or value.get("sessions"):
                yield "note of git-ai with prompts"
        elif _ai_contributor(value):
            yield "note of Agent Trace with an AI contributor"
    if "authorship/" in notes and "schema_version" in notes and not understood:
        yield "note of git-ai that can't be read"


def marks_of_commit(commit: Commit, policy: Policy) -> tuple[str, ...]:
    """Return every mark that one commit carries, in a fixed order, each once."""
    found: list[str] = []
    for role, person in (("author", commit.author), ("committer", commit.committer)):
        if who := _of_person(person, policy):
            found.append(f"{role} {who}")
    found.extend(_of_message(commit.message, policy))
    found.extend(_of_notes(commit.notes))
    return tuple(dict.fromkeys(found))


def marks_of_branch(branch: str, policy: Policy) -> tuple[str, ...]:
    """Return the mark of a branch name, given short, as ``refs/heads/...`` or as a remote's."""
    short = re.sub(r"^(?:refs/heads/|refs/remotes/[^/]+/|origin/)", "", branch)
    if short and any(_glob(pattern, short) for pattern in policy.identity.agent_branches):
        return (f"branch {short}",)
    return ()


def marks_of_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the marks that a coding agent leaves in the environment of what it runs."""
    return tuple(
        f"environment {name}"
        for name, value in ENVIRONMENT.items()
        if value.fullmatch(env.get(name, "").strip())
    )


def suspicions_of_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return variables that agents set, but people's editors too: for a hint, never a mark."""
    return tuple(name for name in SUSPICIONS if env.get(name))
