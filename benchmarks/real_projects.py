"""Judges patches of real projects with an installed redbucket, and times it.

Source distributions of two releases come through pip. For each project there is a
repository whose ``main`` holds the older release, an environment with what its tests
need, and a branch of each kind; the verdict and the buckets are compared with what
must come out.

    python real_projects.py build WORK [NAME ...]        repositories and environments
    python real_projects.py judge WORK [NAME ...]        gate each branch, print the table
    python real_projects.py time WORK [NAME ...]         the no-op branch against plain runs

Needs git, pip with a package index, and redbucket beside the interpreter (or ``--redbucket``).
Nothing outside WORK is written.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

AGENT = "Agent <agent@example.invalid>"
HUMAN = "Ada <ada@example.invalid>"
# Made by the build or by tools, and in no project's git.
GENERATED = ("PKG-INFO", "*.egg-info", ".pytest_cache", "__pycache__", "_version.py")
HEADS = ("release", "bug", "fixture", "random", "deleted", "noop")


@dataclass(frozen=True)
class Project:
    """One project: where it comes from, how it is installed, and what is done to it.

    ``layout`` is "none" (the project is not installed), "editable" or "regular".
    ``bug`` is (file, old text, new text); ``function`` is (file, name), which the
    random failure and the no-op rewrite go into; ``deleted`` is (file, test name);
    ``fixture`` is (file, old bytes, new bytes) of a data file that tests read.
    """

    name: str
    old: str
    new: str
    layout: str
    bug: tuple[str, str, str]
    function: tuple[str, str]
    deleted: tuple[str, str]
    fixture: tuple[str, bytes, bytes] | None = None
    needs: tuple[str, ...] = ("pytest<9",)
    folder: str = ""
    policy: str = ""
    command: tuple[str, ...] = ("-m", "pytest", "-q")
    source: str = "src"
    generated: tuple[str, ...] = ()


PROJECTS = (
    Project(
        "jinja2",
        "3.1.4",
        "3.1.5",
        "editable",
        bug=("src/jinja2/filters.py", "return soft_str(s).capitalize()", "return soft_str(s).title()"),
        function=("src/jinja2/filters.py", "do_truncate"),
        deleted=("tests/test_filters.py", "test_capitalize"),
        fixture=("tests/res/templates/test.html", b"BAR", b"BAZ"),
        policy='[fixtures]\npaths = ["tests/res/**"]\n',
        needs=("pytest<9", "trio", "markupsafe"),
    ),
    Project(
        "packaging",
        "23.2",
        "24.0",
        "regular",
        bug=(
            "src/packaging/utils.py",
            '_canonicalize_regex.sub("-", name).lower()',
            '_canonicalize_regex.sub("-", name)',
        ),
        function=("src/packaging/utils.py", "canonicalize_name"),
        deleted=("tests/test_utils.py", "test_canonicalize_name"),
        fixture=("tests/metadata/everything.metadata", b"Summary:", b"Summary: more of"),
        policy='[fixtures]\npaths = ["tests/metadata/**", "tests/manylinux/**", "tests/musllinux/**"]\n',
        needs=("pytest<9", "pretend"),
    ),
    Project(
        "marshmallow",
        "3.21.3",
        "3.22.0",
        "none",
        bug=("src/marshmallow/validate.py", "if value != self.comparable:", "if value == self.comparable:"),
        function=("src/marshmallow/utils.py", "get_value"),
        deleted=("tests/test_validate.py", "test_range_min"),
        needs=("pytest<9", "pytz", "simplejson", "packaging"),
    ),
    Project(
        "itsdangerous",
        "2.1.2",
        "2.2.0",
        "regular",
        bug=("src/itsdangerous/encoding.py", "(-len(string) % 4)", "(-len(string) % 3)"),
        function=("src/itsdangerous/encoding.py", "base64_encode"),
        deleted=("tests/test_itsdangerous/test_encoding.py", "test_base64"),
        needs=("pytest<9", "freezegun"),
    ),
    Project(
        "humanize",
        "4.8.0",
        "4.9.0",
        "regular",
        bug=("src/humanize/number.py", "limit_denominator(1000)", "limit_denominator(3)"),
        function=("src/humanize/number.py", "fractional"),
        deleted=("tests/test_number.py", "test_fractional"),
        needs=("pytest<9", "freezegun"),
        generated=("src/humanize/locale/*/*/*.mo",),
    ),
    Project(
        "pluggy",
        "1.4.0",
        "1.5.0",
        "editable",
        bug=("src/pluggy/_manager.py", "if plugin == val:", "if plugin != val:"),
        function=("src/pluggy/_tracing.py", "_format_message"),
        deleted=("testing/test_pluginmanager.py", "test_pm_name"),
        needs=("pytest<8.1",),
        policy='[judge]\ntests = ["testing/**"]\n[run]\nenv = { PYTHONPATH = "src" }\n',
    ),
    Project(
        "markupsafe",
        "2.1.4",
        "2.1.5",
        "editable",
        folder="MarkupSafe",
        bug=("src/markupsafe/__init__.py", 'value.find("<!--")', 'value.find("<--")'),
        function=("src/markupsafe/__init__.py", "striptags"),
        deleted=("tests/test_markupsafe.py", "test_escaping"),
        needs=("pytest<9", "setuptools<80", "wheel"),
        generated=("*.so",),
    ),
    Project(
        "attrs",
        "23.1.0",
        "23.2.0",
        "editable",
        bug=("src/attr/_funcs.py", "return generic_attrs is not None", "return generic_attrs is None"),
        function=("src/attr/_funcs.py", "has"),
        deleted=("tests/test_funcs.py", "test_shallow"),
        needs=("pytest<8", "hypothesis", "cloudpickle"),
        command=("-m", "pytest", "-q", "tests"),
        policy='[run]\ncommand = ["python", "-m", "pytest", "tests"]\n',
    ),
    Project(
        "more-itertools",
        "10.2.0",
        "10.3.0",
        "none",
        bug=(
            "more_itertools/recipes.py",
            "return list(islice(iterable, n))",
            "return list(islice(iterable, n + 1))",
        ),
        function=("more_itertools/recipes.py", "all_equal"),
        deleted=("tests/test_more.py", "test_strict_being_true"),
        command=("-m", "unittest", "-q"),
        policy='[run]\ncommand = ["python", "-m", "unittest"]\n',
        needs=(),
        source=".",
    ),
    Project(
        "idna",
        "3.6",
        "3.7",
        "none",
        bug=("idna/core.py", "if label[2:4] == '--':", "if label[2:4] == '-x':"),
        function=("idna/core.py", "check_hyphen_ok"),
        deleted=("tests/test_idna.py", "testIDNTLDALabels"),
        fixture=("tests/IdnaTestV2.txt", b"fass.de; ; ; ; ; ;  #", b"fass.de; fast.de; ; ; ; ;  #"),
        command=("-m", "unittest", "-q"),
        policy='[fixtures]\npaths = ["tests/*.txt"]\n[run]\ncommand = ["python", "-m", "unittest"]\n',
        needs=(),
        source=".",
    ),
    Project(
        "networkx",
        "3.2",
        "3.2.1",
        "none",
        bug=("networkx/algorithms/cluster.py", "return 0 if triangles == 0", "return 1 if triangles == 0"),
        function=("networkx/algorithms/cluster.py", "transitivity"),
        deleted=("networkx/algorithms/tests/test_cluster.py", "test_transitivity"),
        command=("-m", "pytest", "-q", "networkx/algorithms/tests", "networkx/generators/tests"),
        policy='[run]\ncommand = ["python", "-m", "pytest", "networkx/algorithms/tests", '
        '"networkx/generators/tests"]\n',
        needs=("pytest<9", "numpy<2", "scipy<1.13"),
        source=".",
    ),
    Project(
        "pyparsing",
        "3.1.1",
        "3.1.2",
        "regular",
        bug=("pyparsing/util.py", "return 1 if 0 < loc < len(s)", "return 2 if 0 < loc < len(s)"),
        function=("pyparsing/util.py", "line"),
        deleted=("tests/test_unit.py", "testParseFourFn"),
        fixture=("tests/parsefiletest_input_file.txt", b"", b"nothing\n"),
        policy='[fixtures]\npaths = ["tests/*.txt", "tests/*.ini", "tests/*.html"]\n',
        needs=("pytest<9", "jinja2", "railroad-diagrams", "matplotlib"),
        source=".",
    ),
    Project(
        "pytest-mock",
        "3.12.0",
        "3.14.0",
        "editable",
        # one that leaves nothing behind: mocks that are never undone break further tests by order, truly
        bug=("src/pytest_mock/plugin.py", "spy_obj.spy_return = r\n", "spy_obj.spy_return = [r]\n"),
        function=("src/pytest_mock/plugin.py", "stub"),
        deleted=("tests/test_pytest_mock.py", "test_mocker_resetall"),
        needs=("pytest<8", "pytest-asyncio<0.22", "setuptools_scm"),
    ),
    Project(
        "dateutil",
        "2.8.2",
        "2.9.0",
        "editable",
        folder="python-dateutil",
        bug=("dateutil/easter.py", "d = 1 + (p + 27", "d = 2 + (p + 27"),
        function=("dateutil/easter.py", "easter"),
        deleted=("dateutil/test/test_easter.py", "test_easter_orthodox"),
        needs=(
            "pytest<8",
            "pytest-cov",
            "freezegun",
            "hypothesis",
            "six",
            "setuptools<80",
            "setuptools_scm<8",
            "wheel",
        ),
        source=".",
    ),
)


# -- sources -------------------------------------------------------------------------------------------


def download(work: Path, project: Project, version: str) -> Path:
    """Return the unpacked source distribution of one release."""
    folder = work / "src" / f"{project.folder or project.name}-{version}"
    if folder.exists():
        return folder
    sdists = work / "sdists"
    name = project.folder or project.name
    found = list(sdists.glob(f"{name.replace('-', '[-_]')}-{version}.tar.gz"))
    if not found:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            name,
            "-d",
            str(sdists),
        ]
        subprocess.run([*pip, f"{name}=={version}"], check=True)
        found = list(sdists.glob(f"{name.replace('-', '[-_]')}-{version}.tar.gz"))
    with tarfile.open(found[0]) as archive:
        archive.extractall(work / "src", filter="data")
    return work / "src" / found[0].name.removesuffix(".tar.gz")


def put(source: Path, repo: Path, project: Project) -> None:
    """Make the work tree of ``repo`` hold ``source``, but what a build generates."""
    for old in repo.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    skip = shutil.ignore_patterns(*GENERATED)
    shutil.copytree(source, repo, dirs_exist_ok=True, ignore=skip)
    (repo / ".gitignore").write_text("\n".join([*GENERATED, *project.generated, "build", "*.so"]) + "\n")
    if project.policy:
        (repo / "redbucket.toml").write_text(project.policy)


# -- git ---------------------------------------------------------------------------------------------------


def git(repo: Path, *words: str, who: str = HUMAN) -> str:
    """Run git with a fixed identity and no configuration of the user's."""
    name, _, mail = who.rstrip(">").partition(" <")
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": mail,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": mail,
    }
    done = subprocess.run(["git", *words], cwd=repo, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout.strip()


def commit(repo: Path, branch: str, message: str, who: str) -> None:
    """Commit the whole work tree to a new branch."""
    git(repo, "checkout", "-q", "-b", branch)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", message, who=who)


# -- what is done to the source ------------------------------------------------------------------------------


def find(tree: ast.AST, name: str) -> ast.FunctionDef:
    """Return the last function of that name (overloads come before it)."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    if not found:
        raise SystemExit(f"no function {name}")
    return found[-1]


def replace(path: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path}: no {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")


def make_random(path: Path, name: str) -> None:
    """Let a function fail one time in three, for no reason."""
    text = path.read_text(encoding="utf-8")
    body = [s for s in find(ast.parse(text), name).body if not _is_docstring(s)]
    lines = text.splitlines(keepends=True)
    pad = " " * body[0].col_offset
    extra = f"{pad}import os as _os\n\n{pad}if _os.urandom(1)[0] < 90:\n{pad}    raise RuntimeError('no answer')\n"
    lines.insert(body[0].lineno - 1, extra)
    path.write_text("".join(lines), encoding="utf-8")


def make_noop(path: Path, name: str) -> None:
    """Give the value of a function's returns a name first."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    returns = [n for n in ast.walk(find(ast.parse(text), name)) if isinstance(n, ast.Return) and n.value]
    for node in sorted(returns, key=lambda n: -n.lineno):
        pad = " " * node.col_offset
        first = lines[node.lineno - 1]
        lines[node.lineno - 1] = first.replace("return ", "result_value = ", 1)
        lines.insert(node.end_lineno or node.lineno, f"{pad}return result_value\n")
    path.write_text("".join(lines), encoding="utf-8")


def delete_test(path: Path, name: str) -> None:
    """Remove one test function."""
    text = path.read_text(encoding="utf-8")
    node = find(ast.parse(text), name)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = text.splitlines(keepends=True)
    del lines[first - 1 : node.end_lineno]
    path.write_text("".join(lines), encoding="utf-8")


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def branches(repo: Path, project: Project, new: Path) -> None:
    """Make one branch of each kind from ``main``."""

    def branch(name: str, who: str, change: Callable[[], None]) -> None:
        change()
        commit(repo, name, name, who)
        git(repo, "checkout", "-q", "main")

    file, function = project.function
    branch("release-next", HUMAN, lambda: put(new, repo, project))
    branch("agent/bug", AGENT, lambda: replace(repo / project.bug[0], *project.bug[1:]))
    branch("agent/random", AGENT, lambda: make_random(repo / file, function))
    branch("agent/noop", AGENT, lambda: make_noop(repo / file, function))
    branch("agent/deleted", AGENT, lambda: delete_test(repo / project.deleted[0], project.deleted[1]))
    if project.fixture:
        path, before, after = project.fixture
        raw = (repo / path).read_bytes()
        if before not in raw:
            raise SystemExit(f"{path}: no {before!r}")
        changed = raw.replace(before, after, 1) if before else after
        branch("agent/fixture", AGENT, lambda: _write(repo / path, changed))


def _write(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)


def build(work: Path, project: Project) -> None:
    """Make the repository and the environment of one project."""
    old, new = (download(work, project, v) for v in (project.old, project.new))
    repo, env = work / "repos" / project.name, work / "envs" / project.name
    for folder in (repo, env):
        shutil.rmtree(folder, ignore_errors=True)
    repo.mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main")
    put(old, repo, project)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", project.old)
    branches(repo, project, new)
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    pip = [str(env / "bin" / "pip"), "install", "-q", "--disable-pip-version-check"]
    version = {**os.environ, "SETUPTOOLS_SCM_PRETEND_VERSION": project.old}
    if project.needs:
        subprocess.run([*pip, *project.needs], check=True)
    if project.layout == "editable":
        subprocess.run([*pip, "--no-deps", "-e", str(repo)], check=True, env=version)
    elif project.layout == "regular":
        subprocess.run([*pip, "--no-deps", str(repo)], check=True, env=version)
    git(repo, "clean", "-fdq")


# -- what comes out --------------------------------------------------------------------------------------------


def environment(work: Path, project: Project) -> dict[str, str]:
    """Return the environment of a person who works on the project."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON", "PRE_COMMIT"))}
    env["VIRTUAL_ENV"] = str(work / "envs" / project.name)
    env["PATH"] = f"{env['VIRTUAL_ENV']}/bin:{env['PATH']}"
    return env


def branch_of(head: str) -> str:
    """Return the branch of a kind of head."""
    return "release-next" if head == "release" else f"agent/{head}"


def gate(work: Path, project: Project, head: str, redbucket: str) -> tuple[dict[str, object], float, str]:
    """Return the gate's JSON, its wall time, and what it printed otherwise."""
    out = work / "out" / f"{project.name}-{head}.json"
    out.parent.mkdir(exist_ok=True)
    out.unlink(missing_ok=True)
    words = [
        redbucket,
        "gate",
        "--base",
        "main",
        "--head",
        branch_of(head),
        "--format",
        "json",
        "--output",
        str(out),
    ]
    began = time.monotonic()
    done = subprocess.run(
        words,
        cwd=work / "repos" / project.name,
        env=environment(work, project),
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - began
    said = (done.stdout + done.stderr).strip()
    return (json.loads(out.read_text()) if out.exists() else {"exit_code": done.returncode}), took, said


EXPECTED = {
    "bug": ("refuse", "invariant_miss"),
    "fixture": ("refuse", "fixture_drift"),
    "random": ("refuse", "noise"),
    "deleted": ("refuse", ""),
    "noop": ("accept", ""),
    "release": ("accept", ""),
}


def summary(report: dict[str, object], head: str) -> tuple[str, str]:
    """Return one line about a report, and "right", "WRONG" or "look"."""
    rows = report.get("tests") or []
    assert isinstance(rows, list)
    counts: dict[str, int] = {}
    for row in rows:
        if row["bucket"] not in ("stable_pass", "skipped"):
            name = row["bucket"] + ("" if row.get("introduced") is not False else f" ({row.get('state')})")
            counts[name] = counts.get(name, 0) + 1
    findings: dict[str, int] = {}
    for f in report.get("findings") or []:  # type: ignore[attr-defined]
        key = f"{f['rule']}:{f['severity']}"
        findings[key] = findings.get(key, 0) + 1
    undecided = [p["code"] for p in report.get("undecided") or []]  # type: ignore[attr-defined]
    verdict, bucket = EXPECTED[head]
    right = report.get("verdict") == verdict
    introduced = {r["bucket"] for r in rows if r.get("introduced")}
    if bucket == "noise":
        # a test that calls it often fails each time: a miss is all that can be seen of that
        right = right and {"noise"} <= introduced <= {"noise", "invariant_miss"}
    elif bucket:
        right = right and introduced == {bucket}
    word = "right" if right else ("look" if head == "release" else "WRONG")
    said = f"{report.get('verdict')} {report.get('counts')} blocking={counts} {findings} {undecided}"
    return said, word


def judge(work: Path, project: Project, heads: Iterable[str], redbucket: str) -> None:
    """Gate each branch and print a line for it."""
    for head in heads:
        if head == "fixture" and project.fixture is None:
            continue
        report, took, said = gate(work, project, head, redbucket)
        line, word = summary(report, head) if "verdict" in report else (said[-400:], "WRONG")
        print(f"{project.name:15} {project.layout:9} {head:8} {word:6} {took:6.1f}s {line}", flush=True)


def plain(work: Path, project: Project, times: int = 1) -> float:
    """Return the wall time of so many plain runs of the suite at the no-op branch, side by side."""
    env = environment(work, project)
    repo = work / "repos" / project.name
    if project.layout == "none":
        env["PYTHONPATH"] = str(repo / project.source)
    python = str(work / "envs" / project.name / "bin" / "python")
    began = time.monotonic()
    command = [python, *project.command]
    runs = [
        subprocess.Popen(command, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(times)
    ]
    for run in runs:
        run.wait()
    return time.monotonic() - began


def compare(work: Path, project: Project, redbucket: str, rounds: int) -> None:
    """Alternate a plain run, three of them side by side (less no gate of three runs can take), and a gate."""
    repo = work / "repos" / project.name
    git(repo, "checkout", "-q", "agent/noop")
    plains, threes, gates = [], [], []
    try:
        for _ in range(rounds):
            plains.append(plain(work, project))
            threes.append(plain(work, project, 3))
            gates.append(gate(work, project, "noop", redbucket)[1])
    finally:
        git(repo, "checkout", "-q", "main")
    one, three, whole = (statistics.median(seconds) for seconds in (plains, threes, gates))
    print(
        f"{project.name:15} plain {one:6.2f}s, three side by side {three:6.2f}s ({three / one:.2f}), gate {whole:6.2f}s"
        f" ({whole / one:.2f}), load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def main() -> None:
    """Read the arguments and go."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("build", "judge", "time"))
    parser.add_argument("work", type=Path, help="folder for everything")
    parser.add_argument("names", nargs="*", help="projects; default: all")
    parser.add_argument("--heads", default=",".join(HEADS), help="kinds of head, with commas")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each kind")
    beside = str(Path(sys.executable).with_name("redbucket"))
    parser.add_argument("--redbucket", default=beside, help="the redbucket command")
    args = parser.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    for project in PROJECTS:
        if args.names and project.name not in args.names:
            continue
        if args.action == "build":
            build(args.work, project)
            print(f"built {project.name}", flush=True)
        elif args.action == "judge":
            judge(args.work, project, args.heads.split(","), args.redbucket)
        else:
            compare(args.work, project, args.redbucket, args.rounds)


if __name__ == "__main__":
    main()
