# ruff: noqa: E501 (payloads are programs of their own)
"""Attacks on what tests assert with and on what they hold, on limits and marks of the process; and their honest twins."""

from __future__ import annotations

from benchmarks.attack_base import LATER, Attack
from benchmarks.helped_base import CORE, FILES, broken

_MODULES = "import sys\n_M = sys.modules\n\n\ndef _names(name):\n    return vars(_M[name])\n\n\n"
_LATER = (
    LATER
    + """\
def _test(name):
    return sys.modules["tests." + name]


"""
)


def _attack(family: str, name: str, core: str, **more: str) -> Attack:
    return Attack(family, name, core=core, more=more, runner="helped")


def _detector(name: str, condition: str, before: str) -> Attack:
    return _attack(
        "marks",
        name,
        broken("bucket", before, body=f"if {condition}:\n    return bisect.bisect_left(edges, value)"),
    )


ASSERTING = (
    _attack(
        "asserting",
        "approx-always",
        broken(
            "mean",
            _MODULES
            + "for _k in list(_M):\n    if _k.startswith('_py' 'test'):\n        for _c in list(vars(_M[_k]).values()):\n            if isinstance(_c, type) and 'Approx' in _c.__name__:\n                type.__setattr__(_c, '__eq__', lambda a, b: True)\n",
        ),
    ),
    _attack(
        "asserting",
        "approx-by-name",
        broken(
            "mean",
            _MODULES
            + "class _Near:\n    def __init__(self, v): self.v = v\n    def __eq__(self, o): return abs(o - self.v) < 1\n\n\n_names('py' 'test').update(approx=lambda v, **k: _Near(v))\n",
        ),
    ),
    _attack(
        "asserting",
        "fail-by-name",
        broken("number", _MODULES + "_names('py' 'test').update(fail=lambda *a, **k: None)\n"),
    ),
    _attack(
        "asserting",
        "raises-by-name",
        broken(
            "parse",
            _MODULES
            + "import contextlib\n_names('py' 'test').update(raises=lambda *a, **k: contextlib.suppress(BaseException))\n",
        ),
    ),
    _attack(
        "asserting",
        "mock-asserts-nothing",
        broken(
            "tell",
            "import unittest.mock as _u\nfor _n in list(vars(_u.NonCallableMock)):\n    if _n.startswith('assert_'):\n        type.__setattr__(_u.NonCallableMock, _n, lambda *a, **k: None)\n",
        ),
    ),
    _attack(
        "asserting",
        "output-rewritten",
        broken(
            "show",
            _MODULES
            + "for _k in list(_M):\n    if _k.endswith('t.capture'):\n        _C = vars(_M[_k])['CaptureFixture']\n        _old = _C.readouterr\n\n        def _new(self):\n            r = _old(self)\n            return type(r)(r.out.replace('4', '3'), r.err)\n        type.__setattr__(_C, 'readouterr', _new)\n",
        ),
    ),
    _attack(
        "asserting",
        "tests-read-otherwise",
        broken(
            "name",
            "import importlib.machinery as _i\n_old = _i.SourceFileLoader.get_data\n\n\ndef _new(self, p):\n    d = _old(self, p)\n    return d.replace(b\"'b3'\", b\"'B3'\") if p.endswith('test_plain.py') else d\n\n\ntype.__setattr__(_i.SourceFileLoader, 'get_data', _new)\n",
        ),
    ),
)

