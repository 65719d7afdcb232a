"""What is printed is typed again, by a shell, where the user stands: it works, or says what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from redbucket.app.calling import calling, place, program
from redbucket.core.calling import AS_WRITTEN
from tests.stories.kit import CONSOLE, Ended, Shop, redbucket

SYSTEM = "/usr/bin:/bin"


def commands(text: str) -> list[str]:
    """The commands of a report."""
    return [line.partition("$ ")[2] for line in text.splitlines() if line.strip().startswith("$ ")]


def typed(command: str, where: Path, repo: Shop, path: str = "") -> subprocess.CompletedProcess[str]:
    """Type one command into a shell that stands in ``where``."""
    person = {"NAME": "Ada", "EMAIL": "ada@example.org"}
    more = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in person.items()}
    more |= {"REDBUCKET_LEDGER": "off", "REDBUCKET_TMPDIR": os.environ["REDBUCKET_TMPDIR"]}
    env = repo.repo.environment(**more, **({"PATH": path} if path else {}))
    return subprocess.run(
        ["bash", "-c", command], cwd=where, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def weakened(tmp_path: Path) -> Shop:
    """An agent's branch, checked out, that weakens a test."""
    shop = Shop.open(tmp_path)
    (shop.path / "docs").mkdir()
    tests = (shop.path / "tests/test_shop.py").read_text()
    shop.repo.branch("agent/fix")
    shop.repo.commit(
        {"tests/test_shop.py": tests.replace("6)", "7)")}, "weaken", author="Bot <bot@x.example>"
    )
    return shop


@pytest.mark.parametrize("stands", ["beside", "below", "far"])
def test_the_commands_of_a_refusal(
    weakened: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stands: str
) -> None:
    where, words = {
        "beside": (weakened.path.parent, ["-C", weakened.path.name]),
        "below": (weakened.path / "docs", []),
        "far": (Path("/"), ["-C", str(weakened.path)]),
    }[stands]
    monkeypatch.chdir(where)
    told = redbucket("guard", *words, "--base", "main")
    assert told.exit_code == 1
    back, commit, again = commands(told.out)
    assert back.startswith("git -C ")
    for command in (back, commit):
        done = typed(command, where, weakened)
        assert done.returncode == 0, (command, done.stderr)
    assert weakened.repo.git("diff", "main", "--stat") == ""
    assert typed(again, where, weakened).returncode == 0


