"""What is sent to the far side of a connection: redbucket's own text, and how to begin with it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
# All of these keep to the standard library and Python 3.8; a test starts them there.
MODULES = (
    "core/byproducts.py",
    "core/errors.py",
    "edges/anycommand.py",
    "edges/barestore.py",
    "edges/digests.py",
    "edges/environment.py",
    "edges/far.py",
    "edges/frames.py",
    "edges/git.py",
    "edges/installed.py",
    "edges/interpreter.py",
    "edges/load.py",
    "edges/masking.py",
    "edges/memory.py",
    "edges/names.py",
    "edges/newfiles.py",
    "edges/orphans.py",
    "edges/prctl.py",
    "edges/recordercopy.py",
    "edges/reportfiles.py",
    "edges/sandbox.py",
    "edges/sealed.py",
    "edges/site.py",
    "edges/supervise.py",
    "edges/workshop.py",
)

# Short, and without quotes or signs that any login shell would touch.
STARTER = "import sys;i=sys.stdin.buffer;exec(i.read(int(i.readline())))"

_BEGIN = """
import importlib.abc, importlib.machinery, json, sys
if sys.version_info < (3, 8):
    sys.exit("Python 3.8 or newer is needed, this is %s" % sys.version.split()[0])
told = json.loads(i.read(int(i.readline())).decode("utf-8"))

class Told(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name not in told["modules"]:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=told["modules"][name] == "")
    def exec_module(self, module):
        name = module.__name__
        module.__file__ = "/" + name.replace(".", "/") + ".py"
        exec(compile(told["modules"][name], module.__file__, "exec"), module.__dict__)

sys.meta_path.insert(0, Told())
sys.dont_write_bytecode = True
from redbucket.edges import far
far.main(told["recorder"])
"""


@cache
def payload() -> bytes:
    """Return what the starter reads: two pieces, each after its length."""
    modules = {"redbucket": "", "redbucket.core": "", "redbucket.edges": ""}
    for name in MODULES:
        modules["redbucket." + name[:-3].replace("/", ".")] = (_PACKAGE / name).read_text(encoding="utf-8")
    folder = _PACKAGE / "recorder"
    recorder = {
        str(p.relative_to(folder)): p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.py"))
    }
    told = json.dumps({"modules": modules, "recorder": recorder}).encode("ascii")
    begin = _BEGIN.encode("ascii")
    return b"%d\n%b%d\n%b" % (len(begin), begin, len(told), told)
