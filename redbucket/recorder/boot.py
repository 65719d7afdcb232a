"""Starts the test runner of the project's interpreter with the recorder in it.

Called as ``python BOOT CONFIG_FD RECORD_FD LIFE_FD``. By then Python has started with an
import path that holds nothing of the judged tree; the runner and the recorder are
imported, and only then the tree comes onto the path.
"""

import hashlib
import json
import os
import sys


def _settings(fd):
    with os.fdopen(fd, "rb") as stream:
        return json.loads(stream.read().decode("utf-8", "surrogateescape"))


def _die_with_parent():
    """On Linux, ask the kernel to end this process with its parent (PR_SET_PDEATHSIG = 1)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)


def _first_to_go():
    """Ask Linux to end this process before any other when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
    except OSError:
        pass  # another system, or a /proc that can't be written: the largest process goes


def run(package):
    """Run the tests as the settings say and return the exit status of the runner."""
    settings = _settings(int(sys.argv[1]))
    record_fd, life_fd = int(sys.argv[2]), int(sys.argv[3])
    if not _bound_to_parent(settings):
        return 97
    from . import channel as channels
    from . import dodges, guardian, held, late, lines, machinery, played, roots, seeds, updates, watch

    guardian.post(life_fd, record_fd, os.path.dirname(settings["tree"]))

    channel = channels.Channel(record_fd, bytes.fromhex(settings["key"]))
    tree = settings["tree"]
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != home]
    kind = settings["runner"]
    runner = _runner(kind, channel)
    if runner is None:
        return 4
    watcher = watch.Watch(tree, settings["fixtures"], settings["data"])
    # it replaces a part of the import machinery, before 3.12: so before that is noted
    lined = lines.watcher({os.path.join(tree, p): numbers for p, numbers in settings["lines"].items()})
    dodged = dodges.Dodges(tree, settings["judge"])
    parts_of_it = machinery.Machinery(package, watcher, tree, settings["judge"])
    holding = held.Held(tree, settings["judge"], watcher)
    seeds.watch_urandom()
    watcher.install()
    outside = [os.path.realpath(folder) for folder in settings["outside"]]
    absolute_roots = [os.path.normpath(os.path.join(tree, root)) for root in settings["roots"]]
    roads = roots.turn(tree, absolute_roots, outside)
    parts = roots.InstalledParts(tree, absolute_roots, outside, settings["tracked"])
    if settings["tracked"]:
        sys.meta_path.append(parts)
    _lead_children(settings, absolute_roots, outside if roads else None)
    cassettes = played.Played()
    imports = late.OnImport()
    imports.wait(seeds.LATE, seeds.late)
    imports.wait(played.LATE, cassettes.late)
    imports.wait(machinery.LATE, parts_of_it.late)
    imports.wait(dodges.LATE, dodged.late)
    sys.meta_path.insert(0, imports)
    recorder = runner.Recorder(settings, channel, watcher, lined, tree)
    settings["plugins"] = _plugins(settings, recorder)
    recorder.results.machinery, recorder.results.held = parts_of_it, holding
    recorder.imports = imports
    rewriting = recorder.rewriting = updates.Updates()
    rewriting.of_environment(os.environ)
    settings["args"] = rewriting.of_words(settings["args"])
    del settings["key"]
    _look_like_the_runner(settings, package)
    seeds.pin(settings["seed"], "start")
    try:
        status = runner_main(kind, settings, recorder)
    finally:
        channel.send(
            "origins",
            foreign=roots.foreign(tree, outside, parts.taken),
            elsewhere={
                **roots.copies(settings["originals"], tree),
                **roots.loaded_from(settings["modules"], tree),
            },
            parts=parts.taken,
            patched=sorted([*parts_of_it.changed(), *holding.changed(), *dodged.seen]),
            dropped=rewriting.dropped,
            unwatched=[os.path.relpath(path, tree) for path in lined.unwatched()] if lined else [],
            unplayed=cassettes.unplayed(tree),
            openers={path: sorted(files) for path, files in watcher.openers.items()},
        )
    channel.send("exit", status=int(status))
    return int(status)


def _bound_to_parent(settings):
    """Return False if the parent is gone already; see to it that this process ends with it."""
    if settings["parent"] is not None and os.getppid() != settings["parent"]:
        return False
    if settings["masked"]:  # an ordinary process has no such marks; its guardian ends it
        os.environ.pop("PYTHONHASHSEED", None)  # it has done its work
        return True
    try:
        _die_with_parent()
    except (OSError, AttributeError, ImportError):
        pass  # no libc by that name: the broken pipe ends an orphan a little later
    _first_to_go()
    return True


def _runner(kind, channel):
    """Return the module that records that runner; None, and why on the channel, if there is none."""
    if kind != "pytest":
        from . import unittest_runner

        return unittest_runner
    try:
        import pytest
    except ImportError as error:
        channel.send("refused", reason="no-pytest", detail=str(error))
        return None
    version = tuple(int(part) for part in pytest.__version__.split(".")[:2] if part.isdigit())
    if version < (7, 0):
        channel.send("refused", reason="old-pytest", detail=pytest.__version__)
        return None
    from . import pytest_plugin

    return pytest_plugin


def _lead_children(settings, absolute_roots, outside):
    """Let the processes that tests start import from the tree, in whatever folder; ``outside``: past these folders."""
    path = absolute_roots + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(path))
    if outside is None:
        return
    from . import descent

    tree = settings["tree"]
    name = hashlib.sha256(settings["key"].encode()).hexdigest()[:12]
    descent.lead(os.path.join(os.path.dirname(tree), "s" + name), tree, absolute_roots, outside)


def _plugins(settings, recorder):
    """Return the runner's further plugins: those of a diagnosis, those of a run without a gate's signs."""
    plugins = []
    if settings["diagnose"]:
        from . import diagnose

        recorder.results.lab = diagnose.Lab(settings["diagnose"], settings["tree"])
        plugins.append(recorder.results.lab)
    if settings["masked"] and settings["runner"] == "pytest":
        from .unmarked import Unmarked

        plugins.append(Unmarked())
    return plugins


def _look_like_the_runner(settings, package):
    """Let the process say of itself what an ordinary one says, and take the recorder's modules out of reach."""
    sys.argv = [settings["argv0"]] + list(settings["args"])
    if hasattr(sys, "orig_argv"):
        words = settings["options"] + ["-m", settings["runner"]]
        sys.orig_argv[:] = [sys.executable] + words + list(settings["args"])
    # what remains is reached through the objects that are in use
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def runner_main(kind, settings, recorder):
    """Hand over to the runner; return its exit status."""
    if kind == "pytest":
        import pytest

        args = list(settings["args"]) + settings["extra"]
        return pytest.main(args, plugins=[recorder] + settings["plugins"])
    return recorder.main(list(settings["args"]))
