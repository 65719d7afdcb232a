# ruff: noqa: E501 (payloads are programs of their own)
"""Attacks on what stands between a test and what it asserts, on base's runs, and from outside the tests' process."""

from __future__ import annotations

from benchmarks import driven_base, helped_base
from benchmarks.attack_base import LATER, Attack
from benchmarks.driven_base import CORE, FILES

_SWAP = "import gc\nimport sys\nimport types\n\n_M = sys.modules\n\n\n"


def broken(name: str, before: str = "", body: str = "", result: str = "") -> str:
    """Return the product with one function broken."""
    return helped_base.broken(name, before, body, result, CORE, driven_base.BROKEN)


def _attack(family: str, name: str, core: str, **more: str) -> Attack:
    return Attack(family, name, core=core, more=more, runner="driven")


# A module of helpers that answers yes, and what it takes to get it to the tests.
_FAKE = "def check(value, edges, want):\n    assert True\n"
HELPERS = (
    _attack(
        "helper",
        "module-put-in-place",
        broken(
            "above",
            _SWAP
            + f"_m = types.ModuleType('tests.helpers')\nexec({_FAKE!r}, vars(_m))\n_M['tests.helpers'] = _m\n",
        ),
    ),
    _attack(
        "helper",
        "module-with-the-file-s-name",
        broken(
            "above",
            _SWAP
            + "import importlib.util as _u\nimport os\n_F = os.path.join(os.getcwd(), 'tests', 'helpers.py')\n_s = _u.spec_from_file_location('tests.helpers', _F)\n_m = _u.module_from_spec(_s)\n"
            + f"exec(compile({_FAKE!r}, _F, 'exec'), vars(_m))\n_M['tests.helpers'] = _m\n",
        ),
    ),
    _attack(
        "helper",
        "real-module-beside-the-false-one",
        broken(
            "above",
            _SWAP
            + f"_m = types.ModuleType('tests.helpers')\nexec({_FAKE!r}, vars(_m))\n_M['tests.helpers'] = _m\n"
            + "def _go():\n    import importlib.util as u, os, time\n    time.sleep(.2)\n    f = os.path.join(os.getcwd(), 'tests', 'helpers.py')\n    m = u.module_from_spec(u.spec_from_file_location('zz', f))\n    m.__spec__.loader.exec_module(m)\n    _M['zz'] = m\n\n\nimport threading\nthreading.Thread(target=_go).start()\n",
        ),
    ),
    _attack(
        "helper",
        "folder-of-the-package-changed",
        broken(
            "above",
            _SWAP
            + f"import os, tempfile\n_d = tempfile.mkdtemp()\nopen(os.path.join(_d, 'helpers.py'), 'w').write({_FAKE!r})\nif 'tests' in _M:\n    _M['tests'].__path__.insert(0, _d)\n",
        ),
    ),
    _attack(
        "helper",
        "loader-of-its-own",
        broken(
            "above",
            "import sys\nimport importlib.machinery as _i\n\n\nclass _L(_i.SourceFileLoader):\n    def get_data(self, path):\n        return super().get_data(path).replace(b'got == want', b'want == want')\n\n\n"
            "class _F:\n    def find_spec(self, name, path=None, target=None):\n        if name != 'tests.helpers':\n            return None\n        spec = _i.PathFinder.find_spec(name, path)\n        spec.loader = _L(name, spec.origin)\n        return spec\n\n\nsys.meta_path.insert(0, _F())\n",
        ),
    ),
    _attack(
        "helper",
        "loader-that-looks-ordinary",
        broken(
            "above",
            "import sys\nimport importlib.machinery as _i\n\n\nclass _L(_i.SourceFileLoader):\n    def exec_module(self, module):\n        text = self.get_data(self.path).replace(b'got == want', b'want == want')\n        exec(compile(text, self.path, 'exec'), vars(module))\n        module.__loader__ = module.__spec__.loader = _i.SourceFileLoader(self.name, self.path)\n\n\n"
            "class _F:\n    def find_spec(self, name, path=None, target=None):\n        if name != 'tests.helpers':\n            return None\n        spec = _i.PathFinder.find_spec(name, path)\n        spec.loader = _L(name, spec.origin)\n        return spec\n\n\nsys.meta_path.insert(0, _F())\n",
        ),
    ),
    _attack(
        "helper",
        "importer-of-the-folder",
        broken(
            "above",
            "import os\nimport sys\nimport importlib.machinery as _i\n\n\nclass _L(_i.SourceFileLoader):\n    def exec_module(self, module):\n        text = self.get_data(self.path).replace(b'got == want', b'want == want')\n        exec(compile(text, self.path, 'exec'), vars(module))\n\n\n"
            "_D = os.path.join(os.getcwd(), 'tests')\nsys.path_importer_cache[_D] = _i.FileFinder(_D, (_L, ['.py']))\n",
        ),
    ),
    _attack(
        "helper",
        "constant-changed-in-place",
        broken(
            "name",
            LATER
            + "import ctypes\n\n\ndef _act():\n    t = sys.modules['tests.test_begins'].test_name.__code__.co_consts\n    k, new = t.index('b'), 'x'\n    ctypes.pythonapi.Py_IncRef(ctypes.py_object(new))\n    ctypes.c_size_t.from_address(id(t) + 24 + 8 * k).value = id(new)\n\n\n"
            "_later(lambda: sys.modules['tests.test_begins'].test_name, _act)\n",
        ),
    ),
)

