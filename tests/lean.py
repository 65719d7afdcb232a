"""An environment that holds pytest and nothing else, as a small project's does.

Each recorded run of a story starts a pytest, which imports all plugins that are installed beside it: with those of
redbucket's own development that is two thirds of its start.
"""

from __future__ import annotations

import fcntl
import functools
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path


@functools.cache
def prefix() -> Path:
    """Return the folder of the environment, which is made once and lies in the one of these tests."""
    folder = Path(sys.prefix, f"with-pytest-{metadata.version('pytest')}")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder)
            (folder / "done").touch()
    return folder


def _make(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    library = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for name in _needed("pytest"):
        _copy(metadata.distribution(name), library)
    script = folder / "bin" / "pytest"
    script.write_text(f"#!{folder}/bin/python\nimport pytest, sys\nsys.exit(pytest.console_main())\n")
    script.chmod(0o755)
    subprocess.run([str(folder / "bin" / "python"), "-m", "compileall", "-q", str(library)], check=True)


def python() -> str:
    """Return its interpreter."""
    return str(prefix() / "bin" / "python")


def _needed(name: str) -> set[str]:
    """Return a distribution and those that it needs here."""
    found, todo = set[str](), [name]
    while todo:
        one = todo.pop()
        try:
            requires = metadata.requires(one) or []
        except metadata.PackageNotFoundError:
            continue  # for another system or Python
        found.add(one)
        todo += [re.split(r"[^\w.-]", need)[0] for need in requires if "extra ==" not in need]
    return found


def _copy(distribution: metadata.Distribution, library: Path) -> None:
    for file in distribution.files or ():
        source = Path(str(distribution.locate_file(file)))
        if ".." not in file.parts and source.is_file() and source.suffix != ".pyc":
            target = library / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
