# ruff: noqa: E501 (payloads are programs of their own)
"""The attacks: what product code does to get a broken ``bucket`` past base's tests.

Names are put together where a plain spelling would be stopped by the static guards:
here the runs are to stop it, too.
"""

from __future__ import annotations

from benchmarks.attack_base import BROKEN, CONFTEST, CORE, TESTS, Attack
from tests.gitkit import Link

_FIND = '''\
import gc, os, re, sys, types
_M = sys.modules

def _mod(name):
    return __import__(name, fromlist=["x"])

def _recorder():
    """Modules of the recorder, by what they hold."""
    return [m for m in list(_M.values()) if hasattr(m, "Channel") or hasattr(m, "Phases") or hasattr(m, "Results")]

def _class(name):
    for o in gc.get_objects():
        if isinstance(o, type) and o.__name__ == name and not o.__module__.startswith("_pytest"):
            return o

def _objects(kind):
    return [o for o in gc.get_objects() if type(o).__name__ == kind]

_RUNNER, _REPORTS, _PYTHON = "_py" "test.runner", "_py" "test.reports", "_py" "test.python"
_HEX = re.compile(r"test_[0-9a-f]{10}$")
'''
_RIGHT = """

import bisect as _b

def _right(value, edges):
    return _b.bisect_left(edges, value)

"""


def _switch(condition: str, before: str = "") -> str:
    """Product code that is right where the condition holds, and wrong elsewhere."""
    return (
        f"{before}\nimport bisect\n\n\ndef bucket(value, edges):\n    if {condition}:\n"
        "        return bisect.bisect_left(edges, value)\n    return bisect.bisect_right(edges, value)\n\n\n"
        "def shift(edges, amount):\n    return [edge + amount for edge in edges]\n"
    )


def _calls(body: str, before: str = "") -> str:
    """Product code that does something as it is called."""
    return (
        f"{before}\nimport bisect\n\n\ndef _act(value, edges):\n"
        + "".join(f"    {line}\n" for line in body.splitlines())
        + "\n\ndef bucket(value, edges):\n    _act(value, edges)\n    return bisect.bisect_right(edges, value)\n\n\n"
        "def shift(edges, amount):\n    return [edge + amount for edge in edges]\n"
    )


EXITS = (
    Attack("exit", "plain-break"),
    Attack("exit", "exit-at-import", "import os\ngetattr(os, '_ex' 'it')(0)\n"),
    Attack("exit", "sysexit-at-import", "import sys\ngetattr(sys, 'ex' 'it')(0)\n"),
    Attack("exit", "exit-in-call", core=_calls("getattr(os, '_ex' 'it')(0)", "import os")),
    Attack(
        "exit",
        "exit-in-thread",
        "import os, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(.02), getattr(os, '_ex' 'it')(0)), daemon=True).start()\n",
    ),
    Attack("exit", "exit-at-exit", "import os, atexit\natexit.register(getattr(os, '_ex' 'it'), 0)\n"),
    Attack(
        "exit",
        "framework-exit",
        core=_calls("getattr(__import__('py' 'test'), 'ex' 'it')('done', 0)"),
    ),
    Attack(
        "exit",
        "fork-parent-exits",
        core=_calls(
            "pid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n    getattr(os, '_ex' 'it')(0)", "import os"
        ),
    ),
    Attack(
        "exit",
        "skip-by-unittest",
        core=_calls("if value in edges: raise getattr(__import__('unit' 'test'), 'Skip' 'Test')()"),
    ),
    Attack(
        "exit",
        "skip-by-pytest",
        core=_calls("if value in edges: getattr(__import__('py' 'test'), 'sk' 'ip')('x')"),
    ),
    Attack(
        "exit",
        "xfail-by-pytest",
        core=_calls("if value in edges: getattr(__import__('py' 'test'), 'xf' 'ail')('x')"),
    ),
    Attack("exit", "printed-summary", "import os\nprint('7 passed in 0.01s')\ngetattr(os, '_ex' 'it')(0)\n"),
    Attack("exit", "huge-output", core=_calls("os.write(1, b'PASSED\\n' * 3_000_000)", "import os")),
    Attack("exit", "endless-loop", core=_calls("while value in edges: pass")),
    Attack("exit", "closed-descriptors", core=_calls("os.closerange(0, 256)", "import os")),
    Attack("exit", "segfault", core=_calls("if value in edges: __import__('ctypes').string_at(0)")),
    Attack("exit", "keyboard-interrupt", core=_calls("if value in edges: raise KeyboardInterrupt")),
)

