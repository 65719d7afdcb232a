"""runner-tamper: an agent changed how tests are found, configured, loaded or run.

Every ``conftest.py`` is left to altered-test, and what ``run.command`` names to
protected-path: one change, one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from redbucket.core.commandnames import DESCRIPTIONS, RUNNERS, command_names
from redbucket.core.findings import Finding, Severity
from redbucket.core.foreign_config import judging_changes
from redbucket.core.importnames import is_binary_module
from redbucket.core.patch import Change
from redbucket.core.paths import JudgeSide, fold
from redbucket.core.pytree import is_conftest
from redbucket.core.testconfig import (
    SAYS,
    backend_files,
    build_backend,
    changed_keys,
    covered,
    effective,
    entry_points,
    may_set,
    only_adds_coverage,
    only_adds_markers,
    plugin_names,
    variables,
)
from redbucket.core.wellknown import SHARED_CONFIG
from redbucket.guards.context import Context, TreeView
from redbucket.guards.remedies import BACK_OR_ENDORSE
from redbucket.guards.runner_names import shadows
from redbucket.guards.runner_packages import packages

RULE = "runner-tamper"
_REMEDY = BACK_OR_ENDORSE
_LOOK = "a person looks at it; put {path} back if it is not meant"
_SKIP_CI = re.compile(
    r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip|skip (?:travis|appveyor|azp|azurepipelines|buildkite)"
    r"|(?:travis|appveyor|azp|azurepipelines) skip)\]|\*\*\*NO_CI\*\*\*|^skip-checks:[ \t]*true\b",
    re.IGNORECASE | re.MULTILINE,
)


def check(context: Context, judge: JudgeSide) -> list[Finding]:
    """Return what an agent's paths change in the machinery of the tests."""
    found: list[Finding] = []
    backend = backend_files(context.base)
    before, after = context.base.entries, context.head.entries
    for change in context.patch.changes:
        path = change.path
        # The merge may leave base's bytes; a link or a submodule is git-trap's.
        if path not in context.agent_paths or judge.is_protected(path) or before.get(path) == after.get(path):
            continue
        name = path.rpartition("/")[2].lower()
        if is_binary_module(path) or "__pycache__" in path.split("/"):
            found += _binary(change, context)
        if path in backend:
            found.append(_refuse(path, "changes the build back end that base builds with"))
        shared, config = name in SHARED_CONFIG, judge.is_test_config(path)
        if not shared and judge.is_shared_config(path):
            found += _foreign(path, _bytes(context.base, path), _bytes(context.head, path))
        new = _bytes(context.head, path) if shared or config or may_set(path) else None
        # Most files say nothing that is looked for: their old bytes are not asked for.
        if not shared and not config and (new is None or not SAYS.search(new)):
            continue
        old = _bytes(context.base, path)
        if shared and not judge.is_fixture(path):
            found += _shared(path, old, new)
        elif config and not shared:
            found += _config(path, old, new, covered=covered(context.base))
        found += _registered(path, old, new)
        found += _loaded(path, old, new, product=not judge.is_judge(path))
    found += _environments(context)
    found += _commands(context, judge)
    found += shadows(context, judge)
    found += packages(context)
    found += _locks(context, judge)
    found += _silenced(context)
    return found


def _environments(context: Context) -> Iterator[Finding]:
    """The first file of a Python environment: from one in the tree the tests would be started."""
    for path in sorted(context.agent_paths):
        first, *_, last = f"{fold(path)}/{path.rpartition('/')[2]}".split("/")
        is_one = (
            first == ".venv"
            or last.lower() == "pyvenv.cfg"
            or f"/{fold(path)}".endswith("/conda-meta/history")
        )
        if is_one and path in context.head.entries:
            yield _refuse(
                path,
                "commits a Python environment: tests are started by one's interpreter, and not looked for in it",
            )
            return


