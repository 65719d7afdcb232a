"""Whatever the bytes of a file that a reader is given: a value, or the one error that it documents."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core import (
    agentcalls,
    checksums,
    contrary,
    drift,
    evasion,
    explicit,
    fingerprint,
    flakes,
    flakesedit,
    foreign_config,
    foreign_locks,
    lfs,
    lineends,
    locked,
    members,
    memorised,
    missed,
    mutants,
    nodes,
    noisecapture,
    policy,
    pytree,
    savedreport,
    seals,
    secrets,
    shared_config,
    skipmarks,
    submodules,
    testconfig,
    testpatterns,
    testtree,
    trailers,
    watchlines,
)
from redbucket.core.alteration import altered
from redbucket.core.doctests import doctest_change
from redbucket.core.errors import RedbucketError
from redbucket.core.patch import Hunk

POLICY = b"""[gate]
protected_branches = ["main"]
[run]
command = ["python", "-m", "pytest"]
prepare = [["make"]]
env = { A = "1" }
"""
FLAKES = b"""["tests/test_a.py::test_b"]
owner = "team"
ticket = "QA-1"
expires = 2026-10-02
replay = "runs/a.json"
"""
CODE = b"""import pytest
from lib import f

@pytest.mark.parametrize("x", [1, 2])
class TestA:
    def test_b(self, x):
        '''
        >>> f(1)
        2
        '''
        with pytest.raises(ValueError):
            assert f(x) == 2
"""
CONFIG = b"[tool.pytest.ini_options]\naddopts = '-q'\n[project]\nname = 'a'\ndependencies = ['b>=1']\n"
INI = b"[tool:pytest]\naddopts = -q\n[metadata]\nname = a\n[options]\ninstall_requires =\n    b>=1\n"
LOCK = b"0" * 64 + b"  tests/data/a.json\n\\" + b"1" * 64 + b" *a\\\\nb\n"
JSON = b'{"interactions": [{"request": {"uri": "http://a"}, "a": [1, 1.0, true, null, "x"]}]}'
CALL = b'{"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": "a", "command": "rm a"}}'
MESSAGE = b"A change\n\nCo-authored-by: A <a@b>\nRedbucket-Endorse: " + b"0" * 40 + b' "a\\303"\n'
REPORT = b'{"schema": "redbucket.gate/1", "verdict": "accept", "exit_code": 0, "counts": {"noise": 1}}'
TICKET = (
    b'{"schema": "' + seals.TICKET.encode() + b'", "base": "a", "head": "b", "reruns": 3, "scope": "all",'
    b' "timeout": 60, "of": 3, "runs": [1, 2, 3], "key": "' + b"00" * seals.KEY_BYTES + b'"}'
)
FOREIGN = {
    "package.json": b'{"scripts": {"test": "jest"}, "dependencies": {"a": "file:../a"}, "jest": {"bail": 1}}',
    "Cargo.toml": b"[package]\nname = 'a'\n[dependencies]\nb = { path = '../b' }\n[[test]]\nname = 'c'\n",
    "go.mod": b"module a\n\nreplace b => ../b\nreplace (\n\tc v1.0.0 => d v1.0.1\n)\n",
    "package-lock.json": b'{"packages": {"node_modules/a": {"version": "1.0.0", "resolved": "https://b/a.tgz"}}}',
    "Cargo.lock": b'[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "registry+https://b"\nchecksum = "0"\n',
    "go.sum": b"a v1.0.0 h1:x=\na v1.0.0/go.mod h1:y=\n",
    "yarn.lock": b'a@^1.0.0:\n  version "1.0.0"\n  resolved "https://b/a.tgz#0"\n  integrity sha512-x\n',
    "pnpm-lock.yaml": b"packages:\n  /a@1.0.0:\n    resolution: {integrity: sha512-x}\n",
}
REQUIREMENTS = b"a==1 --hash=sha256:0\n-r b.txt\n--index-url https://example.invalid/simple\n"


def text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """A reader of text, which git hands over decoded."""
    return lambda raw: read(raw.decode("utf-8", "surrogateescape"))


def lock_reader(name: str) -> Callable[[bytes], object]:
    reader = locked.reader(name)
    assert reader is not None
    return reader


def foreign(path: str, good: bytes) -> Callable[[bytes], object]:
    """The locked versions and the configuration of another language, as base's and as the patch's."""
    if path in ("package.json", "Cargo.toml", "go.mod", "composer.json"):
        read: Any = foreign_config.judging_changes
    else:
        read = foreign_locks.replaced
    return lambda raw: (read(path, good, raw), read(path, raw, good))


def zipped() -> bytes:
    """A small archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    return out.getvalue()


