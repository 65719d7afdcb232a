"""Which changed lines a test executes, by both mechanisms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorder.envs import venv
from tests.recorder.runkit import record

# A marker at the end of a line says which tests touch it: a test's letter, "I" for import by test_p,
# "?" either way.
PRODUCT = '''\
"""Docstring."""                                 #
from __future__ import annotations               #
import contextlib                                # I
LIMIT = 3                                        # I
TABLE = {                                        # I
    "a": 1,                                      # I
    "b": 2,                                      # I
}                                                # I
def plain(x, y=LIMIT):                           # a
    """Doc."""                                   #
    if x:                                        # a
        return 1                                 # a
    elif y:                                      #
        return 2                                 #
    return 3                                     #
def never(x):                                    #
    return x                                     #
@contextlib.contextmanager                       # b
def managed(                                     # b
    x,                                           # b
):                                               # b
    try:                                         # b
        yield x                                  # b
    except ValueError:                           # b
        x += 1                                   # b
    else:                                        #
        x += 2                                   #
    finally:                                     #
        x += 3                                   # b
class Thing:                                     # I
    field = 1                                    # I
    @property                                    # c
    def value(self): return self.field           # c
    def method(self):                            # c
        with contextlib.suppress(KeyError):      # c
            raise KeyError                       # c
        for i in range(2):                       # c
            while True:                          # c
                break                            # c
        else:                                    #
            i = 5                                # c
        return [                                 # c
            i + j                                # c
            for j in range(3)                    # c
        ]                                        # c
async def coroutine(x):                          # d
    async for y in agen(x):                      # d
        return y                                 # d
async def agen(x):                               # d
    yield x                                      # d
def outer():                                     # e
    def inner(): return 1                        # e
    def unused():                                #
        return 2                                 #
    double = lambda z: z * 2                     # e
    return inner() + double(3)                   # e
def one(x): return x                             # f
def gen():                                       # f
    yield 1                                      # f
    yield 2                                      #
def jit(function): return function               # I
@jit                                             # I
def fast(x):                                     # I
    return x                                     # I
def multi(a):                                    # g
    return dict(                                 # g
        a=a,                                     # g
        b=None,                                  # g
    )                                            # g
'''
MATCH = """\
def match(x):                                    # a
    match x:                                     # a
        case 1:                                  # ?
            return 1                             #
        case [y]:                                # a
            return y                             # a
"""
TESTS = """
import asyncio
import pkg.prod as p
{extra}
def test_none(): pass
def test_a(): p.plain(1)
def test_b():
    with p.managed(1): raise ValueError
def test_c():
    p.Thing().value
    p.Thing().method()
def test_d(): asyncio.run(p.coroutine(1))
def test_e(): p.outer()
def test_f(): p.one(1); next(p.gen())
def test_g(): p.multi(1)
def test_a_again(): p.plain(1)
"""


def expected(source: str, letter: str, path: str) -> set[str]:
    marks = enumerate((line.rpartition("#")[2].split() for line in source.splitlines()), 1)
    return {f"{path}:{n}" for n, mark in marks if letter in mark}


def source_lines(source: str) -> tuple[int, ...]:
    return tuple(range(1, len(source.splitlines()) + 1))


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_touched(tmp_path: Path, version: str) -> None:
    python = venv(version, "pytest")
    minor = int(version.partition(".")[2])
    source = PRODUCT
    files = {
        "src/pkg/__init__.py": "",
        "src/pkg/prod.py": source,
        "tests/test_p.py": TESTS.format(extra=""),
        "tests/test_q.py": "import user\ndef test_q(): pass\n",
        "src/user.py": "from pkg.prod import LIMIT\n",
        "tests/test_r.py": "def test_r(): pass\n",
    }
    lines = {"src/pkg/prod.py": source_lines(source)}
    if minor >= 10:
        files["src/pkg/m.py"] = MATCH
        files["tests/test_m.py"] = "from pkg.m import match\ndef test_a(): match([2])\n"
        lines["src/pkg/m.py"] = source_lines(MATCH)
    r = record(tmp_path, files, python=python, roots=("src", "."), lines=lines, timeout=20.0)
    assert r.footer["complete"], r.footer
    assert set(r.outcomes.values()) == {"passed"}
    imported = expected(source, "I", "src/pkg/prod.py")
    for letter in "abcdefg":
        touched = set(r.end(f"test_p.py::test_{letter}").get("touched", ()))
        assert touched - imported == expected(source, letter, "src/pkg/prod.py"), letter
        assert touched >= imported
    assert r.end("test_a_again")["touched"] == r.end("test_p.py::test_a")["touched"]
    assert set(r.end("test_none")["touched"]) == imported
    assert set(r.end("test_q")["touched"]) == imported
    assert "touched" not in r.end("test_r")
    if minor >= 10:
        touched = set(r.end("test_m.py::test_a")["touched"])
        # a pattern that was tried and did not match is touched for sys.monitoring only
        assert touched - expected(MATCH, "?", "src/pkg/m.py") == expected(MATCH, "a", "src/pkg/m.py")


def test_only_watched_lines(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "prod.py": "def f(x):\n    y = x\n    z = y\n    return z\n",
            "test_a.py": "import prod\ndef test_a(): prod.f(1)\n",
        },
        lines={"prod.py": (3,)},
    )
    assert r.end("test_a")["touched"] == ["prod.py:3"]


def test_probes_reach_no_other_process(tmp_path: Path) -> None:
    """What is compiled with probes is never written where another process finds it."""
    for version in ("3.10", "3.13"):
        r = record(
            tmp_path / version,
            {
                "prod.py": "def f(x):\n    return x\n",
                "test_a.py": """
    import prod, subprocess, sys
    def test_a(): assert prod.f(1) == 1
    def test_b():
        code = "import prod, dis; prod.f(1); assert len(list(dis.get_instructions(prod.f))) < 5"
        subprocess.run([sys.executable, "-c", code], check=True)
    def test_c(): subprocess.run([sys.executable, "-c", "import prod; prod.f(1)"], check=True)
    """,
            },
            python=venv(version, "pytest"),
            lines={"prod.py": (1, 2)},
        )
        assert set(r.outcomes.values()) == {"passed"}, r.of("end")


def test_a_file_that_does_not_parse(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {"prod.py": "def f(:\n", "test_a.py": "import prod\n", "test_b.py": "def test_b(): pass\n"},
        lines={"prod.py": (1,)},
    )
    assert r.outcomes == {"test_b.py::test_b": "passed"}
    errors = {k: v for e in r.of("collected") for k, v in e.get("errors", {}).items()}
    assert "SyntaxError" in errors["test_a.py"]