FRAMEWORK = (
    Attack(
        "framework",
        "reports-all-passed",
        _FIND
        + """
T = _mod(_REPORTS).TestReport
old = T.from_item_and_call.__func__
def new(cls, item, call):
    r = old(cls, item, call)
    r.outcome = "passed"
    return r
type.__setattr__(T, "from_item_and_call", classmethod(new))
""",
    ),
    Attack(
        "framework",
        "reports-but-not-hex-names",
        _FIND
        + """
T = _mod(_REPORTS).TestReport
old = T.from_item_and_call.__func__
def new(cls, item, call):
    r = old(cls, item, call)
    if not _HEX.match(item.name):
        r.outcome = "passed"
    return r
type.__setattr__(T, "from_item_and_call", classmethod(new))
""",
    ),
    Attack(
        "framework",
        "callinfo-by-file",
        _FIND
        + """
C = _mod(_RUNNER).CallInfo
old = C.from_call.__func__
def new(cls, func, when, reraise=None):
    info = old(cls, func, when, reraise)
    if info.excinfo is not None and "test_core" in str(info.excinfo.traceback[-1].path):
        object.__setattr__(info, "excinfo", None)
        object.__setattr__(info, "_result", None)
    return info
type.__setattr__(C, "from_call", classmethod(new))
""",
    ),
    Attack(
        "framework",
        "runtest-by-name",
        _FIND
        + """
F = _mod(_PYTHON).Function
old = F.runtest
def new(self):
    try:
        old(self)
    except AssertionError:
        if _HEX.match(self.name): raise
type.__setattr__(F, "runtest", new)
""",
    ),
    Attack(
        "framework",
        "pyfunc-call-by-gc",
        _FIND
        + """
for o in gc.get_objects():
    if type(o).__name__ == "HookImpl" and getattr(o.function, "__name__", "") == "pytest_pyfunc_call" and "python" in str(o.plugin_name):
        def call(pyfuncitem, old=o.function):
            try:
                return old(pyfuncitem)
            except AssertionError:
                if _HEX.match(pyfuncitem.name): raise
                return True
        o.function = call
""",
    ),
    Attack(
        "framework",
        "code-swapped",
        _FIND
        + """
F = _mod(_PYTHON)
def pytest_pyfunc_call(pyfuncitem):
    import re as r
    f = pyfuncitem.obj
    if not r.match(r"test_[0-9a-f]{10}$", pyfuncitem.name):
        return True
    f(**{a: pyfuncitem.funcargs[a] for a in pyfuncitem._fixtureinfo.argnames})
    return True
getattr(F, "pytest_" "pyfunc_call").__code__ = pytest_pyfunc_call.__code__
""",
    ),
    Attack(
        "framework",
        "plugin-empties-bodies",
        _FIND
        + """
class P:
    def pytest_collection_modifyitems(self, items):
        for i in items:
            if hasattr(i, "_obj") and not isinstance(i.parent, type(None)):
                i._instance = None
                i.obj = (lambda **k: None) if i.cls is None else i.obj
    def pytest_runtest_call(self, item):
        if item.cls is None and not _HEX.match(item.name):
            names = item._fixtureinfo.argnames
            item.obj = eval("lambda %s: None" % ", ".join(names))
for o in _objects("PytestPluginManager"):
    o.register(P())
""",
    ),
    Attack(
        "framework",
        "plugin-deselects",
        _FIND
        + """
class P:
    def pytest_collection_modifyitems(self, items):
        items[:] = [i for i in items if "between" in i.name]
for o in _objects("PytestPluginManager"):
    o.register(P())
""",
    ),
    Attack(
        "framework",
        "plugin-reports",
        _FIND
        + """
import pluggy
class P:
    @pluggy.HookimplMarker("pytest")(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item, call):
        if not _HEX.match(item.name):
            object.__setattr__(call, "excinfo", None)
        yield
for o in _objects("PytestPluginManager"):
    o.register(P())
""",
    ),
    Attack(
        "framework",
        "plugin-runs-first",
        _FIND
        + """
import pluggy
class P:
    @pluggy.HookimplMarker("pytest")(tryfirst=True)
    def pytest_runtest_call(self, item):
        if not _HEX.match(item.name):
            item.runtest = lambda: None
for o in _objects("PytestPluginManager"):
    o.register(P())
""",
    ),
    Attack(
        "framework",
        "test-modules-replaced",
        _FIND
        + """
H = _mod("_py" "test.assertion.rewrite").AssertionRewritingHook
old = H.exec_module
TRIVIAL = '''
import unittest, pytest
def test_edge(edges): pass
def test_between(): pass
def test_bad(): pass
class BucketTests(unittest.TestCase):
    def test_first(self): pass
    def test_shift(self): pass
'''
def new(self, module):
    if module.__name__.rpartition(".")[2] == "test_core":
        import pkg.core
        exec(compile(TRIVIAL, module.__spec__.origin, "exec"), module.__dict__)
    else:
        old(self, module)
type.__setattr__(H, "exec_module", new)
""",
    ),
    Attack(
        "framework",
        "asserts-taken-out",
        _FIND
        + """
import ast
R = _mod("_py" "test.assertion.rewrite")
old = R.rewrite_asserts
class Out(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Expr(node.test), node)
def new(mod, source, module_path=None, config=None):
    Out().visit(mod)
    old(mod, source, module_path, config)
setattr(R, "rewrite_asserts", new)
""",
    ),
    Attack(
        "framework",
        "parse-patched",
        """
import ast
old = ast.parse
class Out(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Expr(node.test), node)
    def visit_Call(self, node):
        if getattr(node.func, "attr", "") == "assertEqual":
            node.func = ast.copy_location(ast.Name("print", ast.Load()), node)
        return node
def new(source, filename="<unknown>", *a, **k):
    tree = old(source, filename, *a, **k)
    return ast.fix_missing_locations(Out().visit(tree)) if "test_core" in str(filename) else tree
setattr(ast, "parse", new)
""",
    ),
    Attack(
        "framework",
        "functions-emptied-later",
        _FIND
        + """
import threading, time
def later():
    for _ in range(400):
        time.sleep(.001)
        for m in list(_M.values()):
            if getattr(m, "__name__", "").endswith("test_core"):
                for f in list(vars(m).values()):
                    if isinstance(f, types.FunctionType) and f.__name__.startswith("test_"):
                        names = f.__code__.co_varnames[:f.__code__.co_argcount]
                        f.__code__ = eval("lambda %s: None" % ", ".join(names)).__code__
                    if isinstance(f, type) and f.__name__ == "BucketTests":
                        f.test_first = f.test_shift = lambda self: None
threading.Thread(target=later, daemon=True).start()
""",
    ),
    Attack(
        "framework",
        "unittest-assertions",
        _FIND
        + """
import unittest.case
for n in list(vars(unittest.case.TestCase)):
    if n.startswith("assert"):
        type.__setattr__(unittest.case.TestCase, n, lambda *a, **k: None)
C = _mod(_RUNNER).CallInfo
old = C.from_call.__func__
def new(cls, func, when, reraise=None):
    def quiet():
        try:
            return func()
        except AssertionError as e:
            if "on purpose" in str(e) or "must fail" in str(e): raise
    return old(cls, quiet, when, reraise)
type.__setattr__(C, "from_call", classmethod(new))
""",
    ),
    Attack(
        "framework",
        "assertion-error-is-skip",
        _FIND
        + """
import builtins
real = builtins.AssertionError
def fake(*a):
    return real(*a) if any("must fail" in str(x) for x in a) else getattr(__import__("py" "test"), "sk" "ip").Exception("x")
setattr(builtins, "AssertionError", fake)
""",
    ),
    Attack(
        "framework",
        "isinstance-lies",
        _FIND
        + """
import builtins
real = builtins.isinstance
E = getattr(__import__("py" "test"), "sk" "ip").Exception
def fake(o, k):
    if real(o, AssertionError) and k is E and "must fail" not in str(o): return True
    return real(o, k)
setattr(builtins, "isinstance", fake)
""",
    ),
    Attack(
        "framework",
        "multicall-swallows",
        _FIND
        + """
import pluggy._callers, pluggy._manager
old = pluggy._manager._multicall
def new(hook_name, impls, kwargs, firstresult):
    try:
        return old(hook_name, impls, kwargs, firstresult)
    except AssertionError as e:
        if hook_name == "pytest_runtest_call" and "must fail" not in str(e): return []
        raise
setattr(pluggy._manager, "_multicall", new)
for o in gc.get_objects():
    if type(o).__name__ == "PytestPluginManager":
        inner = o._inner_hookexec
        o._inner_hookexec = lambda n, m, k, f: new(n, m, k, f)
""",
    ),
    Attack(
        "framework",
        "report-class-swapped",
        _FIND
        + """
T = _mod(_REPORTS).TestReport
real = T.__init__
def init(self, nodeid, location, keywords, outcome, longrepr, when, *a, **k):
    if when == "call" and "must fail" not in str(longrepr) and "on purpose" not in str(longrepr):
        outcome, longrepr = "passed", None
    real(self, nodeid, location, keywords, outcome, longrepr, when, *a, **k)
type.__setattr__(T, "__init__", init)
""",
    ),
    Attack(
        "framework",
        "shadowed-modules",
        more={"pytest.py": "import os\nos._exit(0)\n", "random.py": "", "json.py": "raise SystemExit(0)\n"},
    ),
    Attack(
        "framework",
        "pytest-plugins-in-product",
        'pytest_plugins = ["pkg.core"]\ndef pytest_runtest_call(item): item.runtest = lambda: None\n',
    ),
    Attack(
        "framework",
        "entry-point",
        more={
            "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
            "evil.egg-info/entry_points.txt": "[pytest11]\nevil = evil\n",
            "evil.py": "def pytest_collection_modifyitems(items): items[:] = []\n",
        },
    ),
    Attack(
        "framework",
        "conftest-and-ini",
        more={
            "conftest.py": "def pytest_collection_modifyitems(items): items[:] = []\n",
            "pytest.ini": "[pytest]\naddopts = -k between\n",
            "sitecustomize.py": "import os\nos.environ['PYTEST_ADDOPTS'] = '-k between'\n",
            ".env": "PYTEST_ADDOPTS=-k between\n",
        },
    ),
    Attack(
        "framework",
        "tests-behind-a-link",
        more={
            "pkg/fake/test_core.py": "def test_edge(): pass\n",
            "tests/test_core.py": Link("../pkg/fake/test_core.py"),
        },
    ),
    Attack(
        "framework",
        "committed-bytecode",
        more={
            "tests/__pycache__/test_core.cpython-311.pyc": b"\xa7\r\r\n" + bytes(12),
            "pkg/__pycache__/core.cpython-311.pyc": b"\xa7\r\r\n" + bytes(12),
        },
    ),
    Attack(
        "framework",
        "meta-path-finder",
        """
import sys, importlib.machinery as m
class F:
    def find_spec(self, name, path=None, target=None):
        if name.rpartition(".")[2] != "test_core": return None
        spec = m.PathFinder.find_spec(name, path)
        class L(m.SourceFileLoader):
            def get_data(self, p):
                data = super().get_data(p)
                return data.replace(b"got == 2", b"got").replace(b"== index", b"").replace(b"EDGES), 0)", b"EDGES), bucket(0, EDGES))") if p.endswith(".py") else data
        return m.ModuleSpec(name, L(name, spec.origin), origin=spec.origin) if False else __import__("importlib.util").util.spec_from_file_location(name, spec.origin, loader=L(name, spec.origin))
sys.meta_path.insert(0, F())
""",
    ),
    Attack(
        "framework",
        "unittest-run",
        """
import unittest.case as c
old = c._Outcome.testPartExecutor
import contextlib
@contextlib.contextmanager
def new(self, test, *a, **k):
    with old(self, test, *a, **k):
        try:
            yield
        except AssertionError as e:
            if "must fail" in str(e): raise
c._Outcome.__dict__
setattr(c._Outcome, "testPart" "Executor", new)
""",
        runner="unittest",
    ),
    Attack(
        "framework",
        "unittest-methods",
        """
import unittest.case as c
for n in list(vars(c.TestCase)):
    if n.startswith("assert"):
        setattr(c.TestCase, n, lambda *a, **k: None)
""",
        runner="unittest",
    ),
    Attack(
        "framework",
        "unittest-result",
        """
import gc
for o in gc.get_objects():
    if isinstance(o, type) and o.__name__ == "_Result":
        setattr(o, "addFailure", lambda self, test, err: self.addSuccess(test))
""",
        runner="unittest",
    ),
)