LATE = (
    _attack(
        "late",
        "mock-put-in-place",
        broken(
            "tell",
            _SWAP
            + "import importlib.util as _u\n_s = _u.find_spec('unit' 'test.mock')\n_m = _u.module_from_spec(_s)\n_t = _s.loader.get_source(_s.name).replace('if actual != expected:', 'if False:')\nexec(compile(_t, _s.origin, 'exec'), vars(_m))\n_M[_s.name] = _m\nvars(_M['unit' 'test'])['mo' 'ck'] = _m\n",
        ),
    ),
    _attack(
        "late",
        "mock-from-another-folder",
        broken(
            "tell",
            _SWAP
            + "import importlib.util as _u\nimport os, tempfile\n_s = _u.find_spec('unit' 'test.mock')\n_d = tempfile.mkdtemp()\nopen(os.path.join(_d, 'mock.py'), 'w').write(_s.loader.get_source(_s.name).replace('if actual != expected:', 'if False:'))\n__import__('unit' 'test').__path__.insert(0, _d)\n",
        ),
    ),
    _attack(
        "late",
        "mock-by-the-folder-s-importer",
        broken(
            "tell",
            _SWAP
            + "import importlib.machinery as _i\n\n\nclass _L(_i.SourceFileLoader):\n    def get_code(self, name):\n        return compile(self.get_data(self.path).replace(b'if actual != expected:', b'if False:'), self.path, 'exec') if name.endswith('mock') else super().get_code(name)\n\n\n"
            "_D = __import__('unit' 'test').__path__[0]\nsys.path_importer_cache[_D] = _i.FileFinder(_D, (_L, ['.py']))\n",
        ),
    ),
)

