"""How a shell starts single tests: by the interpreter and with the options that the runs had."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from shlex import join, quote

# What chooses, reports, stops early or spreads the tests: in the way of one or two of them. The first take a value.
_VALUED_OUT = frozenset(
    [
        "-k",
        "-m",
        "-n",
        "--numprocesses",
        "--dist",
        "--ignore",
        "--ignore-glob",
        "--deselect",
        "--maxfail",
        "--junitxml",
        "--junit-xml",
        "--durations",
        "--cov-report",
        "--cov-config",
        "--cov-fail-under",
        "--reruns",
    ]
)
_OUT = _VALUED_OUT | frozenset(
    [
        "--cov",
        "-x",
        "--exitfirst",
        "--lf",
        "--last-failed",
        "--ff",
        "--failed-first",
        "--nf",
        "--new-first",
        "--sw",
        "--stepwise",
        "--pyargs",
        "--looponfail",
        "--forked",
    ]
)
# Options whose value may be a path that is no test.
_PLACES = frozenset(["-c", "--config-file", "--rootdir", "--confcutdir", "--basetemp"])
_REPEATED = re.compile(r"(?<!\[)#\d+$")
_STARTS = {"-s": "start", "--start-directory": "start", "-t": "top", "--top-level-directory": "top"}


@dataclass(frozen=True)
class StartWords:
    """The interpreter ("python" where the shell's own is it), the runner, and ``run.command``'s arguments for it.

    ``options`` are those of the interpreter. ``as_module`` is False where the command is ``pytest`` itself.
    ``paths`` are the files and folders of the tree.
    """

    runner: str
    python: str = "python"
    args: tuple[str, ...] = ()
    as_module: bool = True
    paths: Container[str] = ()
    options: tuple[str, ...] = ()

    def of(self, tests: Sequence[str], plugins: Sequence[str] = ()) -> str:
        """Return a command for a shell that runs ``tests`` in that order, in one process.

        ``plugins`` are those that the runs had, as "name version".
        """
        tests = list(dict.fromkeys(map(typed, tests)))
        if self.runner != "pytest":
            return self._top() + join([self.python, *self.options, "-m", self.runner, *tests])
        return join([*self._pytest(), *_in_step(plugins), *tests])

    def recorded(self, test: str) -> str:
        """Return the command for one test that ``redbucket rerun`` takes."""
        if self._top():
            return join([self.python, *self.options, "-m", self.runner, *self.args, "-k", f"*{test}"])
        return self.of([test])

    def _pytest(self) -> list[str]:
        own = [self.python, *self.options, "-m", "pytest"]
        if not self.as_module:
            folder, slash, _ = self.python.rpartition("/")
            own = [f"{folder}{slash}pytest"]
        return [*own, *kept_options(self.args, self.paths)]

    def _top(self) -> str:
        """Discovery names its tests from its top folder, which the interpreter does not know by itself."""
        if self.runner != "unittest" or self.args[:1] != ("discover",):
            return ""
        places: dict[str, str] = {}
        free: list[str] = []
        words = iter(self.args[1:])
        for word in words:
            name, equals, value = word.partition("=")
            if name in _STARTS:
                places[_STARTS[name]] = value if equals else next(words, ".")
            elif word in ("-p", "--pattern", "-k"):
                next(words, "")
            elif not word.startswith("-"):
                free.append(word)
        # discover START PATTERN TOP
        top = places.get("top") or (free[2] if len(free) > 2 else "")
        top = (top or places.get("start") or (free[0] if free else ".")).rstrip("/")
        return "" if top in (".", "") else f"PYTHONPATH={quote(top)} "


def typed(nodeid: str) -> str:
    """Return an id that the runner takes: the whole test for a row that is another in each process."""
    nodeid = _REPEATED.sub("", nodeid)
    return nodeid.partition("[")[0] if "0x…" in nodeid or "[#" in nodeid else nodeid


def kept_options(args: Sequence[str], paths: Container[str]) -> list[str]:
    """Return pytest's arguments without those that name tests (``paths``: files and folders) or are in their way."""
    kept: list[str] = []
    before = ""
    for word in args:
        if word.startswith("-"):
            dropped = word.partition("=")[0] in _OUT or (word[:2] in _VALUED_OUT and word[2:3] != "")
        elif before in _PLACES:
            dropped = False
        else:
            dropped = before in _VALUED_OUT or word.partition("::")[0].rstrip("/") in paths
        if not dropped:
            kept.append(word)
        before = word
    return kept


def _in_step(plugins: Sequence[str]) -> list[str]:
    """Return options that keep the tests in their order and in one process, against the plugins that are there."""
    names = {plugin.partition(" ")[0] for plugin in plugins}
    return [word for plugin, words in _STEADY.items() if plugin in names for word in words]


# By an option of the plugin's own: with `-p no:NAME` its options in a configuration would be unknown.
_STEADY = {
    "pytest-randomly": ("--randomly-dont-reorganize",),
    "pytest-xdist": ("-n", "0"),
    "pytest-rerunfailures": ("--reruns", "0"),
    "pytest-random-order": ("--random-order-bucket=none",),
}
