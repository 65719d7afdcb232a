"""Who owns a file by CODEOWNERS: the last pattern that matches says so."""

from __future__ import annotations

from redbucket.core.paths import Matcher

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")


class CodeOwners:
    """The rules of one file; a line that is no pattern is passed over, as the services do."""

    def __init__(self, text: str) -> None:
        self._rules: list[tuple[Matcher, str]] = []
        for line in text.splitlines():
            words = line.partition(" #")[0].split()
            if words and not words[0].startswith(("#", "[", "^[", "!")):
                self._rules.append((Matcher([words[0]]), " ".join(words[1:])))

    def of(self, path: str) -> str:
        """Return the owners of a path, "" for none."""
        return next((owners for matcher, owners in reversed(self._rules) if matcher.matches(path)), "")
