"""How far runs are shut off from the machine that they happen on, as the policy asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from redbucket.core.errors import WorldFailed

Mode = Literal["auto", "off", "require"]


@dataclass(frozen=True)
class Isolation:
    """``mode`` says whether there is a sandbox around each run, ``network`` whether that leaves the network."""

    mode: Mode = "off"
    network: bool = False

    def described(self) -> str:
        """Return what a sandbox shuts off, and what it does not."""
        shut = "a read-only root, an empty /tmp, no other processes"
        shut += ", and the network" if self.network else ", no network but its own loopback"
        return f"each run had {shut}; not shut off: what you may read, CPUs, memory, disk"

    def applies(self, where: str, missing: str) -> bool:
        """Return whether runs get a sandbox ``where`` one can't be had because of ``missing`` ("" = it can).

        Raises WorldFailed "no-sandbox" where one is required: there is never silently none.
        """
        if missing and self.mode == "require":
            raise WorldFailed(
                "no-sandbox",
                f"[run] sandbox is required, and there is none on {where}: {missing}",
                'install bubblewrap there and allow user namespaces, or set [run] sandbox = "auto" or "off"',
            )
        return self.mode != "off" and not missing
