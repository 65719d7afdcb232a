"""Options and variables by which test tools rewrite their own expectations, by tool.

A run that judges must not have them: the bug that it meets would become the spec.
They are taken out wherever they come from: the command and the files that it names with
an @, ``addopts``, PYTEST_ADDOPTS, ``run.env``, inline-snapshot's own table in pyproject.toml.
"""

import os
import re
import shlex
import sys

# Options without a value.
FLAGS = {
    "--snapshot-update": "syrupy, pytest-snapshot, snapshottest",
    "--snapshot-update-new-only": "syrupy",
    "--allow-snapshot-deletion": "pytest-snapshot",
    "--force-regen": "pytest-regressions",
    "--regen-all": "pytest-regressions",
    "--update-goldens": "pytest-golden",
    "--image-snapshot-update": "pytest-image-snapshot",
    "--mpl-generate-hash-library": "pytest-mpl",
}
# Options with a value, and the values that rewrite nothing.
_NO_VALUE = frozenset()
_REPORTERS = frozenset({"pythonnativereporter", "quietreporter", "clipboardreporter"})
VALUED = {
    "--record-mode": ("pytest-recording", frozenset({"none"})),
    "--vcr-record": ("pytest-vcr", frozenset({"none"})),
    "--vcr-record-mode": ("pytest-vcr", frozenset({"none"})),
    "--inline-snapshot": ("inline-snapshot", frozenset({"disable", "report", "short-report"})),
    "--insta": ("pytest-insta", frozenset({"record", "review-only"})),
    "--mpl-generate-path": ("pytest-mpl", _NO_VALUE),
    "--approvaltests-use-reporter": ("approvaltests", _REPORTERS),
    "--approvaltests-add-reporter": ("approvaltests", _NO_VALUE),
}
# Those that projects write for themselves.
_VERB = "(?:update|regen|regenerate|rewrite|accept|overwrite|bless|rebaseline|rerecord|record)"
_WHAT = (
    "(?:snapshots?|goldens?|golden.?(?:files?|data|masters?)|fixtures?|baselines?|cassettes?|expected"
    "|expectations?|references?|approvals?|approved)"
)
_HOMEMADE = re.compile("--(?:%s-(?:(?:all|new)-)?%s|%s-%s)" % (_VERB, _WHAT, _WHAT, _VERB))
_VARIABLES = re.compile(
    (
        r"update_\w+|(?:\w+_)?(?:regen|regenerate|rebaseline|rerecord)(?:_\w+)?|bless"
        r"|(?:\w+_)?%s_(?:(?:all|new|test)_)?%s|(?:\w+_)?%s_%s"
        r"|insta_(?:update|force_pass)|expecttest_accept|(?:\w+_)?record_mode|vcr_record\w*|vcr_mode"
        r"|approval_tests_use_reporter"
    )
    % (_VERB, _WHAT, _WHAT, _VERB)
)
# inline-snapshot: what an option made of flags by [tool.inline-snapshot.shortcuts], or its default-flags, may ask for
_INLINE = frozenset({"create", "fix", "trim", "update", "review"})
_INLINE_VARIABLE = "INLINE_SNAPSHOT_DEFAULT_FLAGS"
_INLINE_DEFAULTS = re.compile(r"^\s*default-flags(?:-tui)?\s*=\s*\[([^\]]*)\]", re.M)


def without_updates(words):
    """Return (kept, removed) of a command line, or of pytest's addopts as words."""
    kept, removed = [], []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            kept += words[at - 1 :]
            break
        name, equals, value = word.partition("=")
        if name in FLAGS or _HOMEMADE.fullmatch(name):
            removed.append(word)
        elif name in VALUED:
            whole = [word]
            if not equals and at < len(words):
                value = words[at]
                whole.append(value)
                at += 1
            said = {part.strip().lower() for part in value.split(",")}
            (kept if said <= VALUED[name][1] else removed).extend(whole)
        else:
            kept.append(word)
    return kept, removed


def is_update_variable(name):
    """Return whether a variable of this name, whatever its value, makes some tool rewrite expectations.

    ``UPDATE_GOLDEN=0`` has regenerated goldens: the tool looked only whether it was set.
    """
    return _VARIABLES.fullmatch(name.lower()) is not None


class Updates:
    """Takes them out of one process; ``dropped`` says what and, for a variable, its name alone."""

    def __init__(self):
        self.dropped = []

    def of_words(self, words):
        """Return ``words`` without the options."""
        kept, removed = without_updates(list(words))
        self.dropped += removed
        return kept

    def of_environment(self, environ):
        """Take the variables away, and the options out of PYTEST_ADDOPTS."""
        for name in [name for name in environ if is_update_variable(name) or _asks_inline(name, environ)]:
            del environ[name]
            self.dropped.append(name)
        try:
            words = shlex.split(environ.get("PYTEST_ADDOPTS", ""))
        except ValueError:
            return  # pytest will say so
        kept = self.of_words(words)
        if len(kept) < len(words):
            environ["PYTEST_ADDOPTS"] = " ".join(map(shlex.quote, kept))

    def of_options(self, option, folders):
        """Set inline-snapshot's parsed option to what rewrites nothing; its shortcuts are options of their own.

        ``folders`` are where it looks for a pyproject.toml.
        """
        if not hasattr(option, "inline_snapshot"):
            return
        flags = {flag.strip() for flag in str(option.inline_snapshot or "").split(",")}
        if flags & _INLINE:
            self.dropped.append("--inline-snapshot=%s" % option.inline_snapshot)
            option.inline_snapshot = "short-report"
        elif not option.inline_snapshot and any(map(_rewrites_by_default, folders)):
            self.dropped.append("[tool.inline-snapshot] default-flags")
            option.inline_snapshot = "short-report"  # the tool's own default


def unfolded(words, deepest=8):
    """Return ``words`` with the lines of each file that a word ``@FILE`` names in its place.

    So does pytest 8.2, by argparse; what it can't read stays as it is, and pytest says so.
    """
    found = []
    for word in words:
        lines = _lines(word[1:]) if word.startswith("@") and deepest else None
        found += [word] if lines is None else unfolded(lines, deepest - 1)
    return found


def _lines(name):
    try:
        # the encoding of file names, as argparse has it
        with open(
            name, encoding=sys.getfilesystemencoding(), errors=sys.getfilesystemencodeerrors()
        ) as stream:
            return stream.read().splitlines()
    except (OSError, ValueError):
        return None


def _asks_inline(name, environ):
    return name == _INLINE_VARIABLE and bool(_INLINE & {flag.strip() for flag in environ[name].split(",")})


def _rewrites_by_default(folder):
    try:
        with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, ValueError):
        return False
    return any(_INLINE & set(re.findall(r"[\w-]+", flags)) for flags in _INLINE_DEFAULTS.findall(text))
