"""Seals every story from the machine's and the user's git, and sees that nothing is left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import lean

_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "PYTEST_CURRENT_TEST", "PYTHONPATH")


def activate(patch: pytest.MonkeyPatch, *environments: Path) -> None:
    """Let a plain terminal be in the first environment, with the commands of the others behind its own."""
    patch.setenv("VIRTUAL_ENV", str(environments[0]))
    folders = [str(environment / "bin") for environment in environments]
    patch.setenv("PATH", os.pathsep.join([*folders, os.environ["PATH"]]))


def seal(patch: pytest.MonkeyPatch, place: Path) -> Path:
    """Leave an environment of a plain terminal; return the folder that redbucket works in."""
    for name in list(os.environ):
        if name not in _KEPT:
            patch.delenv(name)
    home, shops = place / "sealed-home", place / "shops"
    for folder in (home, shops):
        folder.mkdir(exist_ok=True)
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CONFIG_HOME", str(home))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    patch.setenv("REDBUCKET_TMPDIR", str(shops))
    # as in an activated environment; a story where redbucket is not found says so
    activate(patch, lean.prefix(), Path(sys.prefix))
    patch.setenv("REDBUCKET_LEDGER", "off")  # a story that is about it names one
    return shops


@pytest.fixture(scope="session", autouse=True)
def no_ledger() -> Iterator[None]:
    """Shops of a whole module are judged before a story seals its environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDBUCKET_LEDGER", "off")
        yield


@pytest.fixture(autouse=True)
def shops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which redbucket makes its temporary folders; it must be empty at the end."""
    folder = seal(monkeypatch, tmp_path)
    yield folder
    assert [place.name for place in folder.iterdir()] == []


@pytest.fixture
def libraries(shops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a project whose tests import what redbucket's own tests do: Hypothesis, pytest's plugins."""
    activate(monkeypatch, Path(sys.prefix))
