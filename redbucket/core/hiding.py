"""Which differences of attributes hide a file's changes or change its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from redbucket.core.attributes import SET, UNSET, UNSPECIFIED, Value

# Drivers that git has built in: they choose hunk headers and words, and hide nothing.
_WORDS = (
    "ada bash bibtex cpp csharp css dts elixir fortran fountain golang html ini java kotlin markdown "
    "matlab objc pascal perl php python r ruby rust scheme tex"
)
BUILT_IN_DRIVERS = frozenset(_WORDS.split())
_NOTHING = Value()
# git looks for a NUL here to tell binary files from text.
_SAMPLE = 8000


def hides(old: Mapping[str, Value], new: Mapping[str, Value], content: bytes) -> Iterator[tuple[str, Value]]:
    """Yield (what it does, the value) for each attribute whose new value does harm to ``content``.

    Settings that change nothing for these very bytes pass: ``binary`` on a
    binary file, ``text`` on one without CR.
    """
    binary = b"\0" in content[:_SAMPLE]
    for name, what in _HARM.items():
        before, after = old.get(name, _NOTHING), new.get(name, _NOTHING)
        if before.value != after.value and _harmful(name, after.value, content, binary=binary):
            yield what, after if after.rule else before


_HARM = {
    "diff": "hides its hunks from `git diff` and from reviewers",
    "merge": "changes how it is merged",
    "text": "changes its bytes at line ends",
    "crlf": "changes its bytes at line ends",
    "eol": "changes its bytes at line ends",
    "ident": "writes object ids into it on checkout",
    "filter": "passes it through a program on checkout and commit",
    "working-tree-encoding": "changes its encoding on checkout",
    "export-ignore": "leaves it out of `git archive`",
    "export-subst": "changes its text in `git archive`",
}


def _harmful(name: str, value: str, content: bytes, *, binary: bool) -> bool:
    driver = value.removeprefix("=")
    if name == "diff":
        return not binary and (value == UNSET or (value.startswith("=") and driver not in BUILT_IN_DRIVERS))
    if name == "merge":
        return not binary and (value == UNSET or (value.startswith("=") and driver != "text"))
    if name in ("text", "crlf", "eol"):
        if driver == "crlf" and name == "eol":
            return not binary
        # -text keeps the bytes; the others drop a CR
        return value not in (UNSET, UNSPECIFIED) and b"\r" in content and (not binary or value == SET)
    return value not in (UNSET, UNSPECIFIED)
