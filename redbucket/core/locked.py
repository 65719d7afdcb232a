"""Packages that a file declares or locks, by name: version, source, hashes."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from redbucket.core.packages import Package, Packages, normal
from redbucket.core.publicindex import is_public
from redbucket.core.pytree import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)", re.S)
_URL = re.compile(
    r"(?:git|hg|svn|bzr)\+|(?:https?|file|ssh|git)://|\.{0,2}/|.*\.(?:whl|zip|tar\.\w+|tgz)(?:$|[#\s])"
)
_INDEX = re.compile(r"\s*(?:--(?:extra-)?index-url|--find-links|--no-index|--trusted-host|-[if])(?=[\s=]|$)")
_DIRECT = re.compile(r"[A-Za-z0-9][-\w.]*\s*(?:\[[^\]]*\])?\s*@")
_EGG = re.compile(r"[#&]egg=([-\w.]+)")
_WHEEL = re.compile(r"(?:.*/)?([A-Za-z0-9_.]+?)-\d[^/]*\.(?:whl|tar\.gz|zip)")
_REPOSITORY = re.compile(r".*/([-\w.]+?)(?:\.git)?(?:@[^/]*)?/?(?:[#?].*)?")
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)")

_SETUP_LISTS = ("extras_require", "install_requires", "setup_requires", "tests_require")


def reader(path: str) -> Callable[[bytes], Packages] | None:
    """Return what reads the packages of a file of that name, None if nothing does."""
    name = path.rpartition("/")[2].lower()
    if name in _READERS:
        return _READERS[name]
    if name.startswith("pylock.") and name.endswith(".toml"):
        return _toml_lock
    in_folder = "requirements" in path.lower().split("/")[:-1] and name.endswith((".txt", ".in"))
    return _requirements if in_folder or _REQUIREMENTS.fullmatch(name) else None


def _requirements(raw: bytes) -> Packages:
    found = Packages()
    text = raw.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ")
    for full in text.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", full).strip()
        if _INDEX.match(line):
            _add_index(found, line)
        elif line.startswith(("-e", "--editable")):
            _add_requirement(found, re.sub(r"^(?:-e|--editable)[\s=]*", "", line))
        elif line and not line.startswith("-"):
            _add_requirement(found, line)
    return found


def _add_index(found: Packages, line: str) -> None:
    target = re.sub(r"^\S+?[\s=]+", "", line)
    if not is_public(target):
        found.indexes.add(line)


def _add_requirement(found: Packages, text: str) -> None:
    hashes = frozenset(re.findall(r"--hash[=\s]+(\S+)", text))
    text = re.sub(r"\s--\S+(?:[=\s]\S+)?", "", text).strip()
    if _URL.match(text) and not _DIRECT.match(text):
        forms = (_EGG.search(text), _WHEEL.match(text), _REPOSITORY.fullmatch(text))
        name = next((form[1] for form in forms if form), "")
        if name:
            found.add(name, Package(source=text))
        return
    match = _NAME.match(text)
    if match is None:
        return
    rest = match[3].partition(";")[0].strip()
    if rest.startswith("@"):
        found.add(match[1], Package(source=rest[1:].strip()))
    else:
        found.add(match[1], Package(rest.replace(" ", ""), hashes=hashes))


def _pyproject(raw: bytes) -> Packages:
    data, found = _load(raw), Packages()
    project, tool = _table(data, "project"), _table(data, "tool")
    lists: list[Any] = [project.get("dependencies"), _table(data, "build-system").get("requires")]
    for groups in (project.get("optional-dependencies"), data.get("dependency-groups")):
        lists += groups.values() if isinstance(groups, dict) else ()
    uv, pdm, poetry = _table(tool, "uv"), _table(tool, "pdm"), _table(tool, "poetry")
    lists += [uv.get("dev-dependencies"), uv.get("override-dependencies"), uv.get("constraint-dependencies")]
    lists += _table(pdm, "dev-dependencies").values()
    for entries in lists:
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, str):
                _add_requirement(found, entry)
    _named_tables(found, poetry.get("dependencies"), poetry.get("dev-dependencies"))
    for group in _table(poetry, "group").values():
        _named_tables(found, group.get("dependencies") if isinstance(group, dict) else None)
    sources = _table(uv, "sources")
    for name, source in sources.items():
        known = found.named.pop(normal(name), Package())
        found.add(name, Package(known.version, _flat(source)))
    for index in (*_list(uv, "index"), *_list(poetry, "source"), *_list(pdm, "source")):
        # an explicit index serves only what names it
        if not (isinstance(index, dict) and (index.get("explicit") or index.get("priority") == "explicit")):
            found.indexes.add(_flat(index))
    for key in ("index-url", "extra-index-url", "find-links"):
        if key in uv:
            found.indexes.add(f"{key} {_flat(uv[key])}")
    return found


def project_name(raw: bytes) -> str:
    """Return the normalised name of the project that a pyproject.toml describes."""
    data = _load(raw)
    name = _table(data, "project").get("name") or _table(_table(data, "tool"), "poetry").get("name")
    return normal(name) if isinstance(name, str) else ""


def _setup_py(raw: bytes) -> Packages:
    """The literal lists that setup() is given."""
    found, tree = Packages(), parse(raw)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.keyword) and node.arg in _SETUP_LISTS:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    _add_requirement(found, part.value)
    return found


def _named_tables(found: Packages, *tables: object) -> None:
    """Poetry's and pipenv's form: name = "spec" or name = {version, git, path, url, source}."""
    for table in tables:
        for name, value in table.items() if isinstance(table, dict) else ():
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, dict):
                    keys = ("git", "path", "url", "file", "source", "index", "hg", "svn")
                    source = _flat({key: one[key] for key in keys if key in one})
                    found.add(name, Package(str(one.get("version", "")), source))
                else:
                    found.add(name, Package(str(one)))


def _toml_lock(raw: bytes) -> Packages:
    """poetry.lock, uv.lock, pdm.lock and pylock.toml: a list of tables."""
    data, found = _load(raw), Packages()
    for entry in (*_list(data, "package"), *_list(data, "packages")):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            continue
        source = entry.get("source", entry.get("index", ""))
        if isinstance(source, dict):
            source = "" if "registry" in source and _is_public(source["registry"]) else _flat(source)
        elif _is_public(source):
            source = ""
        keys = ("git", "url", "path", "vcs", "archive", "directory", "editable")
        direct = {key: entry[key] for key in keys if key in entry}
        places = [text for text in _strings(entry, "url") if not is_public(text)]
        if not direct and not source and places:
            direct = {"url": sorted({text.rpartition("/")[0] for text in places})}
        version, hashes = str(entry.get("version", "")), frozenset(_strings(entry, "hash"))
        found.add(entry["name"], Package(version, _flat(direct) if direct else str(source), hashes))
    return found


def _pipfile(raw: bytes) -> Packages:
    data, found = _load(raw), Packages()
    _named_tables(found, data.get("packages"), data.get("dev-packages"))
    _pip_sources(found, data.get("source"))
    return found


def _pipfile_lock(raw: bytes) -> Packages:
    found = Packages()
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return found
    if not isinstance(data, dict):
        return found
    for section, entries in data.items():
        if section == "_meta":
            _pip_sources(found, _table(data, "_meta").get("sources"))
            continue
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                direct = {k: entry[k] for k in ("git", "path", "file", "url", "ref") if k in entry}
                index = entry.get("index", "pypi")
                source = _flat(direct) if direct else "" if index == "pypi" else f"index {index}"
                hashes = frozenset(text for text in entry.get("hashes", ()) if isinstance(text, str))
                found.add(name, Package(str(entry.get("version", "")), source, hashes))
    return found


def _pip_sources(found: Packages, sources: object) -> None:
    for source in sources if isinstance(sources, list) else ():
        url = source.get("url") if isinstance(source, dict) else source
        if not _is_public(url):
            found.indexes.add(str(url))


def _setup_cfg(raw: bytes) -> Packages:
    found = Packages()
    for section, key, value in ini_items(raw):
        listed = section == "options" and key in _SETUP_LISTS
        if listed or section == "options.extras_require":
            for line in value.splitlines():
                if line.strip() and not line.strip().startswith("#"):
                    _add_requirement(found, line.strip())
    return found


def ini_items(raw: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (section, key, value) of an INI file; nothing of one that does not parse."""
    import iniconfig

    try:
        parsed = iniconfig.IniConfig("file", data=raw.decode("utf-8-sig", "replace"))
    except (iniconfig.ParseError, ValueError):
        return
    for section in parsed:
        for key, value in section.items():
            yield section.name, key, value


def _load(raw: bytes) -> dict[str, Any]:
    try:
        data: dict[str, Any] = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return data


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _list(data: dict[str, Any], key: str) -> Iterable[object]:
    value = data.get(key)
    return value if isinstance(value, list) else ()


def _is_public(url: object) -> bool:
    return not url or (isinstance(url, str) and is_public(url))


def _flat(value: object) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str) if value else ""
    )


def _strings(value: object, key: str) -> Iterator[str]:
    """Yield every text under ``key`` anywhere in a value, and what pylock.toml keeps in a ``hashes`` table."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, str):
                yield inner
            elif key == "hash" and name == "hashes" and isinstance(inner, dict):
                yield from (f"{kind}:{text}" for kind, text in inner.items())
            else:
                yield from _strings(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


_READERS: dict[str, Callable[[bytes], Packages]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "pipfile": _pipfile,
    "pipfile.lock": _pipfile_lock,
    "poetry.lock": _toml_lock,
    "uv.lock": _toml_lock,
    "pdm.lock": _toml_lock,
}
