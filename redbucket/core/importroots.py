"""Which folders of a tree are import roots, and under which name a file is imported."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def package_root(path: str, paths: Collection[str]) -> str | None:
    """Return the folder that holds the top package of ``path``, "." for the top.

    None if the file is in no package (no ``__init__.py`` beside it) and at none of
    the usual roots, so that nothing says how it is imported.
    """
    folder, _, _ = path.rpartition("/")
    if folder in ("", "src"):
        return folder or "."
    if f"{folder}/__init__.py" not in paths:
        return _namespace_root(folder)
    while folder and f"{folder}/__init__.py" in paths:
        folder = folder.rpartition("/")[0]
    return folder or "."


def _namespace_root(folder: str) -> str | None:
    """A file in a namespace package under src/ is imported from src (PEP 420)."""
    return "src" if folder.startswith("src/") else None


def module_name(path: str, root: str) -> str:
    """Return the dotted name of ``path`` when ``root`` is on the import path."""
    inner = path if root == "." else path[len(root) + 1 :]
    parts = inner.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def import_roots(paths: Collection[str], changed: Iterable[str], *, as_module: bool) -> tuple[str, ...]:
    """Return the import roots of a tree, most specific first.

    ``changed`` are product files whose code must come from the tree; ``as_module``
    is True for ``python -m``, which puts the current folder on the path.
    """
    roots: list[str] = []
    if any(p.startswith("src/") and p.endswith(".py") for p in paths):
        roots.append("src")
    for path in sorted(changed):
        root = package_root(path, paths)
        if root is not None and root not in roots:
            roots.append(root)
    if as_module and "." not in roots:
        roots.append(".")
    return tuple(sorted(roots, key=lambda r: (r == ".", roots.index(r))))
