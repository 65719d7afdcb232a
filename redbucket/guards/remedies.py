"""Ways out of a refusal that fit the path and the policy: what the base lacks can't be put back, and
without listed signers nobody can endorse."""

from __future__ import annotations

from msgspec.structs import replace

from redbucket.core.findings import Finding
from redbucket.guards.context import Context

# What guards write, to be fitted by ``fitted``.
BACK = "put the file back to base's bytes"
ENDORSE = "have a person endorse it: `redbucket endorse {path}`"
BACK_OR_ENDORSE = f"{BACK}, or {ENDORSE}"

SIGNERS = "endorsing needs identity.allowed_signers in the policy: docs/endorse.md"
_COMMIT = f"have a person make the change in a commit and on a branch of their own ({SIGNERS})"


def approval(path: str, *, signers: bool) -> str:
    """Return how a person approves what the patch does to ``path``; ``signers``: the policy names some."""
    return ENDORSE.format(path=path) if signers else _COMMIT


def fitted(finding: Finding, context: Context) -> Finding:
    """Return the finding with the commands that put its path back, and with an approval that the policy knows."""
    path = finding.path
    if path is None or not finding.remedy:
        return finding
    if path in context.base.entries:
        back = f"put it back (git checkout {context.patch.base[:12]} -- {path})"
    else:
        back = f"take it out (git rm -f -- {path})"
    remedy = finding.remedy.replace(BACK, back)
    signers = bool(context.policy.identity.allowed_signers)
    remedy = remedy.replace(ENDORSE.format(path=path), approval(path, signers=signers))
    return finding if remedy == finding.remedy else replace(finding, remedy=remedy)