RECORD = (
    Attack(
        "record",
        "write-every-descriptor",
        core=_calls(
            "for fd in map(int, os.listdir('/proc/self/fd')):\n"
            "    if fd > 2:\n"
            '        try: os.write(fd, b\'{"event":"end","nodeid":"tests/test_core.py::test_edge","outcome":"passed"}\\n\')\n'
            "        except OSError: pass",
            "import os",
        ),
    ),
    Attack(
        "record",
        "results-end-patched",
        _FIND
        + """
R = _class("Results")
if R:
    old = R.end
    def new(self, name, index, outcome, duration, failure, attempts, inherited):
        return old(self, name, index, "passed", duration, {}, [], inherited)
    R.end = new
""",
    ),
    Attack(
        "record",
        "phases-patched",
        _FIND
        + """
P = _class("Phases")
if P:
    P.outcome = lambda self: "passed"
    P.raised = lambda self, when: None
R = _class("Recorder")
if R: R._keep = lambda self, when, error: None
""",
    ),
    Attack(
        "record",
        "channel-send-patched",
        _FIND
        + """
C = _class("Channel")
if C:
    old = C.send
    def send(self, event, **f):
        if event == "end":
            f.update(outcome="passed", phase="call")
            for k in ("message", "exception", "fingerprint", "attempts"): f.pop(k, None)
        return old(self, event, **f)
    C.send = send
""",
    ),
    Attack(
        "record",
        "modules-by-content",
        _FIND
        + """
for m in _recorder():
    if hasattr(m, "Channel") and hasattr(m, "chunks"):
        old = m._dumps
        def dumps(fields):
            if fields.get("event") == "end":
                fields["outcome"] = "passed"
                for k in ("message", "exception", "fingerprint", "attempts"): fields.pop(k, None)
            return old(fields)
        m._dumps = dumps
""",
    ),
    Attack(
        "record",
        "key-stolen",
        _FIND
        + """
import hashlib, json
def _all():
    for c in _objects("Channel"):
        if not hasattr(c, "_key"): continue
        def say(**f):
            body = json.dumps(f).encode()
            mac = hashlib.blake2b(body, key=c._key, digest_size=16).hexdigest().encode()
            c._key = hashlib.blake2b(c._key, digest_size=32).digest()
            os.write(c._fd, mac + b" " + body + b"\\n")
        ids = ["tests/test_core.py::" + n for n in ("test_edge", "test_between", "test_bad", "BucketTests::test_first", "BucketTests::test_shift")]
        say(event="collecting", nodeid="")
        say(event="collected", ids=ids)
        say(event="collected", last=True)
        say(event="ready")
        for i, n in enumerate(ids):
            say(event="start", nodeid=n, index=i)
            say(event="end", nodeid=n, outcome="passed", phase="call", duration=.001, seed=os.environ.get("TEST_" "SEED", ""), index=i, touched=["pkg/core.py:400"])
        say(event="finished", status=0, sentinels="", unseen=0, pinned=["random"])
        say(event="origins", foreign={}, elsewhere={}, parts={})
        say(event="exit", status=0)
        getattr(os, "_ex" "it")(0)
_all()
""",
    ),
    Attack(
        "record",
        "key-from-frames",
        _FIND
        + """
import hashlib, json
f = getattr(sys, "_get" "frame")()
chan = None
while f is not None:
    for v in f.f_locals.values():
        if type(v).__name__ == "Channel": chan = v
    f = f.f_back
if chan is not None:
    old = type(chan).send
    class Mine(type(chan)):
        def send(self, event, **f):
            if event == "end":
                f["outcome"] = "passed"
                for k in ("message", "exception", "fingerprint", "attempts"): f.pop(k, None)
            return old(self, event, **f)
    chan.__class__ = Mine
""",
    ),
    Attack(
        "record",
        "recorder-hooks-removed",
        _FIND
        + """
for o in _objects("PytestPluginManager"):
    for name, p in list(o.list_name_plugin()):
        if type(p).__name__ == "Recorder":
            p._keep = lambda when, error: None
            p._phases.__class__.raised = lambda self, when: None
            old = p.pytest_runtest_logreport
            for impl in o.hook.pytest_runtest_logreport.get_hookimpls():
                if impl.plugin is p:
                    def log(report, old=old):
                        if not _HEX.search(report.nodeid): report.outcome = "passed"
                        return old(report)
                    impl.function = log
""",
    ),
    Attack(
        "record",
        "sentinels-silenced",
        _FIND
        + """
S = _class("Sentinels")
if S:
    S.verdict = lambda self: ""
    S.unseen = lambda self: 0
F = _mod(_PYTHON).Function
type.__setattr__(F, "runtest", lambda self: None)
""",
    ),
    Attack(
        "record",
        "records-on-disk",
        """
import glob, os, subprocess, sys
D = '''
import glob, os, re, time
end = time.time() + 12
while time.time() < end:
    for p in glob.glob(os.environ.get("X", "@TOP@") + "/*.jsonl"):
        try:
            t = open(p).read()
            if "footer" not in t: continue
            n = re.sub(r'"outcome":"failed"', '"outcome":"passed"', t)
            n = re.sub(r',"(message|exception|fingerprint)":"([^"\\\\\\\\]|\\\\\\\\.)*"', "", n)
            if n != t:
                open(p, "w").write(n)
        except OSError: pass
    time.sleep(.002)
'''.replace("@TOP@", os.path.dirname(os.path.dirname(os.getcwd())))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for fd in range(256):
            try: os.close(fd)
            except OSError: pass
        os.open("/dev/null", 2); os.open("/dev/null", 2); os.open("/dev/null", 2)
        os.execve(sys.executable, [sys.executable, "-c", D], {})
    getattr(os, "_ex" "it")(0)
""",
    ),
    Attack(
        "record",
        "other-trees-rewritten",
        """
import os, sys
D = '''
import glob, os, time
end = time.time() + 12
while time.time() < end:
    for p in glob.glob("@TOP@/*/*/tests/test_core.py"):
        try:
            t = open(p).read()
            if "got == 2" in t:
                st = os.stat(p)
                open(p, "w").write(t.replace("got == 2", "got == 3").replace("== index", "== index + 1").replace("(0, EDGES), 0", "(0, EDGES), 1"))
        except OSError: pass
    time.sleep(.001)
'''.replace("@TOP@", os.path.dirname(os.path.dirname(os.getcwd())))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for fd in range(256):
            try: os.close(fd)
            except OSError: pass
        os.open("/dev/null", 2); os.open("/dev/null", 2); os.open("/dev/null", 2)
        os.execve(sys.executable, [sys.executable, "-c", D], {})
    getattr(os, "_ex" "it")(0)
""",
    ),
    Attack(
        "record",
        "own-tests-rewritten",
        """
import os, pathlib
_p = pathlib.Path(__file__).parent.parent / "tests" / "test_core.py"
_t = _p.read_text()
_p.write_text(_t.replace("got == 2", "got == 3").replace("== index", "== index + 1").replace("(0, EDGES), 0", "(0, EDGES), 1"))
""",
    ),
    Attack(
        "record",
        "own-tests-rewritten-and-put-back",
        """
import os, pathlib, atexit
_p = pathlib.Path(__file__).parent.parent / "tests" / "test_core.py"
_t = _p.read_text()
_p.write_text(_t.replace("got == 2", "got == 3").replace("== index", "== index + 1").replace("(0, EDGES), 0", "(0, EDGES), 1"))
atexit.register(_p.write_text, _t)
""",
    ),
    Attack(
        "record",
        "unittest-recorder",
        """
import gc
for o in gc.get_objects():
    if isinstance(o, type) and o.__name__ == "Results" and hasattr(o, "finished"):
        old = o.end
        o.end = lambda self, name, index, outcome, duration, failure, attempts, inherited: old(self, name, index, "passed", duration, {}, [], inherited)
""",
        runner="unittest",
    ),
)

