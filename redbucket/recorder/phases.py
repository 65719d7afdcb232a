"""What becomes of the reports of one test: its phases, attempts and subtests in one outcome."""

# Of the phases of one test, the worst counts.
WORST = ("error", "failed", "xpassed", "skipped", "xfailed", "passed")


class Phases:
    """Collects the reports of one test, however often a plugin runs it."""

    def __init__(self):
        self.earlier = []
        self.reason = ""
        self._phases = []
        self._subtests = []
        self._raised = set()

    def raised(self, when):
        """Note that a phase raised a real failure, whatever its report will say."""
        self._raised.add(when)

    def broken(self, when):
        """Note that no report could be made."""
        self._phases.append((when, "error"))

    def saw(self, report):
        """Take one report; a second setup is another attempt."""
        if hasattr(report, "context") or type(report).__name__ in ("SubtestReport", "SubTestReport"):
            self._subtests.append("failed" if report.outcome == "failed" else _outcome(report))
            self._raised.discard(report.when)  # that failure has a report, this one
            return
        if report.when == "setup" and self._phases:
            self.earlier.append(self.outcome())
            self._phases, self._subtests, self._raised = [], [], set()
        if report.outcome in ("rerun", "retried"):
            outcome = "failed" if report.when == "call" else "error"
        else:
            outcome = _outcome(report)
            if outcome == "passed" and report.when in self._raised:
                # a retry inside the process, or a hook that turns red into green
                self.earlier.append("failed")
                self._raised.discard(report.when)
        if outcome == "skipped" and isinstance(report.longrepr, tuple):
            self.reason = str(report.longrepr[-1])
        self._phases.append((report.when, outcome))

    def outcome(self):
        """Return the outcome of the current attempt."""
        outcomes = [outcome for _, outcome in self._phases]
        whens = [when for when, _ in self._phases]
        if "call" not in whens and "call" in self._raised:
            return "failed"  # an attempt whose report a plugin kept to itself
        if "failed" not in self._subtests and (
            not outcomes or ("call" not in whens and outcomes[0] == "passed")
        ):
            return "error"  # no report of the body: nothing says that it passed
        return min(outcomes + self._subtests, key=WORST.index)  # a part that was skipped was not tested


def _outcome(report):
    xfail = hasattr(report, "wasxfail")
    if report.passed:
        return "passed"
    if report.skipped:
        return "xfailed" if xfail else "skipped"
    if (
        report.when == "call"
        and isinstance(report.longrepr, str)
        and report.longrepr.startswith("[XPASS(strict)]")
    ):
        return "xpassed"
    return "failed" if report.when == "call" else "error"
