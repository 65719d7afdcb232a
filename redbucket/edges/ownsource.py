"""Where this redbucket was installed from, as pip noted it (PEP 610)."""

from __future__ import annotations

import json
import re
from importlib import metadata

from redbucket.core.errors import Misused
from redbucket.core.sighting import Source

_ADDRESS = re.compile(
    r"(?:git\+)?(?P<address>(?:https?|ssh|git|file)://[^\s@]*(?:@[^\s@/]+)?[^\s@]*)@(?P<rev>[\w./+-]+)"
)


def installed_source() -> Source | None:
    """Return the git address and commit that pip installed redbucket from, None if it was something else."""
    try:
        raw = metadata.distribution("redbucket").read_text("direct_url.json")
        said = json.loads(raw or "{}")
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return None
    kind = said.get("vcs_info") if isinstance(said, dict) else None
    if not isinstance(kind, dict) or kind.get("vcs") != "git":
        return None
    commit, address = str(kind.get("commit_id", "")), str(said.get("url", ""))
    # what pip was given may hold a password or a token
    return Source(address, commit) if commit and address and "@" not in address.partition("://")[2] else None


def docs_address(source: Source | None) -> str:
    """Return where a hosting service shows the docs folder of ``source``; "" where that is not known."""
    if source is None or not source.address.startswith("https://"):
        return ""
    address = source.address.rstrip("/").removesuffix(".git")
    host = address.split("/")[2]
    if host == "github.com":
        return f"{address}/blob/{source.revision}/docs"
    return f"{address}/-/blob/{source.revision}/docs" if host.startswith("gitlab.") else ""


def parse_source(text: str) -> Source:
    """Return the source that ``--source`` names. Raises Misused "bad-source"."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise Misused(
            "bad-source",
            f"{text!r} is no address of a repository with a commit",
            "write it as pip does: git+https://HOST/OWNER/redbucket@COMMIT",
        )
    return Source(found["address"], found["rev"])
