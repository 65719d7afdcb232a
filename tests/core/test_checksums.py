"""The lock's format: what sha256sum takes, what we refuse that it lets through, and the round trip."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redbucket.core.checksums import HEADER, Line, read, write
from redbucket.core.errors import Misused

A, B = "a" * 64, "b" * 64
SHA256SUM = shutil.which("sha256sum")


def check(folder: Path, raw: bytes) -> subprocess.CompletedProcess[bytes]:
    """What the real one says of a lock in ``folder``."""
    (folder / "lock").write_bytes(raw)
    assert SHA256SUM
    return subprocess.run(
        [SHA256SUM, "-c", "--strict", "lock"],
        cwd=folder,
        capture_output=True,
        env={"LC_ALL": "C"},
        check=False,
    )


# --- what is read


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (f"{A}  x\n", [(1, "x")]),
        (f"{A}  x", [(1, "x")]),  # the last line may lack its end
        (f"{A} *x\n", [(1, "x")]),  # binary mode means the same
        (f"{A.upper()}  x\n", [(1, "x")]),
        (f"  \t{A}  x\n", [(1, "x")]),
        (f"{A}\t x\n", [(1, "x")]),
        (f"# c\n\n\r\n{A}  x\r\n", [(4, "x")]),  # CRLF: one CR goes
        (f"SHA256 (a)b c) = {A}\n", [(1, "a)b c")]),  # the name ends at the last bracket
        (f"SHA256(x)\t={A}", [(1, "x")]),
        (f"{A}  ./-\n", [(1, "-")]),
        (f"{A}   x \n", [(1, " x ")]),  # blanks after the two belong to the name
        (f"{A}  *x\n{B}  #y\n", [(1, "*x"), (2, "#y")]),
        (f"{A}  -rf\n{B}  a\tb\n", [(1, "-rf"), (2, "a\tb")]),
    ],
)
def test_good_lines(raw: str, lines: list[tuple[int, str]]) -> None:
    found = read(raw.encode())
    assert found.flaws == ()
    assert [(line.number, line.path) for line in found.lines] == lines
    assert found.lines[0].sha256 == A


def test_names_that_are_not_utf8_come_back_as_git_gives_them() -> None:
    assert read(A.encode() + b"  caf\xe9\n").lines == [Line(1, A, "caf\udce9")]


# --- what is refused, with its line, its reason and its remedy


@pytest.mark.parametrize(
    ("raw", "number", "word"),
    [
        (b"", 0, "lists nothing"),
        (b"# only a comment\n\n", 0, "lists nothing"),
        (b"\xef\xbb\xbf%s  x\n" % A.encode(), 1, "byte order mark"),
        (f"{A}  x\n".encode("utf-16"), 1, "UTF-16"),
        (f"{A}  x\0{B}  y\0".encode(), 1, "-z"),
        (f"{A}  x\n{B} y\n".encode(), 2, "reversed"),
        (f"{A} y\n".encode(), 1, "reversed"),
        (f"{A}  \n".encode(), 1, "no file"),
        (f"{A}\n".encode(), 1, "no file"),
        (f"{A} *\n".encode(), 1, "no file"),
        (f"{A}  x\njunk\n".encode(), 2, "two spaces and a path"),
        (f"{A}  x\n # c\n".encode(), 2, "first column"),
        (f"{A}  x\n  \n".encode(), 2, "blanks"),
        (f"{A}  x\n{A[:40]}  y\n".encode(), 2, "40 digits"),
        (f"{A}  x\nSHA2-256 (y) = {A}\n".encode(), 2, "tag"),
        (f"{A}  x\nsha256 (y) = {A}\n".encode(), 2, "tag"),
        (f"{A}  x\n{A}  x\n".encode(), 2, "same file"),
        (f"{A}  x\n{B}  x\n".encode(), 2, "same file"),
        (f"{A}  x\n{B}  X\n".encode(), 2, "folds case"),
        (f"{A}  caf\u00e9\n{B}  cafe\u0301\n".encode(), 2, "normalises"),
        (f"{A}  /abs/x\n".encode(), 1, "absolute"),
        (f"{A}  C:/x\n".encode(), 1, "absolute"),
        (f"{A}  ../x\n".encode(), 1, ".."),
        (f"{A}  a/../x\n".encode(), 1, ".."),
        (f"{A}  ./x\n".encode(), 1, "shortest"),
        (f"{A}  a//x\n".encode(), 1, "shortest"),
        (f"{A}  a/./x\n".encode(), 1, "shortest"),
        (f"{A}  a/\n".encode(), 1, "shortest"),
        (f"{A}  .\n".encode(), 1, "shortest"),
        (f"{A}  -\n".encode(), 1, "standard input"),
        (f"{A}  x\r\r\n".encode(), 1, "line end"),  # a second CR is part of the name
        (f"\\{A}  a\\nb\n".encode(), 1, "backslash or a line end"),
        (f"\\{A}  a\\\\b\n".encode(), 1, "backslash"),
        (f"\\{A}  a\\tb\n".encode(), 1, "escape"),
        (f"\\{A}  a\\\n".encode(), 1, "escape"),
        (b"# redbucket lock 2: x\n%s  x\n" % A.encode(), 1, "version 2"),
    ],
)
def test_a_bad_line_is_named(raw: bytes, number: int, word: str) -> None:
    flaw = read(raw).flaws[0]
    assert flaw.number == number
    assert word in flaw.reason
    assert flaw.remedy


@given(st.binary(max_size=300))
@settings(max_examples=100)
def test_any_bytes_give_lines_or_flaws(raw: bytes) -> None:
    found = read(raw)
    assert found.paths or found.flaws


_NAME = st.text(
    st.characters(blacklist_characters="\0\n\r\\/:", blacklist_categories=("Cs",)), min_size=1, max_size=8
).filter(lambda name: name not in (".", ".."))
_PATHS = st.lists(st.lists(_NAME, min_size=1, max_size=3).map("/".join), min_size=1, max_size=6, unique=True)


@given(_PATHS)
def test_the_writer_and_the_fast_and_the_slow_reader_agree(paths: list[str]) -> None:
    sums = {path: hashlib.sha256(path.encode()).hexdigest() for path in paths}
    raw = write(sums)
    found = read(raw)
    assert {line.path: line.sha256 for line in found.lines} == sums
    if "-" not in paths:
        assert [p.encode() for p in found.paths] == sorted(p.encode() for p in paths)
    assert read(raw.replace(b"\n", b"\r\n")).lines == found.lines  # CRLF goes line by line


# --- what sha256sum takes


@pytest.mark.skipif(SHA256SUM is None, reason="no coreutils")
def test_sha256sum_takes_every_lock_that_we_write(tmp_path: Path) -> None:
    names = [
        "plain",
        " lead",
        "trail ",
        "*star",
        "#hash",
        "-rf",
        "-",
        "tab\ta",
        "q\"'",
        "a  b",
        "caf\u00e9",
        "caf\udce9",
    ]
    sums = {}
    for name in names:
        place = tmp_path / name
        place.write_bytes(name.encode("utf-8", "surrogateescape"))
        sums[name] = hashlib.sha256(place.read_bytes()).hexdigest()
    for raw in (write(sums), write(sums, header=False)):
        done = check(tmp_path, raw)
        assert (done.returncode, done.stderr) == (0, b""), done
        assert len(done.stdout.splitlines()) == len(names)
    assert {line.path: line.sha256 for line in read(write(sums)).lines} == sums


@pytest.mark.skipif(SHA256SUM is None, reason="no coreutils")
def test_what_sha256sum_lets_through_is_a_flaw_here(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).write_text(name)
    x, y = (hashlib.sha256(name.encode()).hexdigest() for name in "xy")
    weak = {
        "a -z list of which one is verified": f"{x}  x\0{'0' * 64}  y\0",
        "a link with the right bytes": f"{x}  {tmp_path}/x\n",
        "twice": f"{x}  x\n{x}  x\n",
        "unnormalised": f"{x}  .//x\n",
        "a reversed list": f"{x} x\n{y} y\n",
    }
    for what, text in weak.items():
        assert check(tmp_path, text.encode()).returncode == 0, what
        assert read(text.encode()).flaws, what


def test_it_is_sorted_by_bytes_with_a_header_that_says_the_rule() -> None:
    raw = write({"b": B, "a": A, "B": B})
    assert raw.startswith(HEADER)
    assert raw.removeprefix(HEADER) == f"{B}  B\n{A}  a\n{B}  b\n".encode()


@pytest.mark.parametrize("name", ["a\\b", "a\nb", "a\rb", "a\0b", "", "/a", "../a", "a//b", "./a"])
def test_a_name_that_tools_read_in_different_ways_is_not_written(name: str) -> None:
    with pytest.raises(Misused) as caught:
        write({name: A})
    assert caught.value.code == "unlockable-name" and caught.value.remedy
