"""git-trap on real repositories: patches that look otherwise than they land, and honest ones beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from redbucket.core.attributes import Attributes
from redbucket.core.bidi import odd_characters, reorders, skeleton, unbalanced
from tests.gitkit import Content, Link, Repo
from tests.guards.attacked import Attacked, Edits, gravest

PNG = b"\x89PNG\0\0data"
BASE: dict[str, Content] = {
    ".gitattributes": "*.jpg binary\n",
    ".gitmodules": '[submodule "themes"]\n\tpath = docs/themes\n\turl = https://example.org/t.git\n',
    "src/lib.py": "def f(x):\n    return x\n",
    "src/other.py": "X = 1\n",
    "docs/a.md": "a\n",
    "tests/test_lib.py": "from lib import f\n\ndef test_f():\n    assert f(1) == 1\n",
    "tests/data/rows.json": "[]\n",
    "tests/data/dos.txt": "a\r\nb\r\n",
    "tests/data/logo.png": PNG,
    "CHANGELOG.md": "1\n",
}
RLO, PDF, LRI, RLI, PDI, RLM = "\u202e", "\u202c", "\u2066", "\u2067", "\u2069", "\u200f"
SHALOM = "\u05e9\u05dc\u05d5\u05dd"


def attributes(text: str, path: str = ".gitattributes") -> dict[str, Content]:
    return {path: f"{BASE.get(path, '')}{text}\n"}


def source(line: str, path: str = "src/lib.py") -> dict[str, Content]:
    return {path: f"{BASE.get(path, '')}{line}\n"}


def gitlink(path: str) -> Edits:
    def edit(repo: Repo) -> None:
        repo.git("rm", "-rq", "--cached", "--ignore-unmatch", path)
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{'6' * 40},{path}")

    return edit


def linked_folder(repo: Repo) -> None:
    repo.git("rm", "-rq", "tests")
    repo.stage({"fake/test_lib.py": "", "tests": Link("fake")})


REFUSED: dict[str, Edits] = {
    "case of a test": {"tests/Test_lib.py": "x\n"},
    "case of a product file": {"src/LIB.py": "x\n"},
    "case of a folder": {"Tests": "x\n"},
    "file in a folder that is a file": {"CHANGELOG.MD/x": "x\n"},
    "composed and decomposed": {"docs/caf\u00e9.md": "x\n", "docs/cafe\u0301.md": "x\n"},
    "decomposed test": {"tests/test_cafe\u0301.py": "x = 1\n"},
    "bidi name": {f"tests/test_{RLO}x.py": "x = 1\n"},
    "zero-width name": {"tests/test_\u200blib.py": "x = 1\n"},
    "look-alike": {"t\u0435sts/test_lib.py": "x = 1\n"},
    "look-alike of a new test": {"t\u0435sts/test_new.py": "x = 1\n"},
    "dot at the end": {"conftest.py.": "x = 1\n"},
    "stretched text": source(f"A = 'user{RLO} {LRI}# admin{PDI} {LRI}'"),
    "comment": source(f"# {RLO} {LRI}if admin:{PDI} {LRI}"),
    "early return": source(f"    '''x {RLI}''' ;return"),
    "override among the tests": source(f"A = '{RLO}cba{PDF}'", "tests/test_new.py"),
    "-diff": attributes("tests/** -diff"),
    "-diff on all": attributes("* -diff"),
    "binary": attributes("test_*.py binary"),
    "macro": attributes("[attr]plain -diff\ntests/test_lib.py plain"),
    "macro of a macro": attributes("[attr]a -diff\n[attr]b a\ntests/test_lib.py b"),
    "quoted": attributes('"tests/test_l\\151b.py" -diff'),
    "character class": attributes("tests/test_[[:alpha:]]ib.py -diff"),
    "by case": attributes("TESTS/test_LIB.py -diff"),
    "own file of the folder": attributes("*.py -diff", "tests/.gitattributes"),
    "textconv": attributes("*.py diff=hide"),
    "eol": attributes("*.json eol=crlf"),
    "text on CR": attributes("*.txt text"),
    "ident": attributes("* ident"),
    "filter": attributes("tests/data/*.json filter=x"),
    "lfs among the fixtures": attributes("*.png filter=lfs diff=lfs merge=lfs -text"),
    "encoding": attributes("*.py working-tree-encoding=UTF-16"),
    "archive, folder": attributes("/tests export-ignore"),
    "archive, files": attributes("tests/** export-ignore"),
    "merge": attributes("tests/** merge=ours"),
    "a reset that is none": attributes("*.py -diff\ntests !diff"),
    "link for a test": {"tests/test_lib.py": Link("../src/lib.py")},
    "link for a fixture": {"tests/data/rows.json": Link("../../docs/a.md")},
    "new link among the tests": {"tests/data/more": Link("/etc")},
    "link for a folder": linked_folder,
    "submodule for a folder": gitlink("tests"),
    "submodule among the fixtures": gitlink("tests/data/more"),
    "submodule's path": {
        ".gitmodules": '[submodule "t"]\n\tpath = tests/more\n\turl = https://example.org/m\n'
    },
    "submodule's command": {".gitmodules": f"{BASE['.gitmodules']}\tupdate = !sh x\n"},
}
TOLD: dict[str, Edits] = {
    "bidi name": {f"docs/{RLO}x.md": "x\n"},
    "decomposed name": {"docs/cafe\u0301.md": "x\n"},
    "look-alike": {"src/\u043ether.py": "x = 1\n"},
    "override": source(f"A = '{RLO}cba{PDF}'"),
    "product hidden": attributes("src/*.py -diff"),
    "folded away": attributes("tests/** linguist-generated"),
    "link out": {"docs/x": Link("../../x")},
    "submodule moved": gitlink("docs/themes"),
    "submodule added": gitlink("vendor/fonts"),
    "submodule redirected": {".gitmodules": str(BASE[".gitmodules"]).replace("example.org", "evil.example")},
}
HONEST: dict[str, Edits] = {
    "accents": {"docs/caf\u00e9.md": "x\n", "docs/\u043f\u0440\u0438\u0432\u0435\u0442.md": "x\n"},
    "Hebrew": source(f"A = '{SHALOM}'"),
    "Hebrew, isolated": source(f"A = '{RLI}{SHALOM}{PDI} (1)'  # {RLI}{SHALOM}{PDI}"),
    "Hebrew, marked": source(f"A = '{SHALOM}{RLM}'"),
    "Hebrew prose": {"docs/he.md": f"{RLI}{SHALOM}\n"},
    "translations": {"src/he.json": f'{{"a": "{RLO}x"}}\n'},
    "Hebrew test": {"tests/test_he.py": f"def test_x():\n    assert '{RLI}{SHALOM}{PDI}'\n"},
    "rename by case": {"docs/a.md": None, "docs/A.md": "a\n"},
    "pictures": attributes("*.png binary"),
    "text=auto": attributes("*.json text=auto\n*.py text"),
    "diff driver": attributes("*.py diff=python"),
    "change log": attributes("CHANGELOG.md merge=union"),
    "generated": attributes("src/big.js linguist-generated -diff"),
    "comment": attributes("# tests/** -diff"),
    "dropped for its length": attributes(f"tests/**{' ' * 2048}-diff"),
    "dropped for a bad name": attributes("tests/** -diff --x"),
    "a folder is no file": attributes("tests -diff"),
    "negative": attributes("!tests/** -diff"),
    "macro below the top": attributes("[attr]plain -diff\n*.py plain", "tests/.gitattributes"),
    "same effect": {".gitattributes": "# all pictures\n*.jpg   binary\n"},
    "archive": attributes("/docs export-ignore"),
    "link inside": {"docs/latest": Link("a.md")},
    "plain": source("X = 1"),
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    made = Attacked(tmp_path_factory.mktemp("trap") / "repo", "git-trap", BASE)
    made.repo.git("update-index", "--add", "--cacheinfo", f"160000,{'5' * 40},docs/themes")
    made.repo.commit(None, "Themes")
    return made


@pytest.mark.parametrize("edits", REFUSED.values(), ids=REFUSED)
def test_attacks_are_refused(attacked: Attacked, edits: Edits) -> None:
    findings = attacked.judge(edits)
    assert gravest(findings) == "refuse"
    assert all(finding.rule == "git-trap" and finding.remedy and finding.path for finding in findings)


@pytest.mark.parametrize("edits", TOLD.values(), ids=TOLD)
def test_what_a_person_decides_is_told(attacked: Attacked, edits: Edits) -> None:
    assert gravest(attacked.judge(edits)) == "warn"


@pytest.mark.parametrize("edits", HONEST.values(), ids=HONEST)
def test_honest_patches_pass(attacked: Attacked, edits: Edits) -> None:
    assert gravest(attacked.judge(edits)) in ("", "note")


@pytest.mark.parametrize(
    "name", ["case of a test", "-diff", "link for a test", "stretched text", "submodule for a folder"]
)
def test_people_may(attacked: Attacked, name: str) -> None:
    assert attacked.judge(REFUSED[name], agent=False) == []


def merged(path: str, text: str) -> Edits:
    def edit(repo: Repo) -> None:
        branch = repo.git("symbolic-ref", "--short", "HEAD")
        repo.branch(f"{branch}-side", "main")
        repo.commit({"src/side.py": "X = 1\n"}, "Side")
        repo.switch(branch)
        repo.commit({"src/own.py": "X = 1\n"}, "Own")
        repo.merge(f"{branch}-side", files={path: text} if path else None)

    return edit


def test_an_evil_merge_of_a_test_is_refused(attacked: Attacked) -> None:
    (finding,) = attacked.judge(merged("tests/test_lib.py", "def test_f():\n    pass\n"))
    assert (finding.severity.value, finding.path) == ("refuse", "tests/test_lib.py")


def test_an_evil_merge_of_product_code_is_told(attacked: Attacked) -> None:
    (finding,) = attacked.judge(merged("src/lib.py", "def f(x):\n    return 1\n"))
    assert (finding.severity.value, finding.path) == ("warn", "src/lib.py")


def test_a_clean_merge_is_nothing(attacked: Attacked) -> None:
    assert attacked.judge(merged("", "")) == []


def test_a_conflict_resolved_by_hand_is_nothing(attacked: Attacked) -> None:
    def edit(repo: Repo) -> None:
        branch = repo.git("symbolic-ref", "--short", "HEAD")
        repo.branch(f"{branch}-side", "main")
        repo.commit({"CHANGELOG.md": "1\n2\n"}, "Side")
        repo.switch(branch)
        repo.commit({"CHANGELOG.md": "1\n3\n"}, "Own")
        repo.merge(f"{branch}-side", files={"CHANGELOG.md": "1\n2\n3\n"})

    assert attacked.judge(edit) == []


def test_work_that_a_merge_drops_is_listed(attacked: Attacked) -> None:
    def edit(repo: Repo) -> None:
        branch = repo.git("symbolic-ref", "--short", "HEAD")
        repo.branch(f"{branch}-side", "main")
        repo.commit({"src/side.py": "X = 1\n"}, "Side")
        repo.switch(branch)
        repo.commit({"src/own.py": "X = 1\n"}, "Own")
        repo.git("merge", "-q", "-s", "ours", "-m", "Ours", f"{branch}-side", **repo.people())

    (finding,) = attacked.judge(edit)
    assert (finding.severity.value, finding.path) == ("note", "src/side.py")


def test_replace_refs_and_grafts_are_told(tmp_path: Path) -> None:
    made = Attacked(tmp_path / "repo", "git-trap", {"a.py": "x = 1\n"})
    assert made.judge({"b.py": "x = 1\n"}) == []
    repo = made.repo
    repo.commit({"c.py": "x = 2\n"}, "More")
    repo.git("replace", "HEAD", "HEAD~1")
    grafts = repo.path / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{repo.head()}\n")
    findings = made.judge({"d.py": "x = 1\n"})
    assert [finding.severity.value for finding in findings] == ["warn", "warn"]
    assert "refs/replace/" in findings[0].reason + findings[1].reason


def test_attributes_agree_with_git(tmp_path: Path) -> None:
    text = (
        "# c\n*.py text\n/a.py -text\nsub/** diff=x\nsub/*.txt !diff\n[attr]m one -two\nq* m\n"
        '"sp\\ ace" eol=lf\n"s\\160 a" eol=lf\n'
        "*.[ch] binary\nsub/ ident\nlast crlf=input\n*.py text=auto\n[!a]z x\n**/deep filter=f\nsub/**/y merge=union\n"
    )
    inner = "*.py !text\nb -diff\n/c filter\n"
    repo = Repo.init(tmp_path / "repo")
    repo.write({".gitattributes": text, "sub/.gitattributes": inner})
    rules = Attributes([(".gitattributes", text.encode()), ("sub/.gitattributes", inner.encode())])
    names = "a.py b.py sub/a.py sub/b sub/c sub/d/c sub/n.txt quick x.c last sub/last az bz deep sub/deep sub/d/e/y"
    for path in ("sp ace", "sp a", *names.split()):
        said = repo.git("check-attr", "-z", "--all", "--", path).split("\0")
        ours = {n: v.value.removeprefix("=") for n, v in rules.of(path).items()}
        assert ours == dict(zip(said[1::3], said[2::3], strict=False)), path


def test_reading_direction() -> None:
    assert not unbalanced(f"{RLI}{SHALOM}{PDI}{RLO}{PDF}")
    assert unbalanced(f"{RLI}{PDF}")
    assert unbalanced(PDI)
    assert reorders(f"a = '{RLI}' + '{PDI}'")
    assert not reorders(f"a = '{RLI}{SHALOM}{PDI}'")
    assert skeleton("t\u0435sts/conftest.py. ") == "tests/conftest.py"
    assert odd_characters("docs/caf\u00e9") == ""
    assert "invisible" in odd_characters("a\u200bb")