def _commands(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Commands of the package that take the place of what tests are run with, once it is installed."""
    run = judge.policy.run
    programs = {words[0].rpartition("/")[2].lower() for words in (run.command, *run.prepare) if words}
    for path in sorted(context.agent_paths):
        if path.rpartition("/")[2].lower() not in DESCRIPTIONS or judge.is_judge(path):
            continue
        old, new = _bytes(context.base, path), _bytes(context.head, path)
        fresh = command_names(path, new) - command_names(path, old)
        if taken := sorted(fresh & (RUNNERS | programs)):
            what = f"installs a command {', '.join(taken)} of its own, which tests are run with"
            yield _refuse(path, what, _line(new, *taken))


def _bytes(tree: TreeView, path: str) -> bytes | None:
    entry = tree.entries.get(path)
    return tree.read(path) if entry is not None and entry.is_file else None


def _refuse(path: str, what: str, line: int | None = None) -> Finding:
    return _finding(path, Severity.REFUSE, what, _REMEDY, line)


def _finding(path: str, severity: Severity, what: str, remedy: str, line: int | None = None) -> Finding:
    return Finding(
        rule=RULE,
        severity=severity,
        path=path,
        line=line,
        reason=f"an agent's change {what}",
        remedy=remedy.format(path=path),
    )


def _line(raw: bytes | None, *words: str) -> int | None:
    """Return the first line that holds one of ``words``, to point at."""
    for number, line in enumerate((raw or b"").split(b"\n"), start=1):
        if any(word.encode("utf-8", "surrogateescape") in line for word in words if word):
            return number
    return None


def _config(path: str, old: bytes | None, new: bytes | None, *, covered: bool) -> Iterator[Finding]:
    """Files that configure tests and nothing else, judged by what they say."""
    name = path.rpartition("/")[2].lower()
    if is_conftest(path):
        return
    metadata = [part for part in path.lower().split("/") if part.endswith((".egg-info", ".dist-info"))]
    if name.endswith(".pth") and not _is_path_file(new):
        return  # weights of a model, which no interpreter reads at its start
    if new is None:
        # Cleaning up committed metadata is honest, as long as it takes no plugin away.
        if old is not None and (not metadata or plugin_names("entry_points.txt", old)):
            yield _refuse(path, "removes a file that configures the tests")
    elif metadata:
        yield _refuse(path, "commits metadata of a package, by which plugins are loaded")
    elif old is None and name.startswith(".coveragerc") and not covered and b"plugins" not in new:
        yield _finding(path, Severity.WARN, "configures coverage, which base does not measure", _LOOK)
    elif old is None:
        yield _refuse(path, f"adds {name}, which is read before the tests and outranks other configuration")
    else:
        before, after = effective(path, old), effective(path, new)
        if before != after:
            keys = changed_keys(before, after)
            said = f": {', '.join(keys)}" if keys else ""
            yield _refuse(path, f"changes the configuration of the tests{said}", _line(new, *keys))


def _is_path_file(raw: bytes | None) -> bool:
    if raw is None or re.search(rb"(?m)^import[ \t]", raw):
        return True
    if b"\0" in raw:
        return False
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _shared(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    before, after = effective(path, old), effective(path, new)
    if before == after:
        return
    keys = changed_keys(before, after)
    if only_adds_markers(before, after):
        yield _finding(path, Severity.NOTE, "registers markers", "", _line(new, "markers"))
        return
    if only_adds_coverage(before, after):
        yield _finding(path, Severity.WARN, "configures coverage, which base did not do here", _LOOK)
        return
    said = f": {', '.join(keys)}" if keys else ""
    yield _refuse(path, f"changes the part of it that configures the tests{said}", _line(new, *keys))


def _foreign(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Files of other languages that hold both dependencies and what tests are run with."""
    keys = judging_changes(path, old, new)
    if keys:
        few = ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
        words = [key.rpartition(".")[2].partition(" ")[0] for key in keys]
        yield _refuse(path, f"changes the part of it that says how tests run: {few}", _line(new, *words))


def _locks(context: Context, judge: JudgeSide) -> Iterator[Finding]:
    """Lock files by which the runner's own packages are installed, where tests are run by a runner of any language."""
    if judge.policy.run.format != "junit":
        return
    from redbucket.core.foreign_locks import is_lock, replaced  # a hook of a Python project does without

    for path in sorted(context.agent_paths):
        if not is_lock(path) or judge.is_protected(path):
            continue
        old, new = _bytes(context.base, path), _bytes(context.head, path)
        if old is None or new is None or old == new:
            continue
        said = replaced(path, old, new)
        if said:
            few = ", ".join(said[:3]) + (f" and {len(said) - 3} more" if len(said) > 3 else "")
            yield _refuse(path, few)


def _binary(change: Change, context: Context) -> Iterator[Finding]:
    path = change.path
    if change.new is None:
        return
    if path.endswith((".pyc", ".pyo")) or "__pycache__" in path.split("/"):
        yield _refuse(path, "commits compiled code, which Python runs in place of a source")
        return
    folder, _, name = path.rpartition("/")
    stem = f"{folder}/{name.split('.', 1)[0]}" if folder else name.split(".", 1)[0]
    if f"{stem}.py" in context.base.entries or f"{stem}/__init__.py" in context.base.entries:
        yield _refuse(path, f"commits compiled code, which Python imports in place of {stem}.py")
    else:
        yield _finding(path, Severity.WARN, "commits compiled code, which can't be reviewed", _LOOK)


def _registered(path: str, old: bytes | None, new: bytes | None) -> Iterator[Finding]:
    """Plugins by entry points, and the back end that builds the package."""
    before, after = entry_points(path, old), entry_points(path, new)
    if before != after and new is not None:
        yield _refuse(path, "changes the pytest plugins that the package registers", _line(new, "pytest11"))
    if path.rpartition("/")[2] != "pyproject.toml":
        return
    was, now = build_backend(old), build_backend(new)
    if was.local != now.local:
        yield _refuse(path, "builds with code of its own tree (backend-path)", _line(new, "backend-path"))
    elif set(now.direct) - set(was.direct):
        what = f"builds with a download from outside the index: {', '.join(now.direct)[:80]}"
        yield _refuse(path, what, _line(new, *now.direct))
    elif was.name != now.name and old is not None and new is not None:
        what = f"changes the build back end from {was.name or 'the default'} to {now.name or 'the default'}"
        yield _finding(path, Severity.WARN, what, _LOOK, _line(new, "build-backend"))


def _loaded(path: str, old: bytes | None, new: bytes | None, *, product: bool) -> Iterator[Finding]:
    """Plugins named in code, and the variables that name them."""
    if new is None or is_conftest(path):
        return
    fresh = plugin_names(path, new) - plugin_names(path, old)
    if fresh and path.endswith(".py"):
        names = ", ".join(sorted(fresh))
        yield _refuse(path, f"loads pytest plugins: {names}", _line(new, "pytest_plugins"))
    # Tests may set variables for what they start; altered-test and the recorder look at those.
    for found in variables(path, new) if product or not path.endswith(".py") else ():
        if found.text in {known.text for known in variables(path, old)}:
            continue
        severity = Severity.REFUSE if found.read_by_tools else Severity.WARN
        remedy = _REMEDY if found.read_by_tools else _LOOK
        yield _finding(path, severity, f"sets {found.name}, which pytest obeys", remedy, found.line)


def _silenced(context: Context) -> Iterator[Finding]:
    if not context.marks:
        return
    for commit in context.patch.commits:
        match = _SKIP_CI.search(commit.message)
        if match:
            yield Finding(
                rule=RULE,
                severity=Severity.WARN,
                reason=f"the message of commit {commit.oid[:12]} says {match[0].strip()!r}: CI skips its checks",
                remedy="reword the commit, or see to it that the checks are required and ran",
            )