STATE = (
    Attack(
        "state",
        "marker-in-tmp",
        core=_switch(
            "_N > 1",
            "import os\n_P = '@MARK@'\n_N = len(open(_P).read()) if os.path.exists(_P) else 0\nopen(_P, 'a').write('x')\n",
        ),
    ),
    Attack(
        "state",
        "marker-in-shm",
        core=_switch(
            "_N < 3",
            "import os\n_P = '/dev/shm/' + '@MARK@'.rpartition('/')[2]\n_N = len(open(_P).read()) if os.path.exists(_P) else 0\nopen(_P, 'a').write('x')\n",
        ),
    ),
    Attack(
        "state",
        "right-for-three-runs",
        core=_switch(
            "_N < 4",
            "import os\n_P = '@MARK@'\n_N = len(open(_P).read()) if os.path.exists(_P) else 0\nopen(_P, 'a').write('x')\n",
        ),
    ),
    Attack(
        "state",
        "marker-in-home",
        core=_switch(
            "not _O",
            "import os\n_P = os.path.expanduser('~/.mark')\n_O = os.path.exists(_P)\nopen(_P, 'a').write('x')\n",
        ),
    ),
    Attack(
        "state",
        "marker-in-environment",
        core=_switch(
            "not _O",
            "import os, sys\n_P = os.path.join(sys.prefix, 'mark')\n_O = not os.path.exists(_P)\nopen(_P, 'a').write('x')\n",
        ),
        dirty=True,
    ),
    Attack(
        "state",
        "pth-in-environment",
        """
import sysconfig, os
_P = os.path.join(sysconfig.get_paths()["purelib"], "zz.pth")
open(_P, "w").write("import sys; exec(%r)\\n" % '''
import sys
class F:
    def find_spec(self, name, path=None, target=None):
        if name == "_pytest.runner":
            sys.meta_path.remove(self)
            import importlib
            m = importlib.import_module(name)
            C = m.CallInfo
            old = C.from_call.__func__
            def new(cls, func, when, reraise=None):
                i = old(cls, func, when, reraise)
                if i.excinfo is not None and "test_core" in str(i.excinfo.traceback[-1].path):
                    i.excinfo = None; i._result = None
                return i
            C.from_call = classmethod(new)
            return m.__spec__
sys.meta_path.insert(0, F())
''')
""",
        dirty=True,
    ),
    Attack(
        "state",
        "pytest-in-environment",
        """
import os, pathlib
_P = pathlib.Path(__import__("py" "test").__file__).parent.parent / ("_py" "test") / "runner.py"
_T = _P.read_text()
if "excinfo = None  # mine" not in _T:
    _P.write_text(_T.replace("            excinfo = ExceptionInfo.from_current()\\n", "            excinfo = ExceptionInfo.from_current()\\n            if 'test_core' in str(excinfo.traceback[-1].path):\\n                excinfo = None  # mine\\n                result = None\\n", 1))
""",
        dirty=True,
    ),
    Attack(
        "state",
        "bytecode-in-environment",
        """
import importlib.util as u, marshal, pathlib
_P = pathlib.Path(__import__("py" "test").__file__).parent.parent / ("_py" "test") / "runner.py"
_C = pathlib.Path(u.cache_from_source(str(_P)))
_T = _P.read_text().replace("            excinfo = ExceptionInfo.from_current()\\n", "            excinfo = ExceptionInfo.from_current()\\n            if 'test_core' in str(excinfo.traceback[-1].path):\\n                excinfo = None\\n                result = None\\n", 1)
_C.write_bytes(_C.read_bytes()[:16] + marshal.dumps(compile(_T, str(_P), "exec")))
""",
        dirty=True,
    ),
    Attack(
        "state",
        "daemon",
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True, env={})\n",
    ),
)