READERS: dict[str, tuple[Callable[[bytes], object], bytes, tuple[type[BaseException], ...]]] = {
    "policy": (lambda raw: policy.parse(raw, "f"), POLICY, (RedbucketError,)),
    "flakes": (lambda raw: flakes.parse(raw, "f"), FLAKES, (RedbucketError,)),
    "checksums": (checksums.read, LOCK, ()),
    "capture": (
        lambda raw: noisecapture.decode(raw, "f"),
        b'{"schema": "redbucket.capture/1"}',
        (RedbucketError,),
    ),
    "misses": (
        lambda raw: missed.misses(raw, "f"),
        b'[{"nodeid": "a", "bucket": "invariant_miss"}]',
        (RedbucketError,),
    ),
    "agent call": (agentcalls.parse, CALL, (RedbucketError,)),
    "agent patch": (
        text(lambda s: list(agentcalls.patch_edits(s))),
        b"*** Begin Patch\n*** Add File: a\n+x\n",
        (),
    ),
    "trailers": (text(trailers.trailers), MESSAGE, ()),
    "quoted path": (text(trailers.unquote_path), b'"a\\303\\t"', ()),
    "pyproject": (lambda raw: shared_config.judging_part("pyproject.toml", raw), CONFIG, (ValueError,)),
    "setup.cfg": (lambda raw: shared_config.judging_part("setup.cfg", raw), INI, (ValueError,)),
    "composed": (lambda raw: shared_config.compose("pyproject.toml", CONFIG, raw), CONFIG, ()),
    "composed ini": (lambda raw: shared_config.compose("tox.ini", INI, raw), INI, ()),
    "effective": (lambda raw: testconfig.effective("pyproject.toml", raw), CONFIG, ()),
    "effective ini": (lambda raw: testconfig.effective("pytest.ini", raw), b"[pytest]\naddopts = -q\n", ()),
    "entry points": (lambda raw: testconfig.entry_points("pyproject.toml", raw), CONFIG, ()),
    "plugins": (lambda raw: testconfig.plugin_names("conftest.py", raw), b"pytest_plugins = ['a']\n", ()),
    "backend": (testconfig.build_backend, b"[build-system]\nrequires = ['a']\nbuild-backend = 'b'\n", ()),
    "poetry.lock": (lock_reader("poetry.lock"), b"[[package]]\nname = 'a'\nversion = '1'\n", (ValueError,)),
    "requirements": (lock_reader("requirements.txt"), REQUIREMENTS, (ValueError,)),
    "project name": (locked.project_name, CONFIG, ()),
    "module": (lambda raw: testtree.read_module("tests/test_a.py", raw), CODE, ()),
    "skip marks": (skipmarks.skip_marks, CODE, ()),
    "contrary": (lambda raw: contrary.contrary(raw, "1"), CODE, ()),
    "evasion": (lambda raw: evasion.signs(raw, "a.py"), CODE, ()),
    "answers": (memorised.answers, b"A = {1: 2}\ndef f(x):\n    return {3: 4}[x]\n", ()),
    "mutants": (lambda raw: mutants.mutants(raw, "a.py", range(1, 20)), CODE, ()),
    "alteration": (lambda raw: altered(CODE, raw, "tests/test_a.py"), CODE, ()),
    "doctests": (lambda raw: doctest_change(CODE, raw), CODE, ()),
    "same tree": (lambda raw: pytree.same_tree(CODE, raw), CODE, ()),
    "json": (nodes.from_json, JSON, (ValueError,)),
    "json lines": (nodes.from_json_lines, JSON + b"\n" + JSON, (ValueError,)),
    "toml": (nodes.from_toml, CONFIG, (ValueError,)),
    "csv": (nodes.from_csv, b'a,b\n1,"x\n"\n', (ValueError,)),
    "yaml": (
        nodes.from_yaml,
        b"a: &x [1, 2]\ne: *x\nb: {c: !!binary aGk=}\n---\n- 2020-01-01\n",
        (ValueError,),
    ),
    "members": (members.members, zipped(), (ValueError,)),
    "secrets": (lambda raw: secrets.secrets("a.yaml", raw), b"Authorization: Bearer abc\n", ()),
    "LFS": (
        lfs.pointed_at,
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n",
        (),
    ),
    "submodules": (submodules.submodules, b'[submodule "a"]\n\tpath = a\n\turl = ../a\n', ()),
    "examples": (
        explicit.without_examples,
        b"@example(1)\n@example(\n    2)\ndef test_a(x):\n    assert x\n",
        (),
    ),
    "expectations": (memorised.expectations, CODE, ()),
    "kinds of tests": (
        testpatterns.kind_of_tests,
        b"from hypothesis import given\n@given(x)\n" + CODE[30:],
        (),
    ),
    "docstring": (lambda raw: testpatterns.is_doctest_of_code("a.py::a.f", "a.py", raw), CODE, ()),
    "lines to watch": (lambda raw: watchlines.watch_lines(raw, [Hunk(1, 1, (), ("x",) * 9)]), CODE, ()),
    "syntax error": (pytree.syntax_error, b"def f(:\n", ()),
    "freeze added": (
        lambda raw: flakesedit.with_entry(raw, flakes.parse(FLAKES, "f").entries[0], "f"),
        FLAKES.replace(b"test_b", b"test_c"),
        (RedbucketError,),
    ),
    "freeze removed": (
        lambda raw: flakesedit.without_entry(raw, flakes.parse(FLAKES, "f").entries[0], "f"),
        FLAKES,
        (RedbucketError,),
    ),
    "saved report": (lambda raw: savedreport.saved_report(raw, "f"), REPORT, (RedbucketError,)),
    "ticket": (lambda raw: seals.read_ticket(raw, "f"), TICKET, (RedbucketError,)),
    "variables": (lambda raw: testconfig.variables(".env", raw), b"export PYTEST_ADDOPTS='-k a'\n", ()),
    "ident": (lineends.idented, b"$Id: a$ $Id$\n", ()),
    "tsv": (nodes.from_tsv, b'a\tb\n1\t"x\n"\n', (ValueError,)),
    "message": (text(fingerprint.normalise), b"<A object at 0x7f00> is not 1.5 in /tmp/a/b.py:12\n", ()),
    **{path: (foreign(path, good), good, (ValueError,)) for path, good in FOREIGN.items()},
    "drift": (lambda raw: drift.change_of("a.json", JSON, raw), JSON, ()),
}
TOKENS = [
    b"\0",
    b"\xff",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b"\\",
    b"#",
    b"=",
    b"\t",
    b"\xef\xbb\xbf",
]
TOKENS += [
    b"\xe2\x80\xae",
    b"1e999",
    b"*",
    b"&a",
    b"!!python/object:os.system",
    b"9" * 400,
    b"lambda:",
    b"f'{x'",
]


