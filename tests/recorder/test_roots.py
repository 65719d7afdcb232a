"""The code under test must come from the tree under judgement, however it is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.recorder.envs import venv
from tests.recorder.runkit import record

TEST = """
    import os, subprocess, sys, importlib.metadata
    import pkg, pkg.sub
    HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    def test_main(): assert pkg.__file__.startswith(HERE), pkg.__file__
    def test_sub(): assert pkg.sub.__file__.startswith(HERE) and pkg.sub.WHO == "tree"
    def test_process(tmp_path):
        code = "import pkg.sub; print(pkg.sub.__file__)"
        out = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
        assert out.startswith(HERE), out
    def test_version(): assert importlib.metadata.version("pkg-under-test") == "1.0"
    def test_generated(): from pkg._version import version; assert version == "9"
"""
PYPROJECT = """
[build-system]
requires = ["{backend}"]
build-backend = "{module}"
[project]
name = "pkg-under-test"
version = "1.0"
{more}
"""
BACKENDS = {
    "setuptools": ("setuptools", "setuptools.build_meta", ""),
    "hatchling": (
        "hatchling",
        "hatchling.build",
        '[tool.hatch.build.targets.wheel]\npackages = ["src/pkg"]\n[tool.hatch.build]\nartifacts = ["_version.py"]\n',
    ),
}


def _sources(who: str) -> dict[str, str]:
    return {
        "src/pkg/__init__.py": "",
        "src/pkg/sub.py": f"WHO = {who!r}\n",
        "tests/test_pkg.py": TEST,
    }


def _install(work: Path, python: str, backend: str, *options: str) -> None:
    name, module, more = BACKENDS[backend]
    files = {
        **_sources("work"),
        "src/pkg/_version.py": "version = '9'\n",
        "pyproject.toml": PYPROJECT.format(backend=name, module=module, more=more),
    }
    for path, text in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", *options, str(work)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"can't install here: {done.stderr[-300:]}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "options"),
    [
        ("setuptools", ("-e",)),
        ("setuptools", ("--config-settings=editable_mode=strict", "-e")),
        ("hatchling", ("-e",)),
        ("setuptools", ()),
    ],
)
def test_installed_copies(tmp_path: Path, backend: str, options: tuple[str, ...]) -> None:
    python = venv("3.11", "pytest", backend)
    work = tmp_path / "work"
    _install(work, python, backend, *options)
    r = record(
        tmp_path,
        {**_sources("tree"), "pyproject.toml": (work / "pyproject.toml").read_text()},
        python=python,
        roots=("src", "."),
        outside=(str(work),),
        tracked=("src/pkg/__init__.py", "src/pkg/sub.py", "tests/test_pkg.py"),
        modules={"src/pkg/sub.py": "pkg.sub"},
    )
    bad = [e for e in r.of("end") if e["outcome"] != "passed"]
    assert not bad, bad
    assert len(r.of("end")) == 5
    assert r.footer["foreign"] == {}
    assert r.footer["elsewhere"] == {}
    assert list(r.footer["parts"]) == ["pkg._version"]


FINDER = """
import sys
from importlib.machinery import PathFinder
class Finder:
    '''As meson-python and scikit-build-core do: asked before the import path.'''
    {attribute}
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "pkg": return None
        return PathFinder.find_spec(name, [{work!r} + "/src" + ("/pkg" if "." in name else "")])
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def finder_env(tmp_path: Path) -> tuple[str, Path]:
    """An interpreter whose site has a finder for the work tree at the front of ``sys.meta_path``."""
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")],
        check=True,
        capture_output=True,
    )
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    work = tmp_path / "work"
    for path, text in _sources("work").items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text)
    here = Path(pytest.__file__).parent.parent
    (site / "shared.pth").write_text(f"{here}\n")
    (site / "pkg_finder.py").write_text(FINDER.format(attribute="", work=str(work)))
    (site / "zz.pth").write_text("import pkg_finder\n")
    return str(python), work


def test_a_finder_ahead_of_the_path(tmp_path: Path, finder_env: tuple[str, Path]) -> None:
    python, work = finder_env
    files = {
        **_sources("tree"),
        "tests/test_pkg.py": "import pkg.sub\ndef test_a(): assert pkg.sub.WHO == 'tree'\n",
    }
    r = record(
        tmp_path,
        files,
        python=python,
        roots=("src", "."),
        outside=(str(work),),
        modules={"src/pkg/sub.py": "pkg.sub"},
    )
    assert r.outcomes == {"tests/test_pkg.py::test_a": "passed"}, r.events
    assert r.footer["foreign"] == r.footer["elsewhere"] == {}