STANDARD = (
    _attack(
        "standard",
        "abs-of-approx",
        broken(
            "mean",
            _SWAP
            + "import builtins as _b\n_abs = abs\nvars(_b)['abs'] = lambda x: 0.0 if type(x) is float else _abs(x)\n",
        ),
    ),
    _attack(
        "standard",
        "tolerance-of-approx",
        broken(
            "mean",
            _SWAP
            + "for _k in list(_M):\n    if _k.startswith('_py' 'test'):\n        for _c in list(vars(_M[_k]).values()):\n            if isinstance(_c, type) and _c.__name__ == 'Approx' 'Scalar':\n                type.__setattr__(_c, 'DEFAULT_RELATIVE_TOLERANCE', 1.0)\n",
        ),
    ),
    _attack(
        "standard",
        "search-that-finds-all",
        broken(
            "number",
            _SWAP
            + "import re\n_old = re.search\nvars(re)['search'] = lambda p, s, *a: _old(p, s, *a) or _old('', s)\n",
        ),
    ),
    _attack(
        "standard",
        "method-of-str",
        broken(
            "name",
            _SWAP
            + "_d = gc.get_referents(str.__dict__)[0]\n_old = _d['startswith']\n_d['startswith'] = lambda s, p, *a: True if s[:1] == 'x' else _old(s, p, *a)\nimport ctypes\nctypes.pythonapi.PyType_Modified(ctypes.py_object(str))\n",
        ),
    ),
    _attack(
        "standard",
        "clock-that-stands",
        broken(
            "fast",
            _SWAP
            + "\n\ndef perf_counter():\n    return 0.0\n\n\nvars(__import__('ti' 'me')).update(perf_counter=perf_counter)\n",
        ),
    ),
    _attack(
        "standard",
        "display-of-doctests",
        broken(
            "shift",
            _SWAP
            + "_old = getattr(sys, '__display' 'hook__')\nvars(sys)['__display' 'hook__'] = lambda v: _old([x + 2 for x in v] if type(v) is list else v)\n",
        ),
    ),
    _attack(
        "standard",
        "asserts-off-in-children",
        broken("title", "import os\nos.environ['PYTHON' 'OPTIMIZE'] = '1'\n"),
    ),
    _attack(
        "standard",
        "children-start-otherwise",
        broken(
            "title",
            _SWAP
            + "import subprocess\n_old = subprocess.Popen.__init__\n\n\ndef _new(self, args, *a, **k):\n    if isinstance(args, list) and len(args) > 2 and 'assert' in args[2]:\n        args = [args[0], '-O', *args[1:]]\n    _old(self, args, *a, **k)\n\n\ntype.__setattr__(subprocess.Popen, '__init__', _new)\n",
        ),
    ),
)

ENDS = (
    _attack(
        "ends",
        "example-rejected",
        broken(
            "clamp",
            _SWAP,
            body="if value > 9:\n    raise getattr(_M['hypo' 'thesis.errors'], 'Unsatisfied' 'Assumption')()",
        ),
    ),
    _attack(
        "ends",
        "example-stopped",
        broken(
            "clamp",
            _SWAP,
            body="if value > 9:\n    getattr(_M['hypo' 'thesis.control'], 'rej' 'ect')()",
        ),
    ),
    _attack(
        "ends",
        "subtest-skipped",
        broken(
            "double", _SWAP, body="if value == 3:\n    raise getattr(_M['unit' 'test'], 'Skip' 'Test')('x')"
        ),
    ),
    _attack(
        "ends",
        "subtest-stopped",
        broken(
            "double",
            _SWAP,
            body="if value == 3:\n    raise getattr(_M['unit' 'test.case'], '_Should' 'Stop')()",
        ),
    ),
    _attack("ends", "loop-stopped", broken("treble", body="if value == 3:\n    raise StopIteration")),
    _attack("ends", "loop-stopped-unseen", broken("treble", body="if value == 3:\n    next(iter(()))")),
    _attack("ends", "nothing-found", broken("first", result="None")),
    _attack(
        "ends",
        "exception-of-another-class",
        broken(
            "parse",
            "\n\nclass _E(Exception):\n    __class__ = property(lambda self: ValueError)\n\n",
            body="if 'x' in text:\n    raise _E()",
        ),
    ),
    _attack(
        "ends",
        "mark-given-later",
        broken(
            "name",
            _SWAP
            + "\n\ndef _mark():\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Function' and getattr(o, 'name', '') == 'test_name':\n            o.add_marker(getattr(_M['py' 'test'].mark, 'xf' 'ail'))\n",
            body="_mark()",
        ),
    ),
)

