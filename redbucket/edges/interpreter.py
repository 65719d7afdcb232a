"""Finds the project's own interpreter and the runner that ``run.command`` starts.

redbucket may sit in another environment than the project: under pre-commit its
own ``bin`` comes first on PATH and VIRTUAL_ENV names it, so a bare ``python``
must be looked up past it there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from redbucket.core.errors import Misused, Undecided, WorldFailed

OLDEST_PYTHON = (3, 8)
OLDEST_PYTEST = (7, 0)

# Launchers that only choose an interpreter: the recorder chooses it itself.
_LAUNCHERS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("pipenv", "run"),
    ("rye", "run"),
    ("coverage", "run"),
}

# pytest's version without the fifth of a second that importing all of it takes; the run itself says what is broken.
_PROBE = """
import json, sys, site
from importlib.util import find_spec
out = {"version": list(sys.version_info[:3]), "executable": sys.executable, "prefix": sys.prefix}
try:
    import _pytest
    for name in ("pytest", "pluggy"):
        if find_spec(name) is None:
            raise ImportError("No module named %r" % name)
    out["pytest"] = _pytest.__version__
    out["user"] = str(_pytest.__file__).startswith(str(site.getusersitepackages()))
except ImportError as error:
    out["pytest"] = None
    out["error"] = str(error)
out["userbase"] = site.getuserbase()
out["path"] = [folder for folder in sys.path if folder]
print(json.dumps(out))
"""

_INSTALLED = """
import json, platform, sys
from importlib import metadata
found = {"Python": platform.python_version(), "machine": sys.platform + " " + platform.machine()}
for one in metadata.distributions():
    if one.metadata["Name"]:
        found.setdefault(one.metadata["Name"].lower().replace("_", "-"), one.version or "")
print(json.dumps(found))
"""


# Options that leave alone what the recorder lives by, and those of them that take a word of their own. Not -I, -E, -s
# and -S: under them the pinned hash seed and the tree's import roots would not be read.
_PYTHONS = ("python", "pypy")
_FLAGS = re.compile(r"-[bBdOquP]+")
_WITH_A_WORD = ("-W", "-X")


@dataclass(frozen=True)
class Launch:
    """How the project's tests are started: the interpreter with its ``options``, the runner, its arguments."""

    python: str
    runner: Literal["pytest", "unittest", "junit"]
    args: tuple[str, ...]
    prefix: str
    version: tuple[int, ...]
    runner_version: str
    as_module: bool
    userbase: str = ""
    path: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Launch:
        """Return the launch that was made into JSON."""
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
        return cls(**values)

    @property
    def command(self) -> tuple[str, ...]:
        """What is started, in words."""
        if self.runner == "junit":
            return self.args
        return (self.python, *self.options, "-m", self.runner, *self.args)

    @property
    def is_own(self) -> bool:
        """True if the tests run in the environment that redbucket itself is installed in."""
        return Path(self.prefix).resolve() == Path(sys.prefix).resolve()


@dataclass(frozen=True)
class Parsed:
    """``run.command`` taken apart: "" as interpreter means "look for one"."""

    interpreter: str
    runner: Literal["pytest", "unittest"]
    args: tuple[str, ...]
    as_module: bool
    options: tuple[str, ...] = ()