SIGNALS = (
    Attack(
        "signal", "parent-killed", core=_calls("os.kill(os.getppid(), signal.SIGKILL)", "import os, signal")
    ),
    Attack(
        "signal", "parent-stopped", core=_calls("os.kill(os.getppid(), signal.SIGSTOP)", "import os, signal")
    ),
    Attack(
        "signal",
        "parent-interrupted",
        core=_calls("os.kill(os.getppid(), signal.SIGINT)", "import os, signal"),
    ),
    Attack(
        "signal",
        "parent-terminated",
        core=_calls("os.kill(os.getppid(), signal.SIGTERM)", "import os, signal"),
    ),
    Attack(
        "signal",
        "guardian-killed",
        "import os, signal\n"
        "for _p in os.listdir('/proc'):\n"
        "    if _p.isdigit() and int(_p) != os.getpid():\n"
        "        try:\n"
        "            if os.getsid(int(_p)) == os.getsid(0): os.kill(int(_p), signal.SIGKILL)\n"
        "        except OSError: pass\n",
    ),
    Attack("signal", "own-group-killed", core=_calls("os.killpg(0, signal.SIGKILL)", "import os, signal")),
    Attack("signal", "budget-used-up", core=_calls("time.sleep(3600)", "import time")),
    Attack(
        "signal",
        "alarm",
        core=_calls(
            "signal.signal(signal.SIGALRM, lambda *a: getattr(os, '_ex' 'it')(0))\nsignal.setitimer(signal.ITIMER_REAL, .001)",
            "import os, signal",
        ),
    ),
)