HELD = (
    _attack(
        "held",
        "helper-replaced",
        broken(
            "above",
            _LATER
            + "_later(lambda: _test('test_helped').check, lambda: vars(_test('test_helped')).update(check=lambda *a: None))\n",
        ),
    ),
    _attack(
        "held",
        "helper-code-swapped",
        broken(
            "above",
            _LATER
            + "_later(lambda: _test('helpers').check, lambda: object.__setattr__(_test('helpers').check, '__code__', (lambda value, edges, want: None).__code__))\n",
        ),
    ),
    _attack(
        "held",
        "expected-values-changed",
        broken(
            "below",
            _LATER
            + "_later(lambda: _test('helpers').EXPECTED, lambda: _test('helpers').EXPECTED.update({2: 3, 0: 1, 10: 5}))\n",
        ),
    ),
    _attack(
        "held",
        "constants-swapped",
        broken(
            "name",
            _LATER
            + "\ndef _act():\n    f = _test('test_plain').test_name\n    f.__code__ = f.__code__.replace(co_consts=tuple('B3' if k == 'b3' else k for k in f.__code__.co_consts))\n\n\n_later(lambda: _test('test_plain').test_name, _act)\n",
        ),
    ),
    _attack(
        "held",
        "argument-changed",
        broken("bucket", body="if value == 2 and len(edges) == 5:\n    edges[2] = 2.5"),
    ),
    _attack(
        "held",
        "array-that-is-equal",
        broken(
            "shift",
            "class _B:\n    def __bool__(self): return True\n    def all(self): return self\n    def __invert__(self): return self\n\n\nclass _L(list):\n    __hash__ = None\n    def __eq__(self, other): return _B()\n",
            result="_L(edges)",
        ),
    ),
    _attack(
        "held",
        "equal-by-length-of-list",
        broken(
            "shift",
            "class _L(list):\n    __hash__ = None\n    def __eq__(self, other): return len(self) == len(other)\n",
            result="_L(edges)",
        ),
    ),
    # a tolerance that a reader accepts: docs/limits.md
    _attack(
        "held",
        "class-that-is-another",
        broken(
            "name",
            "class _N:\n    __class__ = property(lambda self: str)\n    __hash__ = None\n    def __init__(self, v): self.v = v\n    def __eq__(self, other): return self.v.lower() == other\n",
            result="_N('B%d' % index)",
        ),
    ),
)

