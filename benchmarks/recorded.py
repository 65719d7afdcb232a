"""What moved in the recorded fixtures of real projects between two releases, and which tests that flips.

    python -m benchmarks.recorded WORK [NAME ...]

Source distributions come through pip, with what their tests need, into WORK. For each project there is a repository
whose ``main`` holds the older release, ``agent/release`` the newer one, and ``agent/fixtures`` the older one with the
newer fixtures. ``fixtures diff`` gives the classes, ``gate`` (both branches as an agent's patches) the tests; by hand
means: the older tests on the branch's source, by plain pytest, once with the older and once with the newer fixtures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

REDBUCKET = str(Path(sys.prefix) / "bin" / "redbucket")
_LEFT_OUT = shutil.ignore_patterns("*.egg-info", "PKG-INFO", "__pycache__")


@dataclass(frozen=True)
class Project:
    """Two releases, where the recordings are, what is run, what that needs; ``root`` is the import root."""

    name: str
    old: str
    new: str
    fixtures: str
    tests: tuple[str, ...]
    needs: tuple[str, ...]
    root: str = "src"


PROJECTS = (
    Project("mistune", "3.0.2", "3.1.0", "tests/fixtures/*.txt", ("tests",), ("pytest", "typing_extensions")),
    Project(
        *("black", "24.1.0", "24.2.0", "tests/data/**", ("tests/test_format.py",)),
        (
            "pytest<9",
            "click",
            "pathspec<1",
            "platformdirs",
            "mypy_extensions",
            "packaging",
            "typing_extensions",
        ),
    ),
    Project(
        *("praw", "7.7.0", "7.7.1", "tests/integration/cassettes/**"),
        tuple(
            f"tests/integration/models/reddit/test_{name}.py" for name in ("submission", "modmail", "comment")
        ),
        (
            "pytest<9",
            "betamax",
            "betamax-matchers",
            "prawcore<3",
            "websocket-client",
            "update_checker",
            "urllib3<2",
        ),
        root=".",
    ),
)


def run(words: list[str], place: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever its exit code."""
    return subprocess.run(
        words, cwd=place, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )


def git(place: Path, *words: str) -> str:
    """Run git; it must succeed."""
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.autocrlf=false")
    done = run(["git", *who, *words], place)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout


def unpacked(work: Path, project: Project, version: str) -> Path:
    """Return the folder of a release."""
    name = f"{project.name}-{version}"
    place = work / name
    if not place.exists():
        if not (work / f"{name}.tar.gz").exists():
            pip = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-binary",
                ":all:",
                "--no-deps",
                "-d",
                ".",
            ]
            run([*pip, f"{project.name}=={version}"], work)
        with tarfile.open(work / f"{name}.tar.gz") as archive:
            archive.extractall(work, filter="data")
    return place


def build(work: Path, project: Project) -> tuple[Path, str]:
    """Make the repository and the environment; return them."""
    repo, env = work / f"{project.name}.repo", work / f"{project.name}.venv"
    if not env.exists():
        run([sys.executable, "-m", "venv", str(env)], work)
        done = run([str(env / "bin/pip"), "install", "-q", *project.needs], work)
        if done.returncode:
            raise SystemExit(done.stderr)
    if not repo.exists():
        repo.mkdir()
        git(repo, "init", "-q", "-b", "main")
        for branch, version in (("main", project.old), ("agent/release", project.new)):
            if branch != "main":
                git(repo, "checkout", "-q", "-b", branch)
                git(repo, "rm", "-rqf", ".")
            shutil.copytree(unpacked(work, project, version), repo, dirs_exist_ok=True, ignore=_LEFT_OUT)
            command = json.dumps(["python", "-m", "pytest", "-q", *project.tests])
            policy = f'[fixtures]\npaths = ["{project.fixtures}"]\n[run]\ncommand = {command}\n'
            if project.root != ".":
                policy += f'env = {{ PYTHONPATH = "{project.root}" }}\n'
            (repo / "redbucket.toml").write_text(policy)
            git(repo, "add", "-A", "-f")
            git(repo, "commit", "-q", "-m", version)
        git(repo, "checkout", "-q", "main")
    if not git(repo, "branch", "--list", "agent/fixtures"):
        git(repo, "checkout", "-q", "-b", "agent/fixtures", "main")
        for path, kind in moved(repo).items():
            git(repo, *(("rm", "-q") if kind == "gone" else ("checkout", "-q", "agent/release")), "--", path)
        git(repo, "commit", "-q", "-m", "the newer fixtures alone")
        git(repo, "checkout", "-q", "main")
    return repo, str(env)


