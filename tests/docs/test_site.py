"""The site is built without a warning, and a page of it fetches nothing from anywhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#[^)]*)?\)")
# What a browser loads by itself; a link is only followed by a reader.
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


class Loaded(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADS and (tag != "link" or LOADED_LINKS & set((given.get("rel") or "").split())):
            self.addresses.append(given.get(LOADS[tag]) or "")


def loaded(page: str) -> list[str]:
    """Return what ``page`` loads from another place than its own site."""
    parser = Loaded()
    parser.feed(page)
    from_styles = re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)", page)
    return [a for a in (*parser.addresses, *from_styles) if re.match(r"(?:[a-z]+:)?//", a)]


def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra docs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=TOP,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(list((TOP / "docs").rglob("*.md")))  # and the page for what is not found
    assert {page.name: found for page in pages if (found := loaded(page.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img alt="" src="http://pixel.example/1.gif">',
        "<style>@import url('https://fonts.example/css')</style>",
    ],
)
def test_what_is_fetched_is_noticed(page: str) -> None:
    assert loaded(page)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_pages_beside_the_site_link_to_what_is_there(page: str) -> None:
    links = [link for link in LINK.findall((TOP / page).read_text("utf-8")) if link and "://" not in link]
    assert [link for link in links if not (TOP / link).exists()] == []


def test_paths_of_pages_that_the_code_names_are_there() -> None:
    """Errors, help texts and comments name pages by their path in the repository."""
    places = [*(TOP / "redbucket").rglob("*.py"), *(TOP / "hooks").rglob("*.py"), TOP / "action.yml"]
    places += [*(TOP / ".github").rglob("*.yml"), *(TOP / "templates").glob("*"), TOP / ".ci/run"]
    named = {
        name
        for place in places
        for name in re.findall(r"\bdocs/[a-z/-]+\.(?:md|json)\b", place.read_text("utf-8"))
    }
    elsewhere = {"docs/spec.md"}  # of Git LFS
    assert len(named) > 3
    assert {name for name in named - elsewhere if not (TOP / name).is_file()} == set()
