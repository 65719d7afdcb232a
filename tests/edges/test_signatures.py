"""SSH signatures as git verifies them against a list, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from redbucket.edges import signatures
from redbucket.edges.repository import Repository
from tests.edges.sshkit import Key, forge, signed
from tests.gitkit import Repo


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Key]]:
    folder = tmp_path_factory.mktemp("keys")
    yield {name: Key.make(folder, name) for name in ("ada", "eve", "ca", "staff")}


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = Repo.init(tmp_path / "repo")
    made.commit({"a": "1"})
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(made.home))
    return made


def verify(repo: Repo, allowed: str, base: str = "HEAD~1") -> list[str]:
    found = Repository.discover(repo.path)
    answer = signatures.signers(found, found.resolve(base), found.resolve("HEAD"), allowed.encode())
    return [answer[oid] for oid in repo.git("rev-list", f"{base}..HEAD").split() if oid in answer]


def test_a_listed_key_counts_and_no_other(repo: Repo, keys: dict[str, Key]) -> None:
    signed(repo, keys["ada"])
    signed(repo, keys["eve"])
    repo.commit(message="unsigned")
    assert verify(repo, keys["ada"].line(), "HEAD~3") == ["ada@example.org"]
    assert verify(repo, keys["eve"].line("eve@x"), "HEAD~3") == ["eve@x"]
    assert verify(repo, "", "HEAD~3") == []


@pytest.mark.parametrize("principals", ["*@example.org", "*", "bob@x,ada@example.org", "!eve@x,*"])
def test_principals_may_be_patterns_and_lists(repo: Repo, keys: dict[str, Key], principals: str) -> None:
    signed(repo, keys["ada"])
    assert len(verify(repo, keys["ada"].line(principals))) == 1


@pytest.mark.parametrize(
    ("options", "good"),
    [
        ('namespaces="git"', True),
        ('namespaces="file,git"', True),
        ('namespaces="file"', False),
        ('valid-before="20500101"', True),
        ('valid-before="20200101"', False),
        ('valid-after="20200101"', True),
        ('valid-after="20500101"', False),
    ],
)
def test_options_of_a_line(repo: Repo, keys: dict[str, Key], options: str, good: bool) -> None:
    signed(repo, keys["ada"])
    assert bool(verify(repo, keys["ada"].line(options=options))) is good


def test_expiry_is_compared_with_the_commits_own_date(repo: Repo, keys: dict[str, Key]) -> None:
    # so a list can keep the keys of people who left; a key that is lost must be removed from it
    signed(repo, keys["ada"], when=1_500_000_000)
    assert verify(repo, keys["ada"].line(options='valid-before="20180101"')) == ["ada@example.org"]


def test_certificates(repo: Repo, keys: dict[str, Key]) -> None:
    certificate = keys["ca"].certify(keys["staff"], "bob@example.org")
    signed(repo, certificate)
    assert verify(repo, keys["ca"].line("*@example.org", "cert-authority")) == ["bob@example.org"]
    assert verify(repo, keys["ca"].line("*@example.com", "cert-authority")) == []
    assert verify(repo, keys["ca"].line("*@example.org")) == []  # the authority's own key is another key


def test_broken_lines_and_comments_of_the_list_do_no_harm(repo: Repo, keys: dict[str, Key]) -> None:
    signed(repo, keys["ada"])
    assert verify(repo, "# people\n\nthis is no line\n" + keys["ada"].line()) == ["ada@example.org"]


def test_a_signature_covers_every_byte(repo: Repo, keys: dict[str, Key]) -> None:
    commit = signed(repo, keys["ada"], message="harmless")
    assert verify(repo, keys["ada"].line())
    forge(repo, commit, b"harmless", b"harmful!")
    assert verify(repo, keys["ada"].line()) == []


GPG = b"-----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----"


@pytest.mark.parametrize(
    "signature",
    [
        GPG,
        b"garbage",
        b"-----BEGIN SSH SIGNATURE-----\n !!\n -----END SSH SIGNATURE-----",
        GPG.replace(b"PGP SIGNATURE", b"SIGNED MESSAGE"),
    ],
)
def test_other_signatures_do_not_count_and_start_no_program(
    repo: Repo, keys: dict[str, Key], signature: bytes, tmp_path: Path
) -> None:
    said = tmp_path / "gpg-was-started"
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\ntouch {said}\necho '[GNUPG:] GOODSIG X SHA256:x'\n")
    program.chmod(0o755)
    (repo.home / ".gitconfig").write_text(
        f'[gpg]\n\tprogram = {program}\n[gpg "x509"]\n\tprogram = {program}\n'
    )
    commit = repo.commit(message="claims")
    forge(repo, commit, b"\n\n", b"\ngpgsig " + signature + b"\n\n")
    signed(repo, keys["ada"])
    assert verify(repo, keys["ada"].line(), "HEAD~2") == ["ada@example.org"]
    assert not said.exists()


def test_settings_of_the_user_neither_relax_nor_tighten(
    repo: Repo, keys: dict[str, Key], tmp_path: Path
) -> None:
    yes = tmp_path / "yes"
    yes.write_text("#!/bin/sh\necho 'Good \"git\" signature for root with ED25519 key SHA256:x'\n")
    yes.chmod(0o755)
    everybody, revoked = tmp_path / "everybody", tmp_path / "revoked"
    everybody.write_text(keys["eve"].line("*"))
    revoked.write_text(keys["ada"].public + "\n")
    (repo.home / ".gitconfig").write_text(
        f'[gpg "ssh"]\n\tprogram = {yes}\n\tallowedSignersFile = {everybody}\n\trevocationFile = {revoked}\n'
        "[gpg]\n\tformat = openpgp\n\tminTrustLevel = ultimate\n[log]\n\tshowSignature = true\n"
    )
    signed(repo, keys["ada"])
    signed(repo, keys["eve"])
    assert verify(repo, keys["ada"].line(), "HEAD~2") == ["ada@example.org"]


def test_what_git_says_of_one_commit(repo: Repo, keys: dict[str, Key]) -> None:
    unsigned, one = repo.head(), signed(repo, keys["ada"])
    found = Repository.discover(repo.path)
    known = signatures.signature(found, one, keys["ada"].line().encode())
    unknown = signatures.signature(found, one, keys["eve"].line().encode())
    assert known.trusted and known.principal == "ada@example.org"
    assert (unknown.letter, unknown.trusted) == ("U", False) and unknown.key.startswith("SHA256:")
    assert signatures.signature(found, unsigned, b"").letter == "N"


def test_a_long_range_is_verified_in_parts(repo: Repo, keys: dict[str, Key]) -> None:
    for number in range(120):
        tree = repo.tree()
        oid = repo.git("commit-tree", "-p", "HEAD", "-m", str(number), tree, **repo.people())
        repo.git("update-ref", "HEAD", oid)
        if number in (0, 60, 119):
            signed(repo, keys["ada"])
    assert len(verify(repo, keys["ada"].line(), "HEAD~123")) == 3