def moved(repo: Path) -> dict[str, str]:
    """Return {path: class} as ``fixtures diff`` says."""
    words = [REDBUCKET, "fixtures", "diff", "--base", "main", "--head", "agent/release", "--format", "json"]
    found = json.loads(run(words, repo).stdout)
    return {each["path"]: each["class"] for each in found["fixtures"]}


def judged(repo: Path, env: str, head: str) -> dict[str, tuple[str, str]]:
    """Return {test: (bucket, why)} of what the gate says of base's tests that are not clean."""
    words = [REDBUCKET, "gate", "--base", "main", "--head", head, "--format", "json"]
    done = run(words, repo, VIRTUAL_ENV=env)
    report = json.loads(done.stdout)
    (repo.parent / f"{repo.name}.{head.rpartition('/')[2]}.json").write_text(done.stdout)
    quiet = ("stable_pass", "skipped", "untrusted")
    return {
        row["nodeid"]: (row["bucket"], row["why"]) for row in report["tests"] if row["bucket"] not in quiet
    }


def by_hand(
    work: Path, repo: Path, project: Project, env: str, paths: list[str], head: str
) -> tuple[set[str], set[str]]:
    """Return the older tests that fail on the branch's source with the older, and with the newer fixtures."""
    failed = []
    for side in ("main", "agent/release"):
        place = work / f"{project.name}.{side.rpartition('/')[2]}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        git(repo, "--work-tree", str(place), "checkout", "-q", "-f", head, "--", ".")
        shutil.rmtree(place / "tests")
        git(repo, "--work-tree", str(place), "checkout", "-q", "-f", "main", "--", "tests")
        for path in paths:
            shown = subprocess.run(
                ["git", "show", f"{side}:{path}"], cwd=repo, capture_output=True, check=False
            )
            (place / path).unlink(missing_ok=True)
            if shown.returncode == 0:
                (place / path).write_bytes(shown.stdout)
        git(repo, "reset", "-q", "--hard")
        words = [f"{env}/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=r.xml"]
        run([*words, *project.tests], place, PYTHONPATH=str(place / project.root))
        cases = ET.parse(place / "r.xml").iter("testcase")
        bad = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
        failed.append({f"{c.get('classname')}.{c.get('name')}" for c in bad})
    return failed[0], failed[1]


def _dotted(nodeid: str) -> str:
    path, _, rest = nodeid.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}.{rest.replace('::', '.')}"


def main() -> None:
    """Build, look, judge, compare, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("names", nargs="*")
    chosen = options.parse_args()
    work = chosen.work.absolute()
    work.mkdir(exist_ok=True)
    for project in PROJECTS:
        if chosen.names and project.name not in chosen.names:
            continue
        repo, env = build(work, project)
        classes = moved(repo)
        counts = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(classes.values()).items()))
        print(f"{project.name} {project.old} -> {project.new}: {len(classes)} moved: {counts}")
        for path, kind in classes.items():
            print(f"    {kind}: {path}")
        for head in ("agent/fixtures", "agent/release"):
            compared(work, repo, project, env, list(classes), head)


def compared(work: Path, repo: Path, project: Project, env: str, paths: list[str], head: str) -> None:
    """Print what the gate says of one branch beside what is found by hand."""
    rows = judged(repo, env, head)
    older, newer = by_hand(work, repo, project, env, paths, head)
    drift = {_dotted(n) for n, (bucket, _) in rows.items() if bucket == "fixture_drift"}
    wanted = {
        _dotted(n) for n, (bucket, why) in rows.items() if bucket == "invariant_miss" and "own bytes" in why
    }
    missed = {_dotted(n) for n, (bucket, _) in rows.items() if bucket == "invariant_miss"} - wanted
    print(f"  {head}: {dict(Counter(bucket for bucket, _ in rows.values()))}")
    for title, ours, hand in (
        ("drift: fails with the newer fixtures alone", drift, newer - older),
        ("fails with the older, passes with the newer ones", wanted, older - newer),
        ("red with both", missed, older & newer),
    ):
        print(f"    {title}: gate {len(ours)}, by hand {len(hand)}, both {len(ours & hand)}")
        if ours != hand:
            print(f"      only the gate: {sorted(ours - hand)[:5]}  only by hand: {sorted(hand - ours)[:5]}")


if __name__ == "__main__":
    main()
