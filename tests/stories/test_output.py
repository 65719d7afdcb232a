"""Where results go, in which form, and that nothing else ever gets in between."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.conftest import seal
from tests.stories.kit import CONSOLE, SHOP, Ended, Shop, redbucket, reported

MORE = SHOP + "\n\ndef double(price):\n    return 2 * price\n"
ESCAPE = "\x1b["


@pytest.fixture(scope="module")
def green(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A shop with a harmless patch: the gate is quick there."""
    place = tmp_path_factory.mktemp("green")
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, place)
        shop = Shop.open(place)
        shop.patch({"shop.py": SHOP.replace("sum(prices)", "sum(list(prices))")})
        yield shop


def words(shop: Shop, *more: str | Path) -> tuple[str | Path, ...]:
    return ("gate", "-C", shop.path, "--base", "main", "--head", "agent/fix", "--reruns", "1", *more)


def guards(shop: Shop, *more: str | Path) -> tuple[str | Path, ...]:
    """The quickest command that reports."""
    return ("guard", "-C", shop.path, "--base", "main", "--head", "agent/fix", *more)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "markdown", "html", "github"])
def test_each_form_goes_to_stdout_alone(green: Shop, form: str) -> None:
    ended = redbucket(*words(green, "--format", form))
    assert (ended.exit_code, ended.err) == (0, "")
    assert ended.out.endswith("\n")
    assert ESCAPE not in ended.out
    if form == "json":
        assert json.loads(ended.out)["schema"] == "redbucket.gate/1"
    elif form == "sarif":
        assert json.loads(ended.out)["version"] == "2.1.0"
    elif form == "junit":
        assert len(list(ElementTree.fromstring(ended.out).iter("testcase"))) >= 3
    elif form == "markdown":
        assert ended.out.startswith("#") or "**" in ended.out
    elif form == "github":
        assert ended.out.startswith("::notice title=redbucket%3A ACCEPT::")
    elif form == "html":
        assert ended.out.startswith("<!DOCTYPE html>")
        assert ended.out.endswith("</html>\n")
    else:
        assert ended.out.startswith("ACCEPT  ")
        assert max(map(len, ended.out.splitlines())) <= 100


def test_output_to_a_file_is_whole_or_not_at_all(green: Shop, tmp_path: Path) -> None:
    target = tmp_path / "verdict.json"
    target.write_text("old")
    ended = redbucket(*guards(green, "--format", "json", "--output", target))
    assert (ended.exit_code, ended.out) == (0, "")
    assert ended.err.startswith("redbucket: ACCEPT: ")
    assert ended.err.endswith(f"; the report is in {target}\n")
    assert json.loads(target.read_text())["verdict"] == "accept"
    assert [place.name for place in tmp_path.iterdir() if "verdict" in place.name] == ["verdict.json"]


def test_output_to_a_place_that_does_not_exist(green: Shop, tmp_path: Path) -> None:
    ended = redbucket(*guards(green, "--format", "json", "-o", tmp_path / "no" / "verdict.json"))
    assert (ended.exit_code, ended.out, ended.errors) == (4, "", ["not-writable"])
    assert "--output" in ended.err


