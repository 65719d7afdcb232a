"""Commands in a sentence, as they work where the reader's shell stands.

Sentences name commands as they work at the top of the repository and with ``redbucket`` on PATH. Who called it by
another name, or stands somewhere else, gets the same commands with that name and place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from shlex import quote

COMMANDS = (
    "gate",
    "guard",
    "rerun",
    "ticket",
    "report",
    "classify",
    "fixtures",
    "flakes",
    "replay",
    "explain",
    "ledger",
    "budget",
    "draft",
    "review",
    "oracle",
    "endorse",
    "init",
    "install",
    "uninstall",
    "doctor",
    "demo",
    "completion",
    "hook",
    "agent-hook",
)
# Those that are named to users and look at a repository; "git lfs pull" and the like do as well.
_GIT = "add|annex|checkout|commit|config|fetch|lfs|merge|replace|reset|restore|rm|show|sparse-checkout|submodule|switch"
_START = r"(?<![\w./-])"  # no part of a path or of a longer name
_OWN = re.compile(rf"{_START}redbucket (?=(?:{'|'.join(COMMANDS)})(?![\w-]))")
_OTHER = re.compile(rf"{_START}git (?=(?:{_GIT})(?![\w-])(?! --global))")


@dataclass(frozen=True)
class Calling:
    """How a reader calls redbucket, in words for a shell, and the folder that commands are to work in ("": here)."""

    program: str = "redbucket"
    folder: str = ""

    def here(self, text: str) -> str:
        """Return ``text`` with its commands as they work where the reader stands."""
        if not self.folder:
            return self.named(text)
        place = f"-C {quote(self.folder)} "
        text = self._written(_OWN.sub(lambda _: f"{self.program} {place}", text))
        if text.startswith("pre-commit "):  # it has no option for this
            return f"cd {quote(self.folder)} && {text}"
        return _OTHER.sub(lambda _: f"git {place}", text)

    def named(self, text: str) -> str:
        """Return ``text`` with redbucket called as the reader calls it, for commands that have their place already."""
        text = self._written(text)
        return text if self.program == "redbucket" else _OWN.sub(lambda _: f"{self.program} ", text)

    def _written(self, text: str) -> str:
        # -C counts for what a command reads; what it writes lies where the shell stands
        return text.replace(" --output ", f" --output {quote(self.folder)}/") if self.folder else text


AS_WRITTEN = Calling()
