"""The policies by which fixtures are looked at locally: HEAD's, and the one from which a branch went off.

A branch that names fewer fixtures in its own ``redbucket.toml`` must not make its own verification easier: until it has
landed, what either names counts, as the gate goes by the protected branch's.
"""

from __future__ import annotations

from dataclasses import dataclass

from redbucket.core.errors import Misused
from redbucket.core.policy import POLICY_NAME, Policy, parse
from redbucket.edges.staged import Staged
from redbucket.engine.whoasks import landing_tip


@dataclass(frozen=True)
class Rules:
    """HEAD's policy ``own``, and ``fork``, the commit where HEAD left the protected branch, with its policy.

    ``fork`` is "" and ``before`` None where no protected branch is known, or its policy can't be read.
    """

    own: Policy
    fork: str = ""
    before: Policy | None = None

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies whose fixture paths and manifests count, HEAD's first."""
        return (self.own, self.before) if self.before is not None and self.differ else (self.own,)

    @property
    def differ(self) -> bool:
        """Whether the branch itself changed what a fixture or a lock is."""
        if self.before is None:
            return False
        one, other = self.own.fixtures, self.before.fixtures
        return (one.paths, one.manifests) != (other.paths, other.manifests)

    @property
    def known_ids(self) -> bool:
        """Whether SHA-256s that were kept may be believed: no branch allows that to itself."""
        return (self.before or self.own).fixtures.known_ids


def rules_of(source: Staged, revision: str | None = None) -> Rules:
    """Return the rules for the index, or for the commit ``revision``."""
    own = policy_of(source)
    try:
        tip = landing_tip(source, lambda commit: policy_of(source, commit), lambda: own)
        head = revision or source.resolve("HEAD")
        fork = "" if tip is None else source.fork(head, tip) or tip
        return Rules(own, fork, policy_of(source, fork)) if fork else Rules(own)
    except Misused:
        return Rules(own)


def policy_of(source: Staged, commit: str = "HEAD") -> Policy:
    """Return the policy of a commit; of HEAD the index's where there is no commit yet."""
    if commit != "HEAD":
        (raw,) = source.blobs([f"{commit}:{POLICY_NAME}"])
        return parse(raw, f"{POLICY_NAME} at {commit[:12]}") if raw is not None else Policy()
    committed, staged, head = source.blobs([f"HEAD:{POLICY_NAME}", f":{POLICY_NAME}", "HEAD^{tree}"])
    raw = committed if committed is not None else staged if head is None else None
    return parse(raw, POLICY_NAME) if raw is not None else Policy()