def test_output_over_a_folder_leaves_it_alone(green: Shop, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    ended = redbucket(*guards(green, "-o", tmp_path / "folder"))
    assert (ended.exit_code, ended.errors) == (4, ["not-writable"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "sealed-home", "shops"]


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
    ],
    ids=str,
)
def test_colour_away_from_a_terminal(
    green: Shop, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (ESCAPE in redbucket(*guards(green)).out) is coloured


def test_quiet_says_nothing_of_a_green_patch_and_all_of_a_red_one(green: Shop, tmp_path: Path) -> None:
    assert redbucket(*guards(green, "--quiet")) == Ended(0, "", "")
    assert redbucket(*guards(green, "--quiet", "--format", "json")).out.startswith("{")
    shop = Shop.open(tmp_path)
    shop.patch({"redbucket.toml": "[gate]\n"})
    refused = redbucket(*guards(shop, "--quiet"))
    assert refused.exit_code == 1
    assert "protected-path" in refused.out


def on_a_terminal(command: list[str], *, stdout_too: bool, **more: str) -> tuple[int, bytes, bytes]:
    """Run with stderr (and stdout) on a terminal; return the exit code, stdout and what the terminal got."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=follower if stdout_too else subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", **more},
    )
    os.close(follower)
    seen = b""
    try:
        while chunk := os.read(leader, 65536):
            seen += chunk
    except OSError:
        pass  # the last writer of a terminal is gone
    os.close(leader)
    out, _ = process.communicate()
    return process.returncode, out or b"", seen


def test_progress_is_for_a_terminal_and_never_on_stdout(green: Shop) -> None:
    command = [CONSOLE, *map(str, words(green, "--format", "json"))]
    code, out, seen = on_a_terminal(command, stdout_too=False)
    assert code == 0
    assert json.loads(out)["verdict"] == "accept"
    assert b"running the tests" in seen
    assert seen.endswith(b"\r\x1b[K")
    code, out, seen = on_a_terminal([*command, "--quiet"], stdout_too=False)
    assert (code, seen) == (0, b"")
    code, _, seen = on_a_terminal([CONSOLE, *map(str, guards(green))], stdout_too=True)
    assert code == 0
    assert b"\x1b[1;32mACCEPT" in seen
    code, _, seen = on_a_terminal([CONSOLE, *map(str, guards(green))], stdout_too=True, NO_COLOR="1")
    assert b"\x1b[1" not in seen
    code, _, seen = on_a_terminal([CONSOLE, *map(str, guards(green))], stdout_too=True, TERM="dumb")
    assert b"\x1b[" not in seen


def test_verbose_says_the_steps_line_by_line(green: Shop) -> None:
    ended = redbucket(*words(green, "--verbose"))
    assert ended.err.splitlines()[0] == "running the tests once with the patch"
    assert ESCAPE not in ended.err
    assert "\r" not in ended.err


def test_a_reader_that_goes_away(green: Shop) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [CONSOLE, *map(str, guards(green, "--format", "json"))],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert process.stderr == b""
    assert process.returncode == 4


def test_a_closed_stdout(green: Shop) -> None:
    process = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", CONSOLE, *map(str, guards(green))],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert b"Traceback" not in process.stderr
    assert b"standard output is closed [no-stdout]" in process.stderr
    assert process.returncode == 4


def test_a_closed_stderr(green: Shop) -> None:
    for more, code in (((), 0), (("--base", "nope"), 3)):
        process = subprocess.run(
            ["/bin/sh", "-c", '"$@" 2>&-', "sh", CONSOLE, *map(str, guards(green, *more))],
            stdout=subprocess.PIPE,
            check=False,
        )
        assert process.returncode == code
        assert process.stdout.startswith(b"ACCEPT" if code == 0 else b"")
        assert b"Traceback" not in process.stdout


def test_a_full_stdout(green: Shop) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [CONSOLE, *map(str, guards(green))], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert process.returncode == 4
    assert process.stderr.splitlines()[0].endswith(b"[disk-full]")
    assert b"Traceback" not in process.stderr


def test_keep_keeps_trees_and_records(green: Shop, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = reported(*words(green, "--keep", kept))
    place = Path(told.report["kept"])
    assert place.parent == kept
    records = sorted(place.glob("*.jsonl"))
    assert len(records) >= 2
    assert json.loads(records[0].read_text().splitlines()[0])["event"] == "header"
    assert list(place.glob("H-plain-*/repo/shop.py"))
    again = reported(*words(green, "--keep", kept))
    assert again.report["kept"] != told.report["kept"]
    text = redbucket(*words(green, "--keep", kept)).out
    assert "Trees and records are kept in" in text
    assert f"{kept}/runs-3" in text


def test_another_folder(green: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (green.path / "tests").mkdir(exist_ok=True)
    assert (
        redbucket("guard", "-C", green.path / "tests", "--base", "main", "--head", "agent/fix").exit_code == 0
    )
    monkeypatch.chdir(green.path)
    assert redbucket("guard", "--base", "main", "--head", "agent/fix").exit_code == 0


def test_python_dash_m(green: Shop) -> None:
    done = subprocess.run(
        [str(Path(CONSOLE).parent / "python"), "-m", "redbucket", *map(str, guards(green))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ACCEPT")


def test_a_refusal_repeats_the_command_that_was_given(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"redbucket.toml": "[gate]\nprotected_branches = []\n"})
    words = ("guard", "--base", "main", "--head", "agent/fix", "--head-ref", "agent/x y")
    told = redbucket("-C", shop.path, *words)
    assert told.exit_code == 1
    again = f"$ redbucket guard --base main --head agent/fix --head-ref 'agent/x y' -C {shop.path}\n"
    assert again in told.out
    assert again in redbucket("guard", "-C", shop.path, *words[1:]).out


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "markdown", "html", "github"])
def test_a_saved_report_gives_what_the_gate_would_have_given(green: Shop, tmp_path: Path, form: str) -> None:
    saved = tmp_path / "verdict.json"
    assert redbucket(*guards(green, "--format", "json", "--output", saved)).exit_code == 0
    told = json.loads(saved.read_text())
    ended = redbucket("report", "-C", green.path, saved, "--format", form)
    assert (ended.exit_code, ended.err) == (0, "")
    directly = redbucket(*guards(green, "--format", form))
    # but for the time that each took
    time, other = (f"{seconds:.1f} s" for seconds in (told["duration"], -1))
    if form == "json":
        assert json.loads(ended.out) == told
    elif form == "text":
        assert ended.out.replace(time, other) == re.sub(r"\d+\.\d s", other, directly.out)
    else:
        assert ended.out.splitlines()[0] == directly.out.splitlines()[0]


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"schema": "other/1", "verdict": "accept", "exit_code": 0}', "\0"]
)
def test_what_is_no_report_is_misuse(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    ended = redbucket("report", tmp_path / "x.json")
    assert (ended.exit_code, ended.errors, ended.out) == (3, ["not-a-report"], "")
