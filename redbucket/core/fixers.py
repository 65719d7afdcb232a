"""Which pre-commit hooks may rewrite a recorded fixture: fixers are a main cause of fixture drift.

GitPython excluded its fixtures from them by hand (gitpython-developers/GitPython#1920). Nothing is run: a hook is
known by its id, and pre-commit's own rules say which files it gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# id: the types that its own manifest asks for, all of them ("|" between alternatives). As of their manifests in 2026.
FIXERS: Mapping[str, str] = {
    # pre-commit/pre-commit-hooks
    "end-of-file-fixer": "text",
    "trailing-whitespace": "text",
    "mixed-line-ending": "text",
    "fix-byte-order-marker": "text",
    "pretty-format-json": "json",
    "sort-simple-yaml": "yaml",
    "file-contents-sorter": "text",
    "double-quote-string-fixer": "python",
    # Lucas-C/pre-commit-hooks
    "remove-crlf": "text",
    "remove-tabs": "text",
    "insert-license": "text",
    # formatters
    "prettier": "text",
    "biome-format": "json|javascript|jsx|ts|tsx|css|graphql",
    "biome-check": "json|javascript|jsx|ts|tsx|css|graphql",
    "dprint": "text",
    "pretty-format-yaml": "yaml",
    "pretty-format-toml": "toml",
    "pretty-format-ini": "ini",
    "yamlfmt": "yaml",
    "yamlfix": "yaml",
    "taplo-format": "toml",
    "toml-sort-fix": "toml",
    "mdformat": "markdown",
    "markdownlint-fix": "markdown",
    "markdownlint-cli2": "markdown",
    "djlint-reformat-jinja": "html",
    "tidy-html": "html",
    "xmlformatter": "xml",
    "sqlfluff-fix": "sql",
    "nbstripout": "jupyter",
    "eclint": "text",
    "black": "python|pyi",
    "black-jupyter": "python|pyi|jupyter",
    "ruff-format": "python|pyi|jupyter",
    "isort": "python",
    "autopep8": "python",
    "pyupgrade": "python",
    "clang-format": "c|c++|java|javascript|json|proto|textproto",
    "shfmt": "shell",
    "typos": "text",
}


@dataclass(frozen=True)
class Fixer:
    """One configured hook that rewrites files, and which files pre-commit gives it."""

    id: str
    files: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    types: tuple[str, ...] = ("file",)
    types_or: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()

    def gets(self, path: str, tags: frozenset[str]) -> bool:
        """Return whether pre-commit hands it ``path``, given the path's types."""
        return (
            all(re.search(pattern, path) for pattern in self.files)
            and not any(re.search(pattern, path) for pattern in self.exclude)
            and tags >= set(self.types)
            and (not self.types_or or bool(tags & set(self.types_or)))
            and not tags & set(self.exclude_types)
        )


def fixers(data: object) -> list[Fixer]:
    """Return the fixers of a parsed ``.pre-commit-config.yaml`` that run by themselves; bad parts are left out."""
    whole = data if isinstance(data, dict) else {}
    found = []
    for repo in _list(whole.get("repos")):
        for hook in _list(repo.get("hooks") if isinstance(repo, dict) else None):
            if isinstance(hook, dict) and str(hook.get("id")) in FIXERS:
                stages = hook.get("stages") or whole.get("default_stages") or ()
                if {str(stage) for stage in _list(stages)} == {"manual"}:
                    continue
                found += _fixer(hook, whole)
    return found


def _fixer(hook: dict[Any, Any], whole: dict[Any, Any]) -> list[Fixer]:
    own = FIXERS[str(hook["id"])].split("|")
    either = tuple(own) if len(own) > 1 else ()
    types = _texts(hook.get("types")) or (() if either else tuple(own))
    fixer = Fixer(
        id=str(hook["id"]),
        files=_patterns(whole.get("files"), hook.get("files")),
        exclude=_patterns(whole.get("exclude"), hook.get("exclude")),
        types=types,
        types_or=_texts(hook.get("types_or")) or either,
        exclude_types=_texts(hook.get("exclude_types")),
    )
    try:
        for pattern in (*fixer.files, *fixer.exclude):
            re.compile(pattern)
    except re.error:  # pre-commit itself refuses it
        return []
    return [fixer]


def _patterns(*values: object) -> tuple[str, ...]:
    return tuple(str(value) for value in values if value)


def rewritable(
    found: Sequence[Fixer], paths: Iterable[str], tags: Callable[[str], frozenset[str]]
) -> dict[str, list[str]]:
    """Return {hook id: the ``paths`` that it may rewrite}, for hooks that get any."""
    given: dict[str, list[str]] = {}
    if not found:
        return given
    for path in paths:
        types = tags(path)
        for fixer in found:
            if fixer.gets(path, types):
                given.setdefault(fixer.id, []).append(path)
    return given


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in _list(value))
