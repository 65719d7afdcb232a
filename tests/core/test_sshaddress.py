"""Addresses of machines: what is taken, and that nothing in one is an option of ssh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.errors import Misused
from redbucket.core.sshaddress import SshAddress, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ssh://box", SshAddress("box")),
        ("ssh://box/", SshAddress("box")),
        ("ssh://Build-Box_1.example.org", SshAddress("Build-Box_1.example.org")),
        ("ssh://ada@box:2222/var/tmp/", SshAddress("box", "ada", 2222, "/var/tmp")),
        ("ssh://ada@dom@box/x", SshAddress("box", "ada@dom", 0, "/x")),
        ("ssh://[::1]:22/x", SshAddress("::1", "", 22, "/x")),
        (
            "ssh://box/a%20b?python=.venv/bin/python",
            SshAddress("box", folder="/a b", python=".venv/bin/python"),
        ),
        (
            "ssh://box?repo=/srv/clone&python=python3.12",
            SshAddress("box", python="python3.12", repo="/srv/clone"),
        ),
    ],
)
def test_what_is_taken(text: str, address: SshAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "local",
        "box",
        "http://box",
        "ssh://",
        "ssh:///x",
        "ssh://-oProxyCommand=x",
        "ssh://-v@box",
        "ssh://a@-v",
        "ssh://box:x",
        "ssh://box:99999",
        "ssh://box:123456",
        "ssh://box relative",
        "ssh://box/x?python=",
        "ssh://box/x?python=a&python=b",
        "ssh://box/x?shell=1",
        "ssh://box/x?repo=clone",
        "ssh://box/x#y",
        "ssh://b\nox",
        "ssh://$(id)",
        "ssh://büro",
    ],
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(Misused) as error:
        parse_address(text)
    assert error.value.code == "bad-runner"
    assert "ssh://[USER@]HOST" in error.value.remedy


@given(st.text(max_size=40))
def test_host_and_user_are_never_options(text: str) -> None:
    for whole in (f"ssh://{text}", f"ssh://{text}@box", f"ssh://{text}:1/x"):
        try:
            found = parse_address(whole)
        except Misused:
            continue
        assert found.host
        assert not found.host.startswith("-")
        assert not found.user.startswith("-")
        assert not set(found.host + found.user) & set(" \t\n'\"\\$`;&|<>()")
