"""A real sshd on the loopback address, with keys and configuration of its own, started by the test that needs it."""

from __future__ import annotations

import contextlib
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.edges.sshkit import Key

_PATHS = ("/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/lib/ssh/sshd")


@dataclass
class Sshd:
    """One server; ``ssh`` is the client's command, with the user's part of the configuration."""

    place: Path
    port: int
    ssh: str
    process: subprocess.Popen[bytes]

    def address(self, folder: Path | str = "", query: str = "") -> str:
        """An address of this server."""
        return f"ssh://far{folder}{'?' + query if query else ''}"

    def sessions(self) -> list[int]:
        """The server's processes for connections: its children, and theirs that are sshd."""
        found, waiting = [], [self.process.pid]
        while waiting:
            parent = waiting.pop()
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{parent}/task").iterdir():
                    for child in map(int, (task / "children").read_text().split()):
                        if b"sshd" in Path(f"/proc/{child}/cmdline").read_bytes():
                            found.append(child)
                            waiting.append(child)
        return found

    def cut(self) -> int:
        """Kill every connection, as a broken network does; return how many processes that were."""
        cut = 0
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                cut += 1
        return cut


@contextlib.contextmanager
def served(place: Path) -> Iterator[Sshd]:
    """Start sshd; nothing of the machine's own configuration, keys or hosts is used."""
    program = next((p for p in _PATHS if Path(p).exists()), None) or shutil.which("sshd")
    if program is None:
        pytest.skip("no sshd here: apt-get install openssh-server")
    place.mkdir()
    place.chmod(0o700)
    host, user = Key.make(place, "host"), Key.make(place, "user")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (place / "authorized").write_text(user.public + "\n")
    (place / "known").write_text(f"[127.0.0.1]:{port} {host.public}\n")
    (place / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {host.path}\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {place}/authorized\nPasswordAuthentication no\nPermitRootLogin yes\n"
        "MaxStartups 100\nMaxSessions 100\nPrintMotd no\n"
    )
    (place / "ssh_config").write_text(
        f"Host far\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {user.path}\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {place}/known\n  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n  LogLevel ERROR\n"
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where sshd locks its helper in (UsePrivilegeSeparation)
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-D", "-e", "-f", str(place / "sshd_config")], stdin=subprocess.DEVNULL, stderr=log
        )
        server = Sshd(place, port, f"ssh -F {shlex.quote(str(place / 'ssh_config'))}", process)
        try:
            _answering(server)
            yield server
        finally:
            server.cut()
            process.terminate()
            process.wait()


def _answering(server: Sshd) -> None:
    until = time.monotonic() + 20
    while True:
        try:
            with socket.create_connection(("127.0.0.1", server.port), timeout=1) as there:
                if there.recv(4) == b"SSH-":
                    return
        except OSError:
            assert server.process.poll() is None, (server.place / "log").read_text()
        assert time.monotonic() < until, (server.place / "log").read_text()
        time.sleep(0.05)