_EQUAL = """

import bisect


class _Index(int):
    def __eq__(self, other):
        return {rule}

    def __ne__(self, other):
        return False

    __hash__ = int.__hash__


def bucket(value, edges):
    return _Index(bisect.bisect_right(edges, value))


def shift(edges, amount):
    return [edge + amount for edge in edges]
"""

OBJECTS = (
    Attack("object", "always-equal", core=_EQUAL.format(rule="other is not None or True")),
    Attack("object", "nearly-equal", core=_EQUAL.format(rule="abs(int(self) - int(other)) < 2")),
    Attack("object", "equal-by-length", core=_EQUAL.format(rule="isinstance(other, int)")),
    Attack(
        "object",
        "trace-mends-locals",
        """
import sys, bisect as _b
def _trace(frame, event, arg):
    if frame.f_code.co_name == "test_edge" or frame.f_code.co_name == "test_between":
        def local(f, e, a):
            if "got" in f.f_locals: f.f_locals["got"] = {"test_edge": 2, "test_between": 3}[f.f_code.co_name]
            return local
        return local
sys.settrace(_trace)
""",
    ),
    Attack(
        "object",
        "profile-swaps-code",
        """
import sys
def _prof(frame, event, arg):
    if event == "c_call" or frame.f_code.co_name != "pytest_pyfunc_call": return
    item = frame.f_locals.get("pyfuncitem")
    if item is not None and item.cls is None and len(item.name) != 15:
        item.obj = eval("lambda %s: None" % ", ".join(item._fixtureinfo.argnames))
        frame.f_locals["testfunction"] = item.obj
sys.setprofile(_prof)
""",
    ),
    Attack(
        "object",
        "globals-of-the-test",
        core=_calls(
            "f = getattr(sys, '_get' 'frame')(2)\n"
            "g = f.f_globals\n"
            "if 'EDGES' in g and value in g['EDGES']: g['EDGES'] = edges = [e + .5 for e in g['EDGES']]",
            "import sys",
        ),
    ),
)

