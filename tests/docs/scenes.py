"""What a reader has before the first command of a sheet."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable, Mapping

import pytest

from redbucket.app.demo import build
from tests.docs.shell import Shell
from tests.edges.sshd import served
from tests.edges.sshkit import Key


def empty(shell: Shell) -> None:
    """A home folder."""


def bucketizer(shell: Shell, runner: str = "unittest") -> None:
    """The worked example, and the reader stands in it."""
    shell.folder = shell.home / "bucketizer"
    shell.folder.mkdir()
    build(shell.folder, runner=runner)


def bucketizer_pytest(shell: Shell) -> None:
    """The same, and pytest runs its tests."""
    bucketizer(shell, "pytest")


def server(shell: Shell) -> None:
    """A bare repository, and a clone of it beside it; the reader stands above both."""
    bucketizer(shell)
    shell.folder = shell.home
    _git(shell, "clone", "--quiet", "--bare", "bucketizer", "project.git")
    _git(shell, "-C", "bucketizer", "remote", "add", "origin", str(shell.home / "project.git"))


def signing(shell: Shell) -> None:
    """The worked example; the reader has an SSH key, and git signs with it."""
    _needs("ssh-keygen")
    bucketizer(shell)
    key = Key.make(shell.home / ".ssh", "id_ed25519")
    with (shell.home / ".gitconfig").open("a") as config:
        config.write(f"[user]\n\tsigningKey = {key.path}.pub\n[gpg]\n\tformat = ssh\n")


def _needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")


_MONOREPO = {
    "billing/money.py": "def split(amount, parts):\n    share, rest = divmod(amount, parts)\n"
    "    return [share + (index < rest) for index in range(parts)]\n",
    "billing/tests/test_money.py": "from money import split\n\n\n"
    "def test_split():\n    assert split(11, 3) == [4, 4, 3]\n",
    "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "shop/tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "web/sum.mjs": "export const sum = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    "web/test/sum.test.mjs": 'import test from "node:test";\nimport assert from "node:assert";\n'
    'import { sum } from "../sum.mjs";\n\ntest("sum", () => assert.equal(sum([1, 2]), 3));\n',
}


def monorepo(shell: Shell) -> None:
    """Three parts in one repository, two in Python and one in JavaScript; agents have changed one each."""
    _needs("node")
    shell.folder = shell.home / "works"
    shell.folder.mkdir()
    _git(shell, "init", "--quiet")
    _commit(shell, _MONOREPO, "Three parts")
    for part, path, old, new in (
        ("billing", "billing/money.py", "< rest", "< rest - 1"),
        ("web", "web/sum.mjs", "a + b, 0", "a + b, 1"),
    ):
        _git(shell, "switch", "--quiet", "--create", f"agent/{part}", "main")
        _commit(shell, {path: _MONOREPO[path].replace(old, new)}, f"Faster {part}")
    _git(shell, "switch", "--quiet", "main")


def red_suite(shell: Shell) -> None:
    """The worked example with an old test that is red; two of the patches on top of it."""
    bucketizer(shell, "pytest")
    old = "from bucketizer import bucket\n\n\ndef test_no_value():\n    assert bucket(None, []) is None\n"
    _commit(shell, {"tests/test_old.py": old}, "Old tests")
    for name in ("green", "miss"):
        _git(shell, "switch", "--quiet", f"agent/{name}")
        _git(shell, "rebase", "--quiet", "main")
    _git(shell, "switch", "--quiet", "main")


def no_policy(shell: Shell) -> None:
    """The worked example before redbucket was set up in it."""
    bucketizer(shell, "pytest")
    _git(shell, "rm", "--quiet", "redbucket.toml")
    _git(shell, "commit", "--quiet", "--message", "As it was")


def judged(shell: Shell) -> None:
    """The worked example, and a gate has seen two of its branches."""
    bucketizer(shell)
    for name in ("miss", "drift"):
        assert shell.run(f"redbucket gate --quiet --head agent/{name}")[0] == 1


def locked(shell: Shell) -> None:
    """The worked example with a lock; since then a fixture has changed, and another one is new."""
    bucketizer(shell)
    data = shell.folder / "tests/data"
    seen = hashlib.sha256((data / "edges.json").read_bytes()).hexdigest()
    _commit(shell, {"fixtures.sha256": f"{seen}  tests/data/edges.json\n"}, "A lock")
    (data / "edges.json").write_text("[0, 1, 2.0, 5]\n", encoding="utf-8")
    (data / "new.json").write_text("[]\n", encoding="utf-8")


def node(shell: Shell) -> None:
    """A project of JavaScript, with a policy for Node's own runner."""
    policy = (
        '[run]\ncommand = ["node", "--test", "--test-reporter=junit", "--test-reporter-destination=junit.xml", '
        '"test/"]\nformat = "junit"\nreport = "junit.xml"\n'
    )
    _needs("node")
    shell.folder = shell.home / "web"
    shell.folder.mkdir()
    _git(shell, "init", "--quiet")
    files = {path.removeprefix("web/"): text for path, text in _MONOREPO.items() if path.startswith("web/")}
    _commit(shell, {**files, "redbucket.toml": policy}, "A sum")


def build_machine(shell: Shell) -> None:
    """The worked example, and a machine called build.example.org that ssh reaches."""
    bucketizer(shell)
    server = shell.after.enter_context(served(shell.place / "sshd"))
    config = server.place / "ssh_config"
    config.write_text(config.read_text().replace("Host far", "Host far build.example.org"))
    shell.env["REDBUCKET_SSH"] = server.ssh


def ci_job(shell: Shell) -> None:
    """A job of a CI service, which says what is offered and where to."""
    bucketizer(shell)
    shell.env.update(BASE_SHA="main", HEAD_SHA="agent/green", HEAD_BRANCH="agent/green")
    for name in ("BASE_SHA", "HEAD_SHA"):
        shell.env[name] = shell.run(f"git rev-parse ${name}")[1].strip()


def _commit(shell: Shell, files: Mapping[str, str], message: str) -> None:
    for name, text in files.items():
        path = shell.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _git(shell, "add", "--all")
    _git(shell, "commit", "--quiet", "--message", message)


def _git(shell: Shell, *words: str) -> None:
    code, seen = shell.run(shlex.join(["git", *words]))
    assert code == 0, seen


SCENES: dict[str, Callable[[Shell], None]] = {
    "empty": empty,
    "bucketizer": bucketizer,
    "bucketizer with pytest": bucketizer_pytest,
    "server": server,
    "signing": signing,
    "monorepo": monorepo,
    "red suite": red_suite,
    "no policy": no_policy,
    "judged": judged,
    "CI job": ci_job,
    "node": node,
    "locked": locked,
    "build machine": build_machine,
}
