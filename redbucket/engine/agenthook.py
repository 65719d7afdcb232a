"""Answers a coding agent's hook: may this call be made, and did protected files stay as they were?

A convenience, not a boundary: the gate decides. So what can't be judged is
allowed and said, except where the call is known to write and its target is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from redbucket.core.agentcalls import Call, Edit, Kind, Verb, shown
from redbucket.core.errors import Misused
from redbucket.core.patch import Entry
from redbucket.core.paths import Matcher, fold
from redbucket.core.policy import Policy

ALLOW, REFUSE = 0, 2

# git's own files that switch the local hooks off; never in a tree, so no policy names them.
_GIT_FILES = Matcher(
    (
        "/.git/config",
        "/.git/config.worktree",
        "/.git/hooks",
        "/.git/info/attributes",
        "/.git/worktrees/*/config.worktree",
    )
)


@dataclass(frozen=True)
class Answer:
    """The exit code, and lines for stderr."""

    code: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """A path as one repository names it: the repository's top folder, and the name below it."""

    top: str
    name: str


class Court(Protocol):
    """What decides in one repository, read from its base commit."""

    @property
    def doubt(self) -> str:
        """Why the built-in rules are used in place of base's policy, "" if they are not."""

    def is_protected(self, name: str) -> bool:
        """Return whether no agent may change ``name``."""

    def protected_below(self, folder: str) -> str:
        """Return a protected file of base below ``folder``, "" if there is none."""

    def tracks(self, name: str) -> bool:
        """Return whether base has a folder (no submodule) called ``name``."""

    def base_bytes(self, name: str) -> bytes | None:
        """Return base's bytes of ``name``, None if base has no such file."""

    def present_bytes(self, name: str) -> bytes | None:
        """Return the work tree's bytes of ``name``, None if there are none."""


class Ground(Protocol):
    """The disk, as far as a call reaches."""

    def places(self, path: str, bases: Sequence[str]) -> list[list[Place]]:
        """Return every spelling of ``path``: its repositories, the innermost first, [] outside of any."""

    def court(self, top: str) -> Court | None:
        """Return the court of a repository, None if git sees none there."""


class Records(Protocol):
    """The two trees and the disk that ``differences`` compares."""

    def base_entries(self) -> Mapping[str, Entry]:
        """The files of base."""

    def ancestor_entries(self) -> Mapping[str, Entry]:
        """The files of the merge base of base and HEAD; base's where there is none."""

    def names(self) -> Sequence[str]:
        """The files of the work tree that git tracks or would add."""

    def is_protected(self, name: str) -> bool:
        """Return whether no agent may change ``name``."""

    def matches(self, name: str, entry: Entry | None) -> bool:
        """Return whether the disk holds ``entry`` at ``name`` (None: nothing)."""


def answer(call: Call, ground: Ground) -> Answer:
    """Return whether the agent may make ``call``."""
    if call.kind is Kind.HARMLESS:
        return Answer(ALLOW)
    if call.kind is Kind.EDIT and call.trouble:
        return Answer(
            REFUSE,
            (
                f"redbucket: refused: {shown([call.tool])} writes a file, and {call.trouble} [agent-call-unreadable]",
                "  do this: name the file plainly; if the call is as it should be, report it to redbucket",
            ),
        )
    refused, doubts = _judged(call, ground)
    if refused:
        return Answer(REFUSE, _refusal(refused, call))
    if call.kind is Kind.UNREADABLE:
        lines = [f"redbucket: allowed without being judged: {call.trouble} [agent-call-unreadable]"]
        return Answer(ALLOW, (*lines, "  do this: check the agent's hook settings; the gate still decides"))
    return Answer(ALLOW, tuple(f"redbucket: judged by the built-in rules alone: {doubt}" for doubt in doubts))


def _judged(call: Call, ground: Ground) -> tuple[list[str], list[str]]:
    """Return the protected names that the call would change, and the doubts of the courts asked."""
    refused: dict[str, None] = {}
    doubts: dict[str, None] = {}
    for edit in call.edits:
        for owners in ground.places(edit.path, call.bases):
            innermost = ""
            for place in owners:
                court = ground.court(place.top)
                if court is None:
                    continue
                # the files of a clone inside this one are its own, unless base tracks them here
                inside = innermost and innermost[len(place.top) :].strip("/")
                if inside and not court.tracks(inside):
                    continue
                innermost = innermost or place.top
                if court.doubt:
                    doubts[court.doubt] = None
                if name := _verdict(edit, place.name, court):
                    refused[name] = None
    return list(refused), list(doubts)


def _verdict(edit: Edit, name: str, court: Court) -> str:
    """Return the protected name that ``edit`` changes, "" if it may go on."""
    if fold(name) == ".git" or _GIT_FILES.matches(name):
        return name
    if court.is_protected(name):
        return "" if _puts_back(edit, name, court) else name
    # a folder that goes takes its files along; so does the top, whose name is ""
    return court.protected_below(name) if edit.verb is not Verb.WRITE else ""


def _puts_back(edit: Edit, name: str, court: Court) -> bool:
    """True if the file is as in base after the edit: that is always allowed."""
    if edit.verb is Verb.DELETE:
        return court.base_bytes(name) is None
    if edit.verb is Verb.MOVE:
        return False
    if edit.content is not None:
        return edit.content.encode("utf-8", "surrogatepass") == court.base_bytes(name)
    if not edit.swaps:
        return False
    base, present = court.base_bytes(name), court.present_bytes(name)
    if base is None or present is None:
        return False
    try:
        text = present.decode("utf-8")
        for old, new, every in edit.swaps:
            if not (text.count(old) == 1 or (every and old in text)):
                return False
            text = text.replace(old, new)
        return text.encode("utf-8") == base
    except ValueError:
        return False