def give(name: str, raw: bytes) -> None:
    read, _, errors = READERS[name]
    try:
        read(raw)
    except errors:
        return


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=40)
@given(st.data())
def test_mutations_of_a_good_file(name: str, data: st.DataObject) -> None:
    raw = READERS[name][1]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        size = data.draw(st.sampled_from([0, 0, 1, 1, 2, 7, 50]))
        raw = raw[:at] + data.draw(st.sampled_from(TOKENS) | st.binary(max_size=4)) + raw[at + size :]
    give(name, raw)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=25)
@given(raw=st.binary(max_size=200))
def test_any_bytes(name: str, raw: bytes) -> None:
    give(name, raw)


DEEP = 20_000
NESTS: dict[str, Callable[[bytes], bytes]] = {
    "brackets": lambda good: b"a = " + b"[" * DEEP + b"]" * DEEP,
    "braces": lambda good: b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "calls": lambda good: b"x = " + b"f(" * DEEP + b")" * DEEP,
    "signs": lambda good: b"x = " + b"-" * DEEP + b"1",
    "indents": lambda good: b"".join(b" " * n + b"if x:\n" for n in range(120)) + b" " * 120 + b"pass\n",
    "attributes": lambda good: b"x" + b".a" * DEEP,
    "dots": lambda good: b"[" + b".".join([b"a"] * DEEP) + b"]\nb = 1\n",
    "sequences": lambda good: b"- " * DEEP + b"1",
    "sums": lambda good: b"x = " + b"1+" * DEEP + b"1",
    "elifs": lambda good: b"if a:\n pass\n" + b"elif a:\n pass\n" * (DEEP // 10),
    "one line": lambda good: good.replace(b"\n", b" ") * 200,
    "again": lambda good: good * 200,
    "anchors": lambda good: (
        b"a0: &a0 [x, x]\n"
        + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60))
    ),
}


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("name", READERS)
def test_deep_and_long_input(name: str, nest: str) -> None:
    """Neither a crash of the parser's own stack nor more than a moment: a patch's author chooses the depth."""
    give(name, NESTS[nest](READERS[name][1]))


def test_an_archive_whose_member_has_no_name() -> None:
    """zipfile cuts a name at its NUL; before Python 3.12 it then asks the empty rest for its last letter."""
    give("members", zipped().replace(b"a.txt", b"\0.txt"))


def test_the_samples_are_good() -> None:
    """Mutations of what is refused at the first byte would try nothing."""
    refused = []
    for name, (read, sample, errors) in READERS.items():
        try:
            read(sample)
        except errors:
            refused.append(name)
    assert set(refused) <= {"capture"}


def test_noise_of_a_fixed_seed() -> None:
    """Long random bytes, which Hypothesis does not draw."""
    noise: Any = random.Random(20261129).randbytes(60_000)
    for name in READERS:
        give(name, noise)