def test_a_module_from_elsewhere_is_named(tmp_path: Path, finder_env: tuple[str, Path]) -> None:
    """Where the roots don't hold the package, what was tested is not the tree, and that is said."""
    python, work = finder_env
    files = {"lib/pkg/sub.py": "", "tests/test_pkg.py": "import pkg.sub\ndef test_a(): pass\n"}
    r = record(tmp_path, files, python=python, outside=(str(work),), modules={"lib/pkg/sub.py": "pkg.sub"})
    assert list(r.footer["foreign"]) == ["pkg", "pkg.sub"]
    assert list(r.footer["elsewhere"]) == ["lib/pkg/sub.py"]


def test_a_work_tree_with_its_environment_inside(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(work / ".venv")], check=True)
    site = next((work / ".venv" / "lib").glob("python*/site-packages"))
    (site / "shared.pth").write_text(f"{Path(pytest.__file__).parent.parent}\n{work}/src\n")
    (site / "installed.py").write_text("")
    r = record(
        tmp_path,
        {
            "src/pkg/__init__.py": "",
            "src/pkg/sub.py": "WHO='tree'\n",
            "test_a.py": "import pkg.sub, installed\ndef test_a(): assert pkg.sub.WHO == 'tree'\n",
        },
        command=("python", "-m", "pytest"),
        python=str(work / ".venv" / "bin" / "python"),
        roots=("src", "."),
        outside=(str(work),),
    )
    assert r.outcomes == {"test_a.py::test_a": "passed"}, r.events
    assert r.footer["foreign"] == {}


def test_a_deleted_module_is_not_found_again(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "pkg").mkdir(parents=True)
    (work / "pkg" / "__init__.py").write_text("")
    (work / "pkg" / "gone.py").write_text("")
    (work / "pkg" / "_built.py").write_text("")
    (work / "_top.py").write_text("")
    files = {
        "pkg/__init__.py": "",
        "test_a.py": "import pytest\ndef test_gone():\n    with pytest.raises(ImportError): import pkg.gone\n"
        "def test_built(): import pkg._built, _top\n",
    }
    r = record(tmp_path, files, outside=(str(work),), tracked=("pkg/__init__.py", "pkg/gone.py"))
    assert set(r.outcomes.values()) == {"passed"}, r.of("end")
    assert set(r.footer["parts"]) == {"pkg._built", "_top"}


CHILDREN = """
    import asyncio, os, subprocess, sys
    WORDS = ["-c", "import pkg.sub; print(pkg.sub.WHO)"]
    def seen(env, python=sys.executable, **how):
        done = subprocess.run([python] + WORDS, env=env, cwd="/", capture_output=True, text=True, **how)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()
    def test_inherited(): assert seen(None) == "tree"
    def test_own(): assert seen({"PATH": os.environ["PATH"]}) == "tree"
    def test_own_path(): assert seen({"PYTHONPATH": "/nowhere"}) == "tree"
    def test_bytes(): assert seen({b"A": b"b"}) == "tree"
    def test_script(): assert seen({"PATH": os.path.dirname(sys.executable)}, "script") == "tree"
    def test_grandchild():
        code = "import subprocess, sys; subprocess.run([sys.executable] + %r, cwd='/')" % WORDS
        assert subprocess.check_output([sys.executable, "-c", code], env={}, text=True).strip() == "tree"
    def test_asyncio():
        async def run():
            made = await asyncio.create_subprocess_exec(sys.executable, *WORDS, env={}, stdout=-1)
            return (await made.communicate())[0]
        assert asyncio.run(run()).strip() == b"tree"
    def test_other_programs_get_what_they_were_given():
        assert subprocess.check_output(["/usr/bin/env"], env={"A": "b"}, text=True) == "A=b\\n"
    def test_the_environments_own_customs_are_kept():
        code = "import sys, sitecustomize; print(sys.customs, sitecustomize.OWN)"
        assert subprocess.check_output([sys.executable, "-c", code], env={}, text=True) == "1 1\\n"
    def test_what_is_wrong_is_wrong():
        for env in ({"A": 1}, {1: "A"}, 7):
            try:
                subprocess.run([sys.executable, "-c", ""], env=env)
            except (TypeError, AttributeError): pass
            else: raise AssertionError(env)
"""