def _refusal(names: Sequence[str], call: Call) -> tuple[str, ...]:
    own = [name for name in names if fold(name).split("/")[0] == ".git"]
    ours = [name for name in names if name not in own]
    why = f" ({call.trouble}, but it names this file)" if call.kind is Kind.UNREADABLE else ""
    lines: list[str] = []
    if ours:
        verb, count = ("judges", "it") if len(ours) == 1 else ("judge", "them")
        reason = f"{shown(ours)} {verb} patches, so no agent may change {count}{why}"
        remedy = f"leave {count} alone and tell a human, who makes the change or endorses it"
        lines.append(f"redbucket: refused: {reason} [protected-path]")
        lines.append(f"  do this: {remedy} (redbucket endorse {shown(ours, 3)})")
    if own:
        lines.append(f"redbucket: refused: {shown(own)} can switch git's hooks off{why} [protected-path]")
        lines.append("  do this: leave it alone and tell a human what should change")
    return tuple(lines)


def differences(records: Records) -> list[str]:
    """Return the protected files of the work tree that are neither base's nor the merge base's, sorted."""
    base, ancestor = records.base_entries(), records.ancestor_entries()
    names = filter(records.is_protected, {*base, *ancestor, *records.names()})
    return sorted(
        name
        for name in names
        if not records.matches(name, base.get(name))
        and (ancestor.get(name) == base.get(name) or not records.matches(name, ancestor.get(name)))
    )


def checked(changed: Sequence[str], base: str, call: Call) -> Answer:
    """Return the answer to ``--check`` for the files that ``differences`` found."""
    if not changed:
        return Answer(ALLOW)
    count = "it" if len(changed) == 1 else "them"
    remedy = f"put {count} back (git checkout {base[:12]} -- FILE, or delete what was added)"
    lines = (
        f"redbucket: changed though protected: {shown(changed)} [protected-path]",
        f"  do this: {remedy}, and tell a human what should change",
    )
    if call.again:
        # an agent that can't put the files back would otherwise be sent back for ever
        return Answer(
            ALLOW, (*lines, "  said once already, so the agent may stop; the gate will refuse this")
        )
    return Answer(REFUSE, lines)


def base_and_policy(history: Any, objects: Any) -> tuple[str, Policy]:
    """Return the commit that patches land on, and its policy; raise Misused as ``gate`` would."""
    from redbucket.engine.protected import find_base, policy_at

    defaults = Policy().gate.protected_branches
    try:
        base = find_base(history, defaults)
        policy = policy_at(objects, base)
        branches = policy.gate.protected_branches
    except Misused as error:
        if error.code != "no-base":
            raise
        base, policy = "", Policy()
        branches = policy_at(objects, history.resolve("HEAD")).gate.protected_branches
    if branches == defaults and base:
        return base, policy
    base = find_base(history, branches)
    return base, policy_at(objects, base)


# The file that each agent reads, the events before a call, and those after which a comparison helps.
_FILES = {
    "claude": "~/.claude/settings.json for yourself, .claude/settings.json for the repository",
    "codex": "~/.codex/hooks.json for yourself, .codex/hooks.json for the repository (which must be trusted)",
    "cursor": "~/.cursor/hooks.json for yourself, .cursor/hooks.json for the repository",
    "gemini": "~/.gemini/settings.json for yourself, .gemini/settings.json for the repository",
    "copilot": ".github/hooks/redbucket.json",
}
AGENTS = tuple(_FILES)
_SECONDS = 10


def settings(agent: str, command: str) -> tuple[str, str]:
    """Return (where it belongs, JSON) of the settings that call ``command`` from ``agent``."""
    check = f"{command} --check"
    hooks: dict[str, Any]
    if agent == "claude":
        hooks = {
            "PreToolUse": [_group(command, "Edit|MultiEdit|Write|NotebookEdit|mcp__.*")],
            "PostToolUse": [_group(check, "Bash")],
            "Stop": [_group(check)],
        }
    elif agent == "codex":
        hooks = {
            "PreToolUse": [_group(command, "apply_patch|Edit|Write|mcp__.*")],
            "PostToolUse": [_group(check, "Bash")],
            "Stop": [_group(check)],
        }
    elif agent == "gemini":
        hooks = {
            "BeforeTool": [_group(command, "write_file|replace|mcp_.*", unit=1000)],
            "AfterTool": [_group(check, "run_shell_command", unit=1000)],
            "AfterAgent": [_group(check, unit=1000)],
        }
    elif agent == "cursor":
        before, after = ({"command": c, "timeout": _SECONDS} for c in (command, check))
        hooks = {"preToolUse": [before], "beforeMCPExecution": [before], "afterShellExecution": [after]}
        return _FILES[agent], json.dumps({"version": 1, "hooks": hooks}, indent=2)
    else:
        before, after = ({"type": "command", "bash": c, "timeoutSec": _SECONDS} for c in (command, check))
        hooks = {"preToolUse": [before], "postToolUse": [after]}
        return _FILES[agent], json.dumps({"version": 1, "hooks": hooks}, indent=2)
    return _FILES[agent], json.dumps({"hooks": hooks}, indent=2)


def _group(command: str, matcher: str = "", *, unit: int = 1) -> dict[str, Any]:
    """Return a group of one hook; ``unit`` is how many of the agent's time units are a second."""
    group: dict[str, Any] = {"matcher": matcher} if matcher else {}
    group["hooks"] = [{"type": "command", "command": command, "timeout": _SECONDS * unit}]
    return group
