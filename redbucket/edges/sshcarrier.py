"""The user's own OpenSSH client as the carrier of a connection."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import threading

from redbucket.core.errors import WorldFailed
from redbucket.core.sshaddress import SshAddress
from redbucket.edges.bundle import STARTER
from redbucket.edges.frames import Gone, Reader, Writer

COMMAND = "REDBUCKET_SSH"
_ENDING = 30.0  # seconds for the far side to clear up
_TALK = 8000  # bytes of what ssh says that are kept
# The code under test runs there: it gets no way back, whatever the user's configuration gives to other commands.
_OPTIONS = (
    *("-T", "-a", "-x"),
    *("-o", "ClearAllForwardings=yes"),
    *("-o", "PermitLocalCommand=no"),
    *("-o", "RemoteCommand=none"),
)


class SshCarrier:
    """One process of the client; ``link.Carrier`` explains the methods."""

    def __init__(self, address: SshAddress) -> None:
        """Begin to connect. Raises WorldFailed "runner-unreachable"."""
        self._address, self._words = address, _words(address)
        self._talk = bytearray()
        try:
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise WorldFailed(
                "runner-unreachable",
                f"{self._words[0]} could not be started: {error.strerror}",
                f"install the OpenSSH client, or name it in {COMMAND}",
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.reader, self.writer = (
            Reader(self._process.stdout.fileno()),
            Writer(self._process.stdin.fileno()),
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def unreachable(self, problem: Gone) -> Exception:
        """As ``Carrier`` says, once the client has ended."""
        self._process.kill()
        self._process.wait()
        self._listener.join(2)
        return WorldFailed(
            "runner-unreachable",
            f"{self._address.name}: {self.last_words() or problem}",
            f"try: {shlex.join([*self._words[:-1], f'{_python(self._address)} --version'])}",
        )

    def last_words(self) -> str:
        """As ``Carrier`` says: the client's last line."""
        lines = bytes(self._talk).decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:300] if lines else ""

    def hang_up(self) -> None:
        """As ``Carrier`` says."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def end(self) -> None:
        """As ``Carrier`` says."""
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def cut(self) -> None:
        """As ``Carrier`` says."""
        with contextlib.suppress(OSError):
            self._process.terminate()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while data := self._process.stderr.read(1024):
                self._talk += data
                del self._talk[:-_TALK]


def _words(address: SshAddress) -> list[str]:
    """Return the command; the user's own configuration says the rest."""
    words = [*shlex.split(os.environ.get(COMMAND) or "ssh"), *_OPTIONS]
    if not (sys.stdin is not None and sys.stdin.isatty()):
        words += ["-o", "BatchMode=yes"]  # nobody is there to answer a question
    if address.port:
        words += ["-p", str(address.port)]
    if address.user:
        words += ["-l", address.user]
    return [*words, "--", address.host, f"{_python(address)} -c '{STARTER}'"]


def _python(address: SshAddress) -> str:
    """Return what starts the far side, for its shell."""
    return shlex.quote(address.python if address.python.startswith("/") else "python3")