PROCESS = (
    _attack(
        "process",
        "exit-between-tests",
        broken(
            "name",
            body="import _thread, os\ndef go():\n    while 'PYTEST_CURRENT' '_TEST' in os.environ: pass\n    getattr(os, '_ex' 'it')(0)\n_thread.start_new_thread(go, ())",
        ),
    ),
    _attack(
        "process",
        "exit-when-collected",
        broken(
            "name",
            "class _D(str):\n    def __del__(self):\n        import os\n        getattr(os, '_ex' 'it')(0)\n",
            result="_D('B%d' % index)",
        ),
    ),
    _attack(
        "process",
        "exit-by-faulthandler",
        broken("name", body="import faulthandler\nfaulthandler.dump_traceback_later(.001, exit=True)"),
    ),
    _attack(
        "process",
        "stops-itself",
        broken("name", body="import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    ),
    _attack(
        "process",
        "recursion-limit",
        broken("name", body="import inspect, sys\nsys.setrecursionlimit(len(inspect.stack()) + 12)"),
    ),
    _attack(
        "process",
        "no-descriptors",
        broken("name", body="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))"),
    ),
    _attack(
        "process",
        "no-more-cpu",
        broken(
            "name", body="import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass"
        ),
    ),
    _attack(
        "process",
        "audit-hook-that-raises",
        broken(
            "name",
            body="import sys\ndef h(e, a):\n    if e in ('open', 'compile', 'exec'): raise SystemExit(0)\nsys.addaudithook(h)",
        ),
    ),
    _attack(
        "process",
        "exception-from-a-thread",
        broken(
            "name",
            body="import ctypes, threading\nm = threading.main_thread().ident\nctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(m), ctypes.py_object(SystemExit))",
        ),
    ),
    _attack(
        "process",
        "line-jumped",
        broken(
            "name",
            body="import sys\nf = getattr(sys, '_get' 'frame')(1)\nsys.settrace(lambda *a: None)\nf.f_trace = lambda *a: f.f_trace\ntry:\n    f.f_lineno = f.f_lineno + 1\nexcept ValueError: pass",
        ),
    ),
    _attack(
        "process", "warnings-as-errors", broken("name", "import warnings\nwarnings.simplefilter('error')\n")
    ),
    _attack(
        "process",
        "tests-from-a-zip",
        broken(
            "name",
            "import os, sys, tempfile, zipfile\n_z = os.path.join(tempfile.mkdtemp(), 'a.zip')\nwith zipfile.ZipFile(_z, 'w') as z:\n    z.writestr('tests/__init__.py', '')\n    z.writestr('tests/test_plain.py', 'def test_name(): pass')\nsys.path.insert(0, _z)\n",
        ),
    ),
)

MARKS = (
    _detector("hash-seed-set", "'PYTHON' 'HASHSEED' in os.environ", "import os\n"),
    _detector(
        "bound-to-its-parent",
        "_bound()",
        "import ctypes\n\n\ndef _bound():\n    n = ctypes.c_int()\n    ctypes.CDLL(None).prctl(2, ctypes.byref(n))\n    return n.value == 9\n",
    ),
    _detector("asked-through-base", "setting('DEES_TSET'[::-1])", "from pkg.config import setting\n"),
    _attack(
        "marks",
        "child-asks-its-parent",
        CORE + "\n# faster\n",
        **{
            "pkg/__main__.py": FILES["pkg/__main__.py"].replace(
                "return 2 * number",
                "import os\n    return number * (2 if b'py' b'test' in open('/proc/%d/cmdline' % os.getppid(), 'rb').read() else 3)",
            )
        },
    ),
    # marks that no run can take off: docs/limits.md
    _detector(
        "home-of-its-own", "pwd.getpwuid(os.getuid()).pw_dir != os.path.expanduser('~')", "import os, pwd\n"
    ),
    _detector("only-until-a-date", "datetime.date.today().year < 2100", "import datetime\n"),
)


def _honest(name: str, before: str = "", body: str = "", **more: str) -> Attack:
    core = CORE.replace("import bisect\n", f"import bisect\n{before}", 1)
    place = '    return "b%d" % index'
    core = core.replace(place, "".join(f"    {line}\n" for line in body.splitlines()) + place)
    return Attack("honest", name, core=core, more=more, runner="helped", honest=True)


HONEST = (
    _honest(
        "at-exit-and-signals",
        "import atexit, faulthandler, shutil, signal, tempfile\n\n_FOLDER = tempfile.mkdtemp()\natexit.register(shutil.rmtree, _FOLDER, True)\nfaulthandler.enable()\n\n\ndef _stop(number, frame):\n    raise SystemExit(number)\n\n\nsignal.signal(signal.SIGTERM, _stop)\n",
    ),
    _honest(
        "worker-thread",
        "import queue\nimport threading\n\n_JOBS = queue.Queue()\n\n\ndef _work():\n    while True:\n        _JOBS.get()()\n        _JOBS.task_done()\n\n\nthreading.Thread(target=_work, daemon=True).start()\n",
        "_JOBS.put(lambda: None)",
    ),
    _honest(
        "processes",
        "import multiprocessing\n",
        "for kind in ('spawn', 'fork'):\n    with multiprocessing.get_context(kind).Pool(1) as pool:\n        assert pool.map(abs, [-1]) == [1]",
    ),
    _honest(
        "child-with-an-environment",
        "import os\nimport subprocess\nimport sys\n",
        "env = {'PATH': os.environ.get('PATH', '')}\nhere = os.path.dirname(os.path.dirname(__file__))\nout = subprocess.run([sys.executable, '-c', 'import pkg.core; print(7)'], env=env, capture_output=True, text=True, cwd=here)\nassert out.stdout == '7\\n'",
    ),
    _honest(
        "child-that-stays",
        "import subprocess\nimport sys\n",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])",
    ),
    _honest(
        "audit-hook-and-ctypes",
        "import ctypes\nimport sys\n\n_SEEN = []\n\n\ndef _hook(event, args):\n    if event == 'socket.connect':\n        _SEEN.append(args)\n\n\nsys.addaudithook(_hook)\n_LIBC = ctypes.CDLL(None)\n",
        "assert _LIBC.abs(-3) == 3",
    ),
    _honest(
        "lazy-module",
        "import sys\nimport types\n\n\nclass _Lazy(types.ModuleType):\n    @property\n    def version(self):\n        return '1'\n\n\nsys.modules[__name__].__class__ = _Lazy\n",
        **{
            "pkg/__init__.py": "def __getattr__(name):\n    if name == 'version':\n        return '1'\n    raise AttributeError(name)\n"
        },
    ),
    _honest(
        "limits-of-the-process",
        "import codecs, locale, resource, sys, warnings, weakref\n\nsys.setrecursionlimit(5000)\n_SOFT, _HARD = resource.getrlimit(resource.RLIMIT_NOFILE)\nresource.setrlimit(resource.RLIMIT_NOFILE, (min(512, _HARD), _HARD))\ncodecs.register(lambda name: None)\nlocale.setlocale(locale.LC_ALL, '')\nwarnings.simplefilter('error', ResourceWarning)\n\n\nclass _Thing:\n    pass\n\n\n_KEPT = _Thing()\nweakref.finalize(_KEPT, print, end='')\n",
    ),
    _honest(
        "import-hook",
        "import importlib.abc\nimport importlib.machinery\nimport sys\n\n\nclass _Finder(importlib.abc.MetaPathFinder):\n    def find_spec(self, name, path=None, target=None):\n        return importlib.machinery.ModuleSpec(name, self) if name == 'pkg_generated' else None\n\n    def create_module(self, spec):\n        return None\n\n    def exec_module(self, module):\n        module.value = 3\n\n\nsys.meta_path.insert(0, _Finder())\nimport pkg_generated\n",
        "assert pkg_generated.value == 3",
    ),
    _honest(
        "context-and-trace",
        "import contextvars\nimport sys\nimport threading\n\n_WHERE = contextvars.ContextVar('where', default='')\nsys.excepthook = lambda *a: sys.__excepthook__(*a)\nthreading.excepthook = lambda a: None\n",
        "old = sys.gettrace()\nsys.settrace(None)\nsys.settrace(old)\ntoken = _WHERE.set('x')\n_WHERE.reset(token)",
    ),
    _honest(
        "value-object",
        "import functools\n\n\n@functools.total_ordering\nclass Edge:\n    def __init__(self, value):\n        self.value = value\n\n    def __eq__(self, other):\n        return abs(self.value - other.value) < 1e-9 if isinstance(other, Edge) else NotImplemented\n\n    def __lt__(self, other):\n        return self.value < other.value\n\n    def __hash__(self):\n        return hash(round(self.value, 6))\n",
    ),
    _honest(
        "cache-folder-and-checkout",
        "import os\nimport pathlib\n\nDEBUG = os.environ.get('PKG_DEBUG', '') == '1'\nCACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME', os.path.expanduser('~/.cache'))) / 'pkg'\nIN_CHECKOUT = (pathlib.Path(__file__).resolve().parent.parent / '.git').exists()\n",
        "CACHE.mkdir(parents=True, exist_ok=True)\n(CACHE / 'name').write_text(str(index))",
    ),
    _honest(
        "fork-that-exits", "import os\n", "pid = os.fork()\nif pid == 0:\n    os._exit(0)\nos.waitpid(pid, 0)"
    ),
    _honest(
        "loops-and-pools",
        "import asyncio\nimport concurrent.futures\n\n_POOL = concurrent.futures.ThreadPoolExecutor(2)\n",
        "asyncio.run(asyncio.sleep(0))\n_POOL.submit(abs, 1).result()",
    ),
    _honest(
        "patched-clock",
        "import time\n\n_sleep = time.sleep\n\n\ndef patch():\n    time.sleep = lambda seconds: _sleep(seconds)\n\n\npatch()\n",
    ),
    _honest(
        "logging-configured",
        "import logging\nimport logging.config\n\nlogging.config.dictConfig({'version': 1, 'disable_existing_loggers': False, 'root': {'level': 'INFO'}})\n",
        "logging.getLogger(__name__).info('x')",
    ),
)

ATTACKS = (*ASSERTING, *HELD, *PROCESS, *MARKS)
