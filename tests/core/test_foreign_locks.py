"""Lock files: another version is the product's, other bytes in its place are not."""

from __future__ import annotations

import json

import pytest

from redbucket.core.foreign_locks import is_lock, replaced


def npm(**packages):
    entries = {
        "": {"name": "cart"},
        "node_modules/jest": {
            "version": "30.0.0",
            "resolved": "https://registry.example.org/jest/-/jest-30.0.0.tgz",
            "integrity": "sha512-good",
        },
    }
    entries.update({f"node_modules/{name}": entry for name, entry in packages.items()})
    return json.dumps({"lockfileVersion": 3, "packages": entries}).encode()


def entry(name, version="1.0.0", integrity="sha512-x", **more):
    where = f"https://registry.example.org/{name}/-/{name}-{version}.tgz"
    return {"version": version, "resolved": where, "integrity": integrity, **more}


JEST = entry("jest", "30.0.0", "sha512-good")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"jest": {**JEST, "integrity": "sha512-evil"}}, "locks other bytes as jest 30.0.0"),
        ({"jest": {k: v for k, v in JEST.items() if k != "integrity"}}, "locks jest 30.0.0 without a hash"),
        ({"jest": {**JEST, "resolved": "https://evil.example/jest.tgz"}}, "takes jest from evil.example"),
        (
            {"jest": {**JEST, "version": "31.0.0", "resolved": "https://evil.example/jest.tgz"}},
            "takes jest from",
        ),
        ({"jest": {"resolved": "packages/evil", "link": True}}, "takes jest from link"),
        ({"jest": {"version": "30.0.1", "resolved": "file:evil.tgz"}}, "takes jest from file"),
        ({"jest": {**JEST, "version": "30.0.1", "name": "evil"}}, "puts evil in the place of jest"),
        (
            {"other": {**entry("other"), "resolved": "https://evil.example/o.tgz"}},
            "takes other from evil.example",
        ),
    ],
)
def test_npm_what_takes_a_package_s_place(entries, said):
    (first, *rest) = replaced("web/package-lock.json", npm(), npm(**entries))
    assert first.startswith(said)
    assert rest == []


@pytest.mark.parametrize(
    "entries",
    [
        {"jest": entry("jest", "30.1.0", "sha512-new")},
        {"left-pad": entry("left-pad")},
        {"mine": {"resolved": "packages/mine", "link": True}},
        {"jest": {**JEST, "dev": True}},
        {"jest/node_modules/deep": entry("deep")},
    ],
)
def test_npm_versions_and_new_packages_pass(entries):
    assert replaced("package-lock.json", npm(), npm(**entries)) == []


CARGO = '[[package]]\nname = "proptest"\nversion = "1.5.0"\nsource = "{0}"\nchecksum = "{1}"\n'
CRATES = "registry+https://github.com/rust-lang/crates.io-index"
GO = "{0} {1} h1:{2}=\n"
YARN = """\
# yarn lockfile v1


"@jest/core@^30.0.0", "@jest/core@^30.1.0":
  version "{0}"
  resolved "{1}#abc"
  integrity {2}

left-pad@^1:
  version "1.3.0"
"""
BERRY = """\
"jest@npm:^30.0.0":
  version: {0}
  resolution: "{1}@npm:{0}"
  checksum: 10c0/{2}
  languageName: node
"""
PNPM = """\
lockfileVersion: '9.0'

packages:

  '@jest/core@{0}':
    resolution: {{integrity: {1}{2}}}
    engines: {{node: '>=18'}}
"""
GOOD, EVIL = "https://r.example/c.tgz", "https://evil.example/c.tgz"


@pytest.mark.parametrize(
    ("path", "form", "old", "new"),
    [
        ("Cargo.lock", CARGO, (CRATES, "a"), (CRATES, "b")),
        ("Cargo.lock", CARGO, (CRATES, "a"), ("git+https://evil.example/proptest#1", "a")),
        ("go.sum", GO, ("a.b/c", "v1.0.0", "x"), ("a.b/c", "v1.0.0", "y")),
        ("yarn.lock", YARN, ("30.0.0", GOOD, "sha512-a"), ("30.0.0", GOOD, "sha512-b")),
        ("yarn.lock", YARN, ("30.0.0", GOOD, "sha512-a"), ("30.1.0", EVIL, "sha512-b")),
        ("yarn.lock", BERRY, ("30.0.0", "jest", "a"), ("30.0.0", "jest", "b")),
        ("yarn.lock", BERRY, ("30.0.0", "jest", "a"), ("30.1.0", "evil", "b")),
        ("pnpm-lock.yaml", PNPM, ("30.0.0", "sha512-a", ""), ("30.0.0", "sha512-b", "")),
        ("pnpm-lock.yaml", PNPM, ("30.0.0", "sha512-a", ""), ("30.0.0", "sha512-a", f", tarball: {EVIL}")),
    ],
)
def test_other_lock_files(path, form, old, new):
    before = form.format(*old).encode()
    assert replaced(path, before, before) == []
    assert replaced(path, before, form.format(*new).encode())


@pytest.mark.parametrize(
    ("path", "form", "old", "new"),
    [
        ("go.sum", GO, ("a.b/c", "v1.0.0", "x"), ("a.b/c", "v1.1.0", "y")),
        ("yarn.lock", YARN, ("30.0.0", GOOD, "sha512-a"), ("30.1.0", GOOD, "sha512-b")),
        ("yarn.lock", BERRY, ("30.0.0", "jest", "a"), ("30.1.0", "jest", "b")),
        ("pnpm-lock.yaml", PNPM, ("30.0.0", "sha512-a", ""), ("30.1.0", "sha512-b", "")),
    ],
)
def test_a_version_moves(path, form, old, new):
    assert replaced(path, form.format(*old).encode(), form.format(*new).encode()) == []


def test_a_file_that_can_t_be_read_says_so():
    assert replaced("package-lock.json", npm(), b"{") == ["can't be read any more"]
    assert replaced("package-lock.json", npm(), b"[]") == ["can't be read any more"]
    assert replaced("package-lock.json", b"{", npm()) == []
    nameless = b'[[package]]\nversion = "1.0.0"\n'
    assert replaced("Cargo.lock", CARGO.format(CRATES, "a").encode(), nameless) == ["can't be read any more"]
    assert replaced("Cargo.lock", nameless, CARGO.format(CRATES, "a").encode()) == []
    assert is_lock("web/Cargo.lock")
    assert not is_lock("poetry.lock")
