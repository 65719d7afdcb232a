"""Options and variables by which test tools rewrite their own expectations, by tool.

A run that judges must not have them: the bug that it meets would become the spec.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# Options without a value.
FLAGS = {
    "--snapshot-update": "syrupy, pytest-snapshot, snapshottest",
    "--force-regen": "pytest-regressions",
    "--regen-all": "pytest-regressions",
    "--update-goldens": "pytest-golden",
    "--image-snapshot-update": "pytest-image-snapshot",
    "--mpl-generate-hash-library": "pytest-mpl",
}
# Options with a value, and the values that rewrite nothing.
VALUED = {
    "--record-mode": ("pytest-recording", frozenset({"none"})),
    "--vcr-record": ("pytest-vcr", frozenset({"none"})),
    "--vcr-record-mode": ("pytest-vcr", frozenset({"none"})),
    "--inline-snapshot": ("inline-snapshot", frozenset({"disable", "report", "short-report"})),
    "--insta": ("pytest-insta", frozenset({"record", "review-only"})),
    "--mpl-generate-path": ("pytest-mpl", frozenset[str]()),
    "--approvaltests-use-reporter": ("approvaltests", frozenset[str]()),
    "--approvaltests-add-reporter": ("approvaltests", frozenset[str]()),
}
_HOMEMADE = re.compile(
    r"--(?:update|regen|regenerate|rewrite|accept)-(?:all-)?"
    r"(?:snapshots?|goldens?|golden-files|fixtures?|baselines?|cassettes?|expected|expectations?|references?)"
)
VARIABLES = re.compile(
    r"(?:(?:UPDATE|REGEN|REGENERATE|RECORD|OVERWRITE|ACCEPT)_\w+|\w+_(?:UPDATE|REGEN|REGENERATE|RECORD)"
    r"|INSTA_(?:UPDATE|FORCE_PASS)|EXPECTTEST_ACCEPT|VCR_RECORD\w*|VCR_MODE|SNAPSHOT_UPDATE|BLESS)"
)


class Scrubbed(NamedTuple):
    """A command without its updating options, and those options."""

    kept: tuple[str, ...]
    removed: tuple[str, ...]


def without_updates(words: Sequence[str]) -> Scrubbed:
    """Return a command line, or pytest's addopts as words, without the options that rewrite expectations.

    pytest takes an unambiguous beginning of a long option for the option, so a beginning counts, too.
    """
    kept: list[str] = []
    removed: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            kept += words[at - 1 :]
            break
        name, equals, value = word.partition("=")
        if _begins(name, FLAGS) or _HOMEMADE.fullmatch(name):
            removed.append(word)
            continue
        option = _begins(name, VALUED)
        if option is None:
            kept.append(word)
            continue
        whole = [word]
        if not equals and at < len(words):
            value = words[at]
            whole.append(value)
            at += 1
        harmless = VALUED[option][1]
        said = {part.strip().lower() for part in value.split(",")}
        (kept if said <= harmless else removed).extend(whole)
    return Scrubbed(tuple(kept), tuple(removed))


def _begins(name: str, known: dict[str, str] | dict[str, tuple[str, frozenset[str]]]) -> str | None:
    if name in known:
        return name
    if not name.startswith("--") or len(name) < 8:
        return None
    full = [option for option in known if option.startswith(name)]
    return full[0] if full else None


def is_update_variable(name: str) -> bool:
    """Return whether a variable of this name, whatever its value, makes some tool rewrite expectations.

    ``UPDATE_GOLDEN=0`` has regenerated goldens: the tool looked only whether it was set.
    """
    return VARIABLES.fullmatch(name.upper()) is not None