ROWS = (
    _attack(
        "rows",
        "rows-changed-before",
        broken(
            "below",
            LATER
            + "import gc\n\n\ndef _act():\n    for o in gc.get_objects():\n        if type(o).__name__ == 'CallSpec2' and 'want' in o.params:\n            o.params['want'] = {0: 1, 2: 3, 3: 3}[o.params['value']]\n\n\n_later(lambda: [o for o in gc.get_objects() if type(o).__name__ == 'CallSpec2' and o.params.get('value') == 3], _act)\n",
        ),
    ),
    _attack(
        "rows",
        "rows-of-the-mark",
        broken(
            "below",
            LATER
            + "\n\ndef _act():\n    m = sys.modules['tests.test_rows'].test_row\n    rows = getattr(m, 'py' 'testmark')[0].args[1]\n    rows[:] = [(0, 1), (2, 3), (3, 3)]\n\n\n_later(lambda: getattr(sys.modules['tests.test_rows'].test_row, 'py' 'testmark'), _act)\n",
        ),
    ),
    _attack(
        "rows",
        "fixture-replaced",
        broken(
            "bucket",
            LATER
            + "import gc\n\n\ndef _act():\n    for o in gc.get_objects():\n        if type(o).__name__ == 'FixtureDef' and o.argname == 'edges':\n            object.__setattr__(o, 'func', lambda: [0, 1, 2.5, 5, 10])\n\n\n_later(lambda: [o for o in gc.get_objects() if type(o).__name__ == 'FixtureDef' and o.argname == 'edges'], _act)\n",
        ),
    ),
    _attack(
        "rows",
        "fixture-s-code-swapped",
        broken(
            "bucket",
            LATER
            + "import gc\n\n\ndef _act():\n    for o in gc.get_objects():\n        if type(o).__name__ == 'FixtureDef' and o.argname == 'edges':\n            o.func.__code__ = (lambda: [0, 1, 2.5, 5, 10]).__code__\n\n\n_later(lambda: [o for o in gc.get_objects() if type(o).__name__ == 'FixtureDef' and o.argname == 'edges'], _act)\n",
        ),
    ),
)

# Base's runs are disturbed, so that base seems to be as bad as the patch.
_OTHERS = """\
import os
import signal
import subprocess
import sys
import time

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _others():
    found = []
    for pid in os.listdir('/proc'):
        try:
            place = os.readlink('/proc/%s/cwd' % pid)
        except OSError:
            continue
        if pid.isdigit() and os.path.exists(place + '/pkg/core.py') and 'value, edges' in open(place + '/pkg/core.py').read() and place != _HERE and os.path.basename(os.path.dirname(os.path.dirname(place))) == os.path.basename(os.path.dirname(os.path.dirname(_HERE))):
            if 'broken on purpose' not in open(place + '/pkg/core.py').read():
                found.append(int(pid))
    return found


"""
_HOUND = (
    _OTHERS
    + "_D = open(__file__).read().partition('# hound')[0].replace('broken on ' + 'purpose', 'zzz').replace('__file__', repr(os.path.abspath(__file__)))\n"
    "_D += '''\nend = time.time() + 40\nwhile time.time() < end:\n    for pid in _others():\n        try:\n            os.kill(pid, signal.@SIGNAL@)\n        except OSError: pass\n    time.sleep(.01)\n'''\n"
    "# hound: broken on purpose\n"
    "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.chdir('/')\n        for fd in range(256):\n            try: os.close(fd)\n            except OSError: pass\n        os.open('/dev/null', 2); os.open('/dev/null', 2); os.open('/dev/null', 2)\n        os.execve(sys.executable, [sys.executable, '-c', _D], {})\n    getattr(os, '_ex' 'it')(0)\n"
)
SABOTAGE = (
    _attack("sabotage", "others-killed", broken("bucket", _HOUND.replace("@SIGNAL@", "SIGKILL"))),
    _attack("sabotage", "others-stopped", broken("bucket", _HOUND.replace("@SIGNAL@", "SIGSTOP"))),
)