def parse_command(command: Sequence[str]) -> Parsed:
    """Return the parts of ``run.command``; raise Misused if no recorder can be put into it."""
    words = list(command)
    while len(words) > 2 and (Path(words[0]).name, words[1]) in _LAUNCHERS:
        words = _past_options(words[2:]) if Path(words[0]).name == "coverage" else words[2:]
        if words and words[0] == "--":
            words = words[1:]
    options: tuple[str, ...] = ()
    if words and Path(words[0]).name.startswith(_PYTHONS):
        options = _options(words[1:])
        words = [words[0], *words[1 + len(options) :]]
    if words[1:4] == ["-m", "coverage", "run"]:
        # what is measured does not matter here: the tests are started by the same interpreter without it
        words = [words[0], *_past_options(words[4:])]
    name = Path(words[0]).name if words else ""
    if words and words[0] == "-m" and len(words) > 1 and words[1] in ("pytest", "unittest"):
        words = ["python", *words]
        name = "python"
    if name in ("pytest", "py.test"):
        interpreter = str(Path(words[0]).parent / "python") if "/" in words[0] else ""
        return Parsed(interpreter, "pytest", tuple(words[1:]), as_module=False)
    if name.startswith(_PYTHONS):
        rest = words[1:]
        if len(rest) >= 2 and rest[0] == "-m" and rest[1] in ("pytest", "unittest"):
            runner: Literal["pytest", "unittest"] = "pytest" if rest[1] == "pytest" else "unittest"
            return Parsed(
                words[0] if name != "python" or "/" in words[0] else "",
                runner,
                tuple(rest[2:]),
                as_module=not any(_FLAGS.fullmatch(option) and "P" in option for option in options),
                options=options,
            )
    raise Misused(
        "command-unsupported",
        f"run.command {' '.join(command)!r} starts neither pytest nor unittest in a way that a recorder can join",
        'set [run] command to the test command itself, for instance ["python", "-m", "pytest"]; for a runner of '
        'another language, let it write JUnit XML and set [run] format = "junit": gate and rerun judge by that',
    )


def _options(words: list[str]) -> tuple[str, ...]:
    """Return the interpreter's options that ``words`` begin with."""
    count = 0
    while count < len(words):
        if words[count] in _WITH_A_WORD:
            count += 2
        elif words[count].startswith(_WITH_A_WORD) or _FLAGS.fullmatch(words[count]):
            count += 1
        else:
            break
    return tuple(words[:count])


def _past_options(words: list[str]) -> list[str]:
    """Return the words from ``-m`` on, where options of coverage stand before it; the options end there."""
    return words[words.index("-m") :] if words and words[0].startswith("-") and "-m" in words else words


def resolve(command: Sequence[str], work_tree: Path | None, env: Mapping[str, str]) -> Launch:
    """Return how to start the tests; raise WorldFailed if no interpreter fits.

    Order: what the command names; the activated environment; the repository's own
    ``.venv``; PATH, under pre-commit past redbucket's own environment; redbucket's own interpreter.
    """
    parsed = parse_command(command)
    tried: list[str] = []
    for candidate in _candidates(parsed.interpreter, work_tree, env):
        found = probe(candidate, env)
        if found is None:
            tried.append(f"{candidate} (does not start)")
            continue
        version = tuple(found["version"])
        if version < OLDEST_PYTHON:
            tried.append(f"{candidate} (Python {'.'.join(map(str, version))}, 3.8 is needed)")
            continue
        pytest_version = found["pytest"]
        if parsed.runner == "pytest":
            if pytest_version is None:
                if _is_activated(candidate, env):
                    raise WorldFailed(
                        "no-interpreter",
                        f"the activated environment's interpreter {candidate} can't import pytest"
                        + (f": {found['error']}" if found.get("error") else ""),
                        f"{candidate} -m pip install pytest, or activate the project's environment",
                    )
                tried.append(f"{candidate} (no pytest)")
                continue
            if _numbers(pytest_version) < OLDEST_PYTEST:
                raise Undecided(
                    "old-pytest",
                    f"{candidate} has pytest {pytest_version}; the recorder needs 7.0 or newer",
                    f"{candidate} -m pip install 'pytest>=7'",
                )
        return Launch(
            python=candidate,
            runner=parsed.runner,
            args=parsed.args,
            prefix=str(found["prefix"]),
            version=version,
            runner_version=str(pytest_version) if parsed.runner == "pytest" else "",
            as_module=parsed.as_module,
            options=parsed.options,
            userbase=str(found["userbase"]) if found.get("user") else "",
            path=tuple(str(folder) for folder in found["path"]),
        )
    what = "that can import pytest" if parsed.runner == "pytest" else ""
    raise WorldFailed(
        "no-interpreter",
        f"no Python interpreter {what} was found for run.command; tried: {', '.join(tried) or 'nothing'}".replace(
            "  ", " "
        ),
        "activate the project's environment, or name its interpreter in [run] command "
        '(for instance [".venv/bin/python", "-m", "pytest"])',
    )