def test_the_remedy_of_a_finding_has_its_place_too(weakened: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(weakened.path.parent)
    out = redbucket("guard", "-C", "repo", "--base", "main").out
    assert "put it back (git -C repo checkout" in " ".join(out.split())
    monkeypatch.chdir(weakened.path)
    assert "-C" not in redbucket("guard", "--base", "main").out


def test_the_remedy_of_an_error_has_its_place_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = redbucket("fixtures", "refresh", "-C", "repo", "shop.py")
    assert ended.exit_code == 3
    assert "redbucket -C repo fixtures lock" in ended.err
    monkeypatch.chdir(shop.path)
    assert "redbucket fixtures lock" in redbucket("fixtures", "refresh", "shop.py").err


def test_other_forms_are_read_elsewhere(weakened: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    for form in ("markdown", "html", "json"):
        out = redbucket("guard", "-C", weakened.path, "--base", "main", "--format", form).out
        assert "git checkout" in out
        assert "git -C" not in out


def nothing(where: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Ended:
    monkeypatch.chdir(where)
    told = redbucket("gate", *words)
    assert told.out.startswith("ACCEPT  there is nothing to judge")
    return told


def test_nothing_to_judge_advises_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    first = nothing(shop.path, monkeypatch)
    assert commands(first.out) == ["redbucket gate --head BRANCH"]
    assert "first-commit" in first.out
    shop.repo.commit({"NEWS": "news\n"}, "more")
    assert commands(nothing(shop.path, monkeypatch).out) == [
        "redbucket gate --head BRANCH",
        "redbucket gate --base HEAD~1",
    ]
    (_, last) = commands(nothing(tmp_path, monkeypatch, "-C", "repo").out)
    assert last == "redbucket -C repo gate --base HEAD~1"
    assert typed(last, tmp_path, shop).stdout.startswith("ACCEPT  3 tests passed every time")
    shop.repo.commit({"NEWS": "newer\n"}, "still more")
    head = shop.repo.git("rev-parse", "main~1")[:12]
    (_, named) = commands(nothing(shop.path, monkeypatch, "--base", "main", "--head", "main~1").out)
    assert named == f"redbucket gate --base {head}~1 --head {head}"


def test_a_hook_knows_where_git_was_called(weakened: Shop) -> None:
    """Git runs hooks at the top; who types ``git commit`` in a folder below pastes there."""
    assert redbucket("install", "-C", weakened.path).exit_code == 0
    text = (weakened.path / "tests/test_shop.py").read_text()
    (weakened.path / "tests/test_shop.py").write_text(text.replace("3.00", "3.0"))
    below = weakened.path / "docs"
    done = typed("git add .. && git commit -m weaker", below, weakened)
    assert done.returncode == 1
    (back, *_) = commands(done.stdout + done.stderr)
    assert back.startswith("git -C .. checkout ")
    assert typed(back, below, weakened).returncode == 0
    assert weakened.repo.git("status", "--porcelain") == ""


def test_a_native_hook_needs_no_redbucket_on_path(weakened: Shop) -> None:
    assert redbucket("install", "-C", weakened.path).exit_code == 0
    (weakened.path / "redbucket.toml").write_text("# lax\n")
    done = typed("git commit -qam lax", weakened.path, weakened, SYSTEM)
    assert (done.returncode, "REFUSE" in done.stdout + done.stderr) == (1, True)


def test_what_a_hook_judged_and_what_is_typed_again(weakened: Shop) -> None:
    (weakened.path / "flakes.toml").write_text(
        '["tests/test_shop.py::ShopTests::test_total"]\nowner = "ada"\n'
    )
    tip = weakened.repo.git("rev-parse", "HEAD")[:10]
    for words, offered in (([], "flakes.toml of the work tree"), (["--staged"], "the index")):
        if words:
            weakened.repo.git("add", "flakes.toml")
        out = redbucket("-C", weakened.path, "flakes", "check", *words).out
        assert f"Judged: {offered} over HEAD {tip};" in out
        again = commands(out)[-1]
        assert again == " ".join(["redbucket flakes check", *words, "-C", str(weakened.path)])
        assert "git commit" not in out  # what is in no commit needs none to be judged
        done = typed(again, Path("/"), weakened)
        assert done.returncode == 1
        assert done.stdout.splitlines()[0] == out.splitlines()[0]
    ranged = redbucket("-C", weakened.path, "flakes", "check", "--base", "main", "--head", "HEAD").out
    assert "over HEAD" not in ranged


def test_a_name_that_path_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert program() == "redbucket"
    monkeypatch.setenv("PATH", SYSTEM)
    monkeypatch.setattr(sys, "argv", [CONSOLE])
    assert program() == CONSOLE
    monkeypatch.setattr(sys, "argv", ["/x/redbucket/__main__.py"])
    assert program() == CONSOLE
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert program().endswith(" /usr/bin/python3 -m redbucket")


@pytest.mark.parametrize(
    "start", [[CONSOLE], pytest.param([sys.executable, "-m", "redbucket"], marks=pytest.mark.slow)]
)
def test_the_demo_ends_with_commands_that_work(tmp_path: Path, start: list[str]) -> None:
    shop = Shop.open(tmp_path)
    shop.patch({"NEWS": "news\n"})
    env = shop.repo.environment(
        PATH=SYSTEM, REDBUCKET_LEDGER="off", REDBUCKET_TMPDIR=os.environ["REDBUCKET_TMPDIR"]
    )
    demo = [*start, "demo", "--only", "green"]
    for words in ([], ["--keep", str(tmp_path / "kept it")]):
        done = subprocess.run(
            [*demo, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        command = done.stdout.splitlines()[-1].replace("YOUR-BRANCH", "agent/fix").strip()
        ended = typed(command, shop.path, shop, SYSTEM)
        assert ended.returncode == (1 if words else 0), (command, ended.stderr)
        assert ended.stdout.startswith("REFUSE" if words else "ACCEPT")


def test_a_server_speaks_to_whoever_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", SYSTEM)
    monkeypatch.setattr(sys, "argv", [CONSOLE])
    assert calling().program == CONSOLE
    monkeypatch.setenv("GIT_QUARANTINE_PATH", "/srv/project.git/objects/incoming-1")
    assert calling() == AS_WRITTEN


def test_the_place_is_the_top_of_the_work_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = Shop.open(tmp_path)
    below = shop.path / "a/b"
    below.mkdir(parents=True)
    monkeypatch.chdir(shop.path)
    assert (place(Path()), place(Path("a/b")), place(shop.path)) == ("", "", "")
    monkeypatch.setenv("GIT_PREFIX", "a/b/")
    assert place(Path()) == "../.."
    monkeypatch.delenv("GIT_PREFIX")
    monkeypatch.chdir(below)
    assert place(Path()) == "../.."
    monkeypatch.chdir(tmp_path)
    assert place(Path("repo/a")) == "repo"
    assert place(below) == str(shop.path)
    assert place(Path("repo.home")) == "repo.home"  # no work tree: a bare repository, say