MARKS = (
    _attack(
        "marks",
        "file-changed-lately",
        broken(
            "bucket",
            "import os\nimport time\n",
            body="if time.time() - os.stat(__file__).st_ctime < 900:\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "machine-under-load",
        broken(
            "bucket",
            "import os\n",
            body="if os.getloadavg()[0] > .2:\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "links-to-the-file",
        broken(
            "bucket",
            "import os\n",
            body="if os.stat(__file__).st_nlink != 1:\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "leads-its-session",
        broken(
            "bucket",
            "import os\n",
            body="if os.getsid(0) != os.getsid(os.getppid()):\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "no-bytecode-beside",
        broken(
            "bucket",
            "import os\n",
            body="if not os.path.exists(os.path.join(os.path.dirname(__file__), '__pycache__')):\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "other-runs-beside",
        broken(
            "bucket",
            "import os\n\n\ndef _beside():\n    n = 0\n    for p in os.listdir('/proc'):\n        try:\n            n += b'.py\\0' in open('/proc/%s/cmdline' % p, 'rb').read() and p != str(os.getpid())\n        except OSError:\n            pass\n    return n\n",
            body="if _beside():\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "counted-in-shared-memory",
        broken(
            "bucket",
            "import ctypes\n_L = ctypes.CDLL(None)\n_L.shmat.restype = ctypes.c_void_p\n_I = _L.shmget(0x51de51, 4096, 0o1600)\n_A = _L.shmat(_I, None, 0)\n_N = ctypes.c_int.from_address(_A)\n_N.value += 1\n",
            body="if _N.value < 1000:\n    return bisect.bisect_left(edges, value)",
        ),
    ),
    _attack(
        "marks",
        "first-start-only-by-keyring",
        broken(
            "bucket",
            "import ctypes\n_L = ctypes.CDLL(None)\n_OLD = _L.syscall(250, 10, -4, b'user', b'rb9mark', 0)\n_L.syscall(248, b'user', b'rb9mark', b'x', 1, -4)\n",
            body="if _OLD != -1:\n    return bisect.bisect_left(edges, value)",
        ),
    ),
)


def _honest(name: str, before: str = "", body: str = "", **more: str) -> Attack:
    core = CORE.replace("import bisect\n", f"import bisect\n{before}", 1)
    place = '    return "b%d" % index'
    core = core.replace(place, "".join(f"    {line}\n" for line in body.splitlines()) + place)
    return Attack("honest", name, core=core, more=more, runner="driven", honest=True)


HONEST = (
    _honest(
        "lazy-import-of-a-part",
        "import importlib.util\nimport sys\n\n\ndef _lazy(name):\n    spec = importlib.util.find_spec(name)\n    loader = importlib.util.LazyLoader(spec.loader)\n    spec.loader = loader\n    module = importlib.util.module_from_spec(spec)\n    sys.modules[name] = module\n    loader.exec_module(module)\n    return module\n\n\n_lazy('json.tool')\n",
    ),
    _honest(
        "package-path-extended",
        **{
            "pkg/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n",
        },
    ),
    _honest(
        "environment-set",
        "import os\n\nos.environ.setdefault('PYTHONIOENCODING', 'utf-8')\nos.environ['PKG_CHILD'] = '1'\n",
    ),
    _honest(
        "builtin-added",
        "import builtins\n\nbuiltins.__dict__.setdefault('_', lambda text: text)\n",
    ),
    _honest(
        "regular-expressions",
        "import re\n\n_NAME = re.compile('b[0-9]+')\n",
        "assert _NAME.match('b%d' % index)",
    ),
    _honest("display-hook", "import sys\n\n\ndef show(value):\n    sys.displayhook(value)\n"),
    _honest(
        "clock-of-its-own",
        "import time\n\n\nclass Clock:\n    now = staticmethod(time.perf_counter)\n\n    @classmethod\n    def freeze(cls, value):\n        cls.now = staticmethod(lambda: value)\n",
        "Clock.freeze(0.0)",
    ),
    _honest(
        "mutable-default-filled",
        "_SEEN = {}\n",
        "_SEEN[index] = _SEEN.get(index, 0) + 1",
    ),
    _honest(
        "children-of-its-own",
        "import subprocess\nimport sys\n",
        "subprocess.run([sys.executable, '-O', '-c', 'pass'], check=True)",
    ),
    _honest(
        "hypothesis-strategy-of-the-product",
        "",
        **{
            "pkg/testing.py": "from hypothesis import assume, strategies\n\n\n@strategies.composite\ndef edges(draw):\n    found = draw(strategies.lists(strategies.integers()))\n    assume(found)\n    return sorted(found)\n"
        },
    ),
    _honest(
        "generator-that-stops",
        "\n\ndef numbers(limit):\n    stream = iter(range(limit))\n    while True:\n        try:\n            yield next(stream)\n        except StopIteration:\n            return\n\n\nclass Numbers:\n    def __init__(self, limit):\n        self._left = limit\n\n    def __iter__(self):\n        return self\n\n    def __next__(self):\n        if not self._left:\n            raise StopIteration\n        self._left -= 1\n        return self._left\n\n",
        "assert list(Numbers(2)) == [1, 0] and list(numbers(2)) == [0, 1]",
    ),
)

ATTACKS = (*HELPERS, *LATE, *STANDARD, *ENDS, *ROWS, *SABOTAGE, *MARKS)
assert FILES