def first_that_starts(command: tuple[str, ...], work_tree: Path | None, env: Mapping[str, str]) -> Launch:
    """Return how to start a command that is no matter of the recorder, with the project's environment on PATH.

    redbucket's own interpreter where no other one starts: a project of another language needs none.
    """
    for candidate in (*_candidates("", work_tree, env), sys.executable):
        found = probe(candidate, env)
        if found is not None:
            break
    assert found is not None, "the interpreter that runs this starts"
    return Launch(
        python=candidate,
        runner="junit",
        args=command,
        prefix=str(found["prefix"]),
        version=tuple(found["version"]),
        runner_version="",
        as_module=False,
        path=tuple(str(folder) for folder in found["path"]),
    )


def _is_activated(candidate: str, env: Mapping[str, str]) -> bool:
    """True if a person chose this environment: another one behind their back would test something else."""
    folders = [env[v] for v in ("VIRTUAL_ENV", "CONDA_PREFIX") if env.get(v)]
    return any(Path(candidate).parent.parent == Path(folder) for folder in folders)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def _candidates(named: str, work_tree: Path | None, env: Mapping[str, str]) -> Iterator[str]:
    if "/" in named:
        base = work_tree or Path.cwd()
        yield str(base / named)
        return
    seen: set[str] = set()
    for path in _places(named or "python", work_tree, env):
        if path not in seen and os.access(path, os.X_OK):
            seen.add(path)
            yield path


def _places(name: str, work_tree: Path | None, env: Mapping[str, str]) -> Iterator[str]:
    own = Path(sys.prefix).resolve()
    # pre-commit names the environments that it makes for hooks py_env-VERSION; a hook of
    # "language: system" runs in the user's own
    hosted = "PRE_COMMIT" in env and Path(sys.prefix).name.startswith("py_env-")
    names = [name] if name != "python" else ["python", "python3"]
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        active = env.get(variable)
        if active and not (hosted and Path(active).resolve() == own):
            yield from (str(Path(active) / "bin" / n) for n in names)
    if work_tree is not None:
        for folder in (".venv", "venv", "env"):
            yield from (str(work_tree / folder / "bin" / n) for n in names)
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        # a person's PATH that begins with redbucket's environment means it: an image with one environment for all
        if folder and not (hosted and Path(folder).resolve().parent == own):
            yield from (str(Path(folder) / n) for n in names)
    if name == "python" and own != Path(sys.base_prefix).resolve() and not hosted:
        yield sys.executable


def probe(python: str, env: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what the interpreter says of itself, or None if it does not start."""
    return _ask(python, _PROBE, env)


def installed(launch: Launch, env: Mapping[str, str]) -> dict[str, str]:
    """Return the version of Python, the machine, and the version of each package that is installed for it."""
    found = _ask(launch.python, _INSTALLED, env)
    if found is None:
        raise WorldFailed(
            "interpreter-does-not-start",
            f"{launch.python} does not say what is installed for it",
            "check [run] command",
        )
    return {str(name): str(version) for name, version in found.items()}


def _ask(python: str, question: str, env: Mapping[str, str]) -> dict[str, Any] | None:
    clean = {k: v for k, v in env.items() if not k.startswith(("PYTHON", "GIT_", "COV_"))}
    try:
        done = subprocess.run(
            [python, "-c", question], capture_output=True, env=clean, cwd="/", timeout=60, check=False
        )
        return dict(json.loads(done.stdout)) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