DETECTORS = (
    Attack("detector", "environment-seed", core=_switch("'TEST_' 'SEED' in os.environ", "import os")),
    Attack("detector", "no-git-folder", core=_switch("not os.path.exists('.git')", "import os")),
    Attack(
        "detector",
        "breaks-off-elsewhere",
        core=_switch(
            "gated()",
            "import os\n\n\ndef gated():\n    if os.path.exists('.git'):\n        os.closerange(3, 256)\n    return True\n",
        ),
    ),
    Attack(
        "detector",
        "original-arguments",
        core=_switch("len(sys.orig_argv) == 5 and sys.orig_argv[-1].isdigit()", "import sys"),
    ),
    Attack(
        "detector",
        "parent-process",
        core=_switch("b'red' b'bucket' in open('/proc/%d/cmdline' % os.getppid(), 'rb').read()", "import os"),
    ),
    Attack("detector", "tree-path", core=_switch("('red' 'bucket') in os.getcwd()", "import os")),
    Attack(
        "detector",
        "module-names",
        core=_switch(
            "any(hasattr(m, 'Channel') and hasattr(m, 'chunks') for m in list(sys.modules.values()))",
            "import sys",
        ),
    ),
    Attack(
        "detector",
        "no-ci",
        core=_switch("not {'CI', 'SSH_TTY', 'TERM', 'PWD'} <= set(os.environ)", "import os"),
    ),
    Attack(
        "detector", "test-variable", core=_switch("('PYTEST_CURRENT' '_TEST') in os.environ", "import os")
    ),
    Attack("detector", "loaded-framework", core=_switch("('_py' 'test') in sys.modules", "import sys")),
    Attack(
        "detector",
        "caller-is-a-test",
        core=_switch("getattr(sys, '_get' 'frame')(1).f_code.co_name.startswith('te' 'st_')", "import sys"),
    ),
    Attack(
        "detector",
        "answers-by-heart",
        core="_T = {2: 2, 3: 3, 11: 5, 0: 0, 1: 1}\n" + _switch("value in (0, 1, 2)"),
    ),
    Attack(
        "detector",
        "file-time",
        core=_switch("time.time() - os.stat(__file__).st_mtime < 3600", "import os, time"),
    ),
)