@pytest.mark.parametrize("road", ["a path", "a path beside a stranger", "a finder", "a mapping"])
def test_children_see_the_tree_whatever_environment_they_get(
    tmp_path: Path, finder_env: tuple[str, Path], road: str
) -> None:
    python, work = finder_env
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    if road.startswith("a path"):
        (site / "zz.pth").write_text(f"{work}/src\n")
        if road != "a path":  # as setuptools' own, which loads nothing of importlib
            stranger = "import sys\nclass Finder:\n    def find_spec(self, *given): return None\n"
            (site / "stranger.py").write_text(stranger + "sys.meta_path.insert(0, Finder())\n")
            (site / "aa.pth").write_text("import stranger\n")
    elif road == "a mapping":  # setuptools, where the folder has another name than the package
        mapping = f"{{'pkg': {str(work / 'src' / 'pkg')!r}}}"
        finder = FINDER.replace('[{work!r} + "/src" + ("/pkg" if "." in name else "")]', "_of(name)")
        text = finder.format(attribute="MAPPING = " + mapping).replace(
            "sys.meta_path.insert",
            "import os\ndef _of(name):\n    place = Finder.MAPPING['pkg']\n"
            "    return [place if '.' in name else os.path.dirname(place)]\nsys.meta_path.insert",
        )
        (site / "pkg_finder.py").write_text(text)
    (site / "sitecustomize.py").write_text(
        "import sys\nOWN = 1\nsys.customs = getattr(sys, 'customs', 0) + 1\n"
    )
    script = tmp_path / "env" / "bin" / "script"
    script.write_text(f"#!{python}\nimport pkg.sub; print(pkg.sub.WHO)\n")
    script.chmod(0o755)
    r = record(
        tmp_path,
        {**_sources("tree"), "tests/test_pkg.py": CHILDREN},
        python=python,
        roots=("src", "."),
        outside=(str(work),),
    )
    assert {name: outcome for name, outcome in r.outcomes.items() if outcome != "passed"} == {}, r.of("end")
    assert len(r.outcomes) == 10


def test_a_copy_under_another_name_is_named(tmp_path: Path, finder_env: tuple[str, Path]) -> None:
    """``package_dir``, installed and not editable: the module has no name that its path tells."""
    import hashlib

    python, _ = finder_env
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    base = "def add(a, b):\n    return a + b  # as it was installed, and long enough to be told by\n"
    (site / "renamed").mkdir()
    (site / "renamed" / "m.py").write_text(base)
    (site / "renamed" / "__init__.py").write_text("")
    made = f"blob {len(base)}\0{base}".encode()
    files = {
        "lib/core/__init__.py": "",
        "lib/core/m.py": base.replace("+", "-"),
        "tests/test_pkg.py": "import renamed.m\ndef test_a(): pass\n",
    }
    originals = {
        "lib/core/m.py": hashlib.sha1(made).hexdigest(),
        "lib/core/__init__.py": hashlib.sha1(b"blob 0\0").hexdigest(),
    }
    r = record(tmp_path / "one", files, python=python, originals=originals)
    assert r.footer["elsewhere"] == {"lib/core/m.py": str(site / "renamed" / "m.py")}
    # a vendored copy beside a dependency: the tree's own was tested
    files["tests/test_pkg.py"] = "import renamed.m, lib.core.m\ndef test_a(): pass\n"
    assert record(tmp_path / "two", files, python=python, originals=originals).footer["elsewhere"] == {}


def test_what_is_taken_from_the_work_tree_leaves_no_bytecode_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    work = tmp_path / "work"
    (work / "pkg").mkdir(parents=True)
    (work / "pkg" / "__init__.py").write_text("")
    (work / "pkg" / "_version.py").write_text("version = '9'\n")
    files = {
        "pkg/__init__.py": "",
        "test_a.py": "from pkg._version import version\ndef test_a(): assert version == '9'\n",
    }
    r = record(tmp_path, files, outside=(str(work),), tracked=("pkg/__init__.py",))
    assert set(r.outcomes.values()) == {"passed"}, r.of("end")
    assert sorted(path.name for path in (work / "pkg").iterdir()) == ["__init__.py", "_version.py"]
