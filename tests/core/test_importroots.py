from __future__ import annotations

import pytest

from redbucket.core.importroots import import_roots, module_name, package_root

FLAT = {"pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "setup.py", "single.py"}
SRC = {"src/pkg/__init__.py", "src/pkg/a.py", "src/spaced/inner/c.py", "docs/conf.py"}
MONO = {"packages/one/src/one/__init__.py", "packages/one/src/one/x.py"}


@pytest.mark.parametrize(
    ("path", "paths", "root", "name"),
    [
        ("pkg/a.py", FLAT, ".", "pkg.a"),
        ("pkg/__init__.py", FLAT, ".", "pkg"),
        ("pkg/sub/b.py", FLAT, ".", "pkg.sub.b"),
        ("single.py", FLAT, ".", "single"),
        ("src/pkg/a.py", SRC, "src", "pkg.a"),
        ("src/spaced/inner/c.py", SRC, "src", "spaced.inner.c"),
        ("packages/one/src/one/x.py", MONO, "packages/one/src", "one.x"),
    ],
)
def test_a_file_is_imported_from_the_folder_that_holds_its_top_package(
    path: str, paths: set[str], root: str, name: str
) -> None:
    assert package_root(path, paths) == root
    assert module_name(path, root) == name


def test_a_script_in_no_package_has_no_root() -> None:
    # docs/ on the import path would shadow modules for nothing
    assert package_root("docs/conf.py", SRC) is None


def test_src_comes_before_the_top_of_the_tree() -> None:
    assert import_roots(SRC, ["src/pkg/a.py"], as_module=True) == ("src", ".")


def test_the_pytest_script_does_not_put_the_top_on_the_path() -> None:
    assert import_roots(SRC, ["src/pkg/a.py"], as_module=False) == ("src",)


def test_a_changed_package_is_importable_whatever_starts_the_tests() -> None:
    assert import_roots(FLAT, ["pkg/a.py"], as_module=False) == (".",)
    assert import_roots(MONO, ["packages/one/src/one/x.py"], as_module=False) == ("packages/one/src",)
