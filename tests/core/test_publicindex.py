"""The public package index is known by digests; pip's own built-in addresses say whether they are right."""

from __future__ import annotations

import pytest

from redbucket.core.locked import reader
from redbucket.core.publicindex import is_public

built_in = pytest.importorskip("pip._internal.models.index", reason="pip is not installed here")
INDEX = built_in.PyPI.simple_url
HOST = built_in.PyPI.netloc
FILES = built_in.PyPI.file_storage_domain


@pytest.mark.parametrize(
    "address", [INDEX, f"http://{HOST}", f"https://{HOST.upper()}/x", f"https://{FILES}/a/b.whl"]
)
def test_what_pip_takes_by_default_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        f"https://{HOST}.example.org/simple",
        f"https://example.org/{HOST}/simple",
        f"https://{HOST}@example.org/simple",
        f"https://{HOST}:8443/simple",
        f"https://user@{HOST}/simple",
        f"ftp://{HOST}/simple",
        f"https://{HOST}\\@example.org/",
        f"https://example.org/#{HOST}",
        "https://packages.example.com/simple",
        "",
    ],
)
def test_nothing_else_is(address: str) -> None:
    assert not is_public(address)


def test_a_requirements_file_may_name_it() -> None:
    read = reader("requirements.txt")
    assert read is not None
    assert read(f"--index-url {INDEX}\npytest\n".encode()).indexes == set()
    assert read(b"--index-url https://example.org/simple\npytest\n").indexes


def test_a_lock_that_takes_all_from_it_names_no_source() -> None:
    read = reader("uv.lock")
    assert read is not None
    lock = (
        f'[[package]]\nname = "pytest"\nversion = "8.3.4"\nsource = {{ registry = "{INDEX}" }}\n'
        f'wheels = [{{ url = "https://{FILES}/p.whl", hash = "sha256:aa" }}]\n'
    )
    assert read(lock.encode()).named["pytest"].source == ""
    assert read(lock.replace(HOST, "example.org").encode()).named["pytest"].source != ""
