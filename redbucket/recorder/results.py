"""What both runners say of a session and of each test, in the same words."""

import copy
import os
import sys

from . import failures, seeds
from .channel import cut
from .phases import WORST

_environ = os.environ


def arrange(pairs, settings, file_of):
    """Return the (name, test) pairs, ordered and selected as the run asks for.

    ``file_of`` gives the path of a test's file in the tree.
    """
    order, wanted = settings["order"], settings["only"]
    files = frozenset(settings["files"])
    if files:
        pairs = [pair for pair in pairs if file_of(*pair) in files]
    without = frozenset(settings["without"])
    if without:
        pairs = [pair for pair in pairs if file_of(*pair) not in without]
    if order == "reversed":
        pairs.reverse()
    elif order == "shuffled":
        pairs.sort(key=lambda pair: seeds.derive(settings["shuffle"], pair[0]))
    if wanted is not None:
        place = {nodeid: index for index, nodeid in enumerate(wanted)}
        pairs = [pair for pair in pairs if pair[0] in place]
        if order == "given":
            pairs.sort(key=lambda pair: place[pair[0]])
    return pairs


class Results:
    """Sends the events of one process."""

    def __init__(self, settings, channel, watch, lines, tree):
        self._settings = settings
        self._channel = channel
        self._watch = watch
        self._lines = lines
        self._tree = tree
        self._places = (
            (tree, "<tree>"),
            (os.path.realpath(tree), "<tree>"),
            (os.path.dirname(tree), "<run>"),
        )
        self._urandom = 0
        self.machinery = self.held = None
        self.lab = None  # the conditions of an experiment; an ordinary run has none

    def session(self, runner, plugins):
        """Say what runs where."""
        self._channel.send(
            "session",
            interpreter=sys.executable,
            python="%d.%d.%d" % sys.version_info[:3],
            implementation=sys.implementation.name,
            platform=sys.platform,
            runner=runner,
            packages=_packages() if not self._settings["resumed"] else {},
            plugins=plugins,
            pid=os.getpid(),
        )

    def begin(self, name, index):
        """Say that a test starts, and forget what happened before it."""
        self._channel.send("start", nodeid=name, index=index)
        if self._lines is not None:
            self._lines.take()
        self._watch.take()
        if self.lab is not None:
            self.lab.begin(name)

    def mark(self):
        """Note where the entropy stands, now that everything is seeded."""
        self._urandom = seeds.urandom_calls()

    def end(self, name, index, outcome, duration, failure, attempts, inherited):
        """Say how a test ended."""
        sites = self.lab.sites() if self.lab is not None else ()
        counts = self.lab.counts() if self.lab is not None else []
        if self.machinery is not None:
            self.machinery.look()
            self.held.look(name)
        reads, writes, entropy = self._watch.take()
        if seeds.used():
            entropy.add("random")
        if seeds.urandom_calls() != self._urandom:
            entropy.add("urandom")
        state = self.lab.end() if self.lab is not None else ()
        touched, more = inherited
        if more:
            reads |= more
        if reads or self._watch.pending:
            self._watch.settle(reads, writes)
        hits = self._lines.take() if self._lines is not None else set()
        event = {
            "nodeid": name,
            "outcome": outcome,
            "phase": failure.get("phase", "call"),
            "duration": round(duration, 6),
            "seed": str(_environ.get("TEST_SEED", "")),
            "index": index,
        }
        for key in ("message", "exception", "fingerprint"):
            if failure.get(key):
                event[key] = failure[key]
        if reads or writes:
            event["fixtures"] = sorted(reads | writes)
            event["fixture_hash"] = self._watch.digest(reads | writes)
            event["wrote"] = sorted(writes)
        if entropy:
            event["entropy"] = sorted(entropy)
        if state:
            event["state"] = list(state)
        if sites:
            event["sites"] = list(sites)
        if counts:
            event["inputs"] = counts
        if attempts:
            event["attempts"] = attempts
        if hits or touched:
            prefix = len(self._tree) + 1
            event["touched"] = ["%s:%d" % (path[prefix:], line) for path, line in sorted(hits.union(touched))]
        self._channel.send("end", **event)

    def failure(self, phase, error, traceback):
        """Return what is kept of an exception."""
        return failures.kept(phase, error, traceback, self._tree, self._places, cut)

    def finished(self, status, sentinels, unseen):
        """Say that the session ended by itself, and what the sentinels did."""
        self._channel.send(
            "finished",
            status=status,
            sentinels=sentinels,
            unseen=unseen,
            pinned=sorted(seeds.pinned | {"PYTHONHASHSEED", "TEST_SEED"}),
        )


def again(test):
    """Return a copy of a test or item that nobody knows by name: it runs, and is not recorded."""
    other = copy.copy(test)
    if hasattr(other, "_initrequest"):  # a pytest function: its fixture values and instance are its own
        other.__dict__.pop("_instance", None)
        if "_obj" in other.__dict__ and hasattr(other.obj, "__self__"):
            other.__dict__.pop("_obj")
        other._initrequest()
    return other


def _packages():
    """Return {name: version} by the names of the metadata folders: to read them all takes 30 ms."""
    found = {}
    for folder in reversed(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            stem, dot, kind = name.rpartition(".")
            if dot and kind in ("dist-info", "egg-info"):
                parts = stem.split("-")
                found[parts[0].replace("_", "-")] = parts[1] if len(parts) > 1 else ""
    return found


__all__ = ["WORST", "Results", "again", "arrange"]
