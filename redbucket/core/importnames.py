"""Import names that a patch must not take over: data, and which name a path is imported by."""

from __future__ import annotations

import sys
from collections.abc import Collection

from redbucket.core.importroots import package_root

# Imported by pytest, its plugins, or by most test suites, whether they are declared or not.
_WORDS = (
    "pytest _pytest py pluggy iniconfig packaging exceptiongroup pygments colorama tomli hypothesis "
    "sortedcontainers coverage xdist execnet pytest_asyncio pytest_cov pytest_mock pytest_timeout "
    "pytest_randomly numpy setuptools pkg_resources pip redbucket sitecustomize usercustomize"
)
TEST_TOOLS = frozenset(_WORDS.split())
STANDARD = frozenset(sys.stdlib_module_names)

# Distributions whose import name is another, by PyPI's normalised name.
IMPORTED_AS = {
    "attrs": ("attr", "attrs"),
    "beautifulsoup4": ("bs4",),
    "djangorestframework": ("rest_framework",),
    "gitpython": ("git",),
    "grpcio": ("grpc",),
    "msgpack-python": ("msgpack",),
    "mysqlclient": ("MySQLdb",),
    "opencv-python": ("cv2",),
    "pillow": ("PIL",),
    "protobuf": ("google",),
    "psycopg2-binary": ("psycopg2",),
    "pycryptodome": ("Crypto",),
    "pyjwt": ("jwt",),
    "pytest-xdist": ("xdist",),
    "python-dateutil": ("dateutil",),
    "python-dotenv": ("dotenv",),
    "pyyaml": ("yaml",),
    "pyzmq": ("zmq",),
    "ruamel-yaml": ("ruamel",),
    "scikit-image": ("skimage",),
    "scikit-learn": ("sklearn",),
    "setuptools": ("setuptools", "pkg_resources"),
    "typing-extensions": ("typing_extensions",),
}
_SOURCES = (".py", ".pyw", ".pyc")
_BINARIES = (".so", ".pyd", ".dll", ".dylib")


def is_binary_module(path: str) -> bool:
    """Return whether Python would load ``path`` as compiled code."""
    return path.endswith((".pyc", ".pyo", *_BINARIES))


def top_name(path: str, paths: Collection[str], test_folders: Collection[str]) -> tuple[str, str] | None:
    """Return (import root, top-level name) of a module file, None if it is imported from no root.

    ``test_folders`` hold tests without a package: pytest puts each on the path.
    """
    folder, _, name = path.rpartition("/")
    if "." not in name:
        root = folder  # a link or a submodule that could be a package
        return (root or ".", name) if root in ("", "src") or root in test_folders else None
    if not name.endswith((*_SOURCES, *_BINARIES)) or folder.rpartition("/")[2] == "__pycache__":
        return None
    if folder in test_folders and f"{folder}/__init__.py" not in paths:
        return folder or ".", name.split(".", 1)[0]
    place = package_root(path, paths)
    if place is None:
        return None
    inner = path if place == "." else path[len(place) + 1 :]
    return place, inner.split("/", 1)[0].split(".", 1)[0]