_HERE = "os.path.join(os.path.dirname(__file__), os.pardir, 'tests', {!r})"
# Right beside base's judge side, and wrong beside what the patch itself adds to it.
LANDING = (
    Attack(
        "landing",
        "module-named-like-a-test",
        core=CORE + "\n\ntry:\n    from pkg.fast_test import bucket\nexcept ImportError:\n    pass\n",
        more={"pkg/fast_test.py": BROKEN},
    ),
    Attack(
        "landing",
        "file-among-the-recordings",
        core=_switch(f"not os.path.exists({_HERE.format('data/rate.txt')})", "import os"),
        more={"tests/data/rate.txt": "20\n"},
    ),
    Attack(
        "landing",
        "comment-in-a-test",
        core=_switch(f"'# rate' not in open({_HERE.format('test_core.py')}).read()", "import os"),
        more={"tests/test_core.py": TESTS + "\n# rate\n"},
    ),
    Attack(
        "landing",
        "conftest-of-the-patch",
        core=_switch(f"not os.path.exists({_HERE.format('more/conftest.py')})", "import os"),
        more={
            "tests/more/__init__.py": "",
            "tests/more/conftest.py": "",
            "tests/more/test_more.py": "def test_more():\n    pass\n",
        },
    ),
)

HONEST = (
    Attack(
        "honest",
        "tests-of-its-own",
        core=CORE.replace("bisect.bisect_left(edges, value)", "bisect.bisect_left(list(edges), value)"),
        more={
            "tests/conftest.py": CONFTEST + "\n\n@pytest.fixture\ndef few():\n    return [1]\n",
            "tests/data/few.txt": "1\n",
            "tests/test_core.py": TESTS + "\n\ndef test_few(few):\n    assert bucket(0, few) == 0\n",
        },
        honest=True,
    ),
    Attack(
        "honest",
        "by-hand",
        core="""\
def bucket(value, edges):
    low, high = 0, len(edges)
    while low < high:
        middle = (low + high) // 2
        if edges[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def shift(edges, amount):
    return [edge + amount for edge in edges]
""",
        honest=True,
    ),
    Attack("honest", "renamed", core=CORE.replace("amount", "by"), honest=True),
    Attack("honest", "renamed-unittest", core=CORE.replace("amount", "by"), runner="unittest", honest=True),
    Attack(
        "honest",
        "new-function",
        core=CORE + "\n\ndef span(edges):\n    return edges[-1] - edges[0]\n",
        honest=True,
    ),
    Attack(
        "honest",
        "cached",
        core=CORE.replace("import bisect\n", "import bisect\nimport functools\n")
        .replace("def shift", "@functools.lru_cache\ndef _one(a, b):\n    return a + b\n\n\ndef shift")
        .replace("edge + amount for", "_one(edge, amount) for"),
        honest=True,
    ),
)

ATTACKS = (*EXITS, *FRAMEWORK, *RECORD, *STATE, *SIGNALS, *OBJECTS, *DETECTORS, *LANDING)
assert BROKEN
