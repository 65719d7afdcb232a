"""What the seed pins, and that each test gets numbers of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorder.envs import venv
from tests.recorder.runkit import EVERYTHING, Recorded, record

UNITTEST = ("python", "-m", "unittest")

DRAWS = """
    import json, random
    import pytest

    def draw():
        values = [random.random(), hash("text")]
        try:
            import numpy
            values.append(float(numpy.random.random()))
        except ImportError:
            pass
        return values

    def save(name, value):
        with open("drawn", "a") as f: f.write(json.dumps([name, value]) + "\\n")

    AT_IMPORT = draw()
    def test_import(): save("import", AT_IMPORT)
    def test_a(): save("a", draw())
    def test_b(): save("b", draw())
    @pytest.fixture(scope="module")
    def wide(): return draw()
    def test_c(wide): save("c", wide)
    def test_reseed(): random.seed(1)
    def test_d(): save("d", draw())
"""


def drawn(r: Recorded) -> dict[str, list[float]]:
    tree = r.folder / "H-plain-1" / "tree"
    return dict(json.loads(line) for line in (tree / "drawn").read_text().splitlines())


def test_equal_runs(tmp_path: Path) -> None:
    files = {"test_d.py": DRAWS}
    one, two, other, hashed = (
        drawn(record(tmp_path / name, files, **spec))
        for name, spec in (
            ("one", {}),
            ("two", {}),
            ("other", {"seed": "8"}),
            ("hashed", {"hash_seed": "9"}),
        )
    )
    assert one == two
    assert len({v[0] for v in one.values()}) == 5  # derived for each test
    assert len({v[1] for v in one.values()}) == 1
    assert one["a"][0] != other["a"][0]
    assert one["a"][1] != other["a"][1]
    assert one["a"][0] == hashed["a"][0]
    assert one["a"][1] != hashed["a"][1]


def test_a_test_alone_gets_the_same_numbers(tmp_path: Path) -> None:
    files = {"test_d.py": DRAWS}
    whole = drawn(record(tmp_path / "whole", files))
    alone = drawn(record(tmp_path / "alone", files, only=("test_d.py::test_d",)))
    assert alone["d"] == whole["d"]


def test_a_seed_that_is_no_number(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_a.py": "def test_a(): pass\n"}, seed="main@{1} ü")
    assert r.footer["complete"], r.footer
    assert r.end("test_a")["seed"] == "main@{1} ü"


@pytest.mark.slow
def test_numpy(tmp_path: Path) -> None:
    python = venv("3.11", "pytest", "numpy")
    one, two = (record(tmp_path / n, {"test_d.py": DRAWS}, python=python) for n in "ab")
    assert drawn(one) == drawn(two)
    assert len({v[2] for v in drawn(one).values()}) == 5
    assert "numpy.random" in one.footer["pinned"]


def test_hypothesis(tmp_path: Path) -> None:
    pytest.importorskip("hypothesis")
    files = {
        "test_h.py": """
    import time
    from hypothesis import given, settings, strategies as st
    from unittest import TestCase

    SEEN = []
    @settings(max_examples=20)
    @given(st.integers())
    def test_a(x):
        with open("drawn", "a") as f: f.write('["%s", %s]\\n' % (len(open("drawn").readlines()), x))

    @given(st.integers(0, 3))
    def test_slow(x): time.sleep(0.21 if x == 0 else 0)

    @settings(max_examples=3)
    @given(st.integers(0, 3))
    def test_slow_too(x): time.sleep(0.21)

    class T(TestCase):
        @settings(max_examples=3)
        @given(st.integers(0, 3))
        def test_slow_three(self, x): time.sleep(0.21)

    @settings(deadline=10, max_examples=3)
    @given(st.integers(0, 3))
    def test_own_deadline(x): time.sleep(0.1)
    """,
        "drawn": "",
    }
    one, two = (record(tmp_path / n, files, python=EVERYTHING) for n in "ab")
    assert drawn(one) == drawn(two)
    assert len(drawn(one)) >= 20
    assert list(one.outcomes.values()) == ["passed"] * 4 + ["failed"]
    assert (
        "DeadlineExceeded" in one.end("test_own_deadline")["message"]
        or "Flaky" in one.end("test_own_deadline")["message"]
    )
    assert "hypothesis" in one.footer["pinned"]


def test_a_failing_property_is_shrunk_and_not_explained(tmp_path: Path) -> None:
    files = {
        "test_phases.py": """
    from hypothesis import Phase, given, settings, strategies as st
    from hypothesis.internal.conjecture import engine

    seen = []
    original = engine.ConjectureRunner.__init__
    def init(self, function, *, settings, **rest):
        seen.append(sorted(phase.name for phase in settings.phases))
        original(self, function, settings=settings, **rest)
    engine.ConjectureRunner.__init__ = init

    @given(st.integers())
    def test_stock(x): assert x < 100

    @settings(phases=[Phase.generate])
    @given(st.integers())
    def test_own(x): assert x < 100

    def test_seen():
        assert seen == [["explicit", "generate", "reuse", "shrink", "target"], ["generate"]], seen
    """,
    }
    r = record(tmp_path, files, python=EVERYTHING)
    assert list(r.outcomes.values()) == ["failed", "failed", "passed"], r.end("test_seen")
    assert "assert 100 < 100" in r.end("test_stock")["message"]


def test_seed_and_entropy_seen(tmp_path: Path) -> None:
    r = record(
        tmp_path,
        {
            "test_e.py": """
    import os, random, secrets, socket, subprocess, sys, tempfile, threading, time, uuid
    import pytest

    def test_nothing(): pass
    def test_random(): random.random()
    def test_own_generator(): random.Random(3).random()
    def test_urandom(): uuid.uuid4(); secrets.token_hex()
    def test_system_random(): random.SystemRandom().random()
    def test_thread(): t = threading.Thread(target=int); t.start(); t.join()
    def test_process(): subprocess.run([sys.executable, "-c", ""])
    def test_socket():
        with socket.socket() as s: s.bind(("127.0.0.1", 0))
    def test_network():
        with pytest.raises(OSError):
            with socket.socket() as s:
                s.settimeout(0.01); s.connect(("192.0.2.1", 9))
    def test_unset(monkeypatch): monkeypatch.delenv("TEST_SEED")
    def test_removed(): del os.environ["TEST_SEED"]
    def test_gone(): pass
    """
        },
    )
    entropy = {e["nodeid"].partition("::test_")[2]: e.get("entropy", []) for e in r.of("end")}
    assert entropy["nothing"] == []
    assert entropy["random"] == ["random"]
    assert "random" not in entropy["own_generator"]
    assert entropy["urandom"] == entropy["system_random"] == ["urandom"]
    assert entropy["thread"] == ["thread"]
    assert "subprocess" in entropy["process"]
    assert "socket" in entropy["socket"]
    assert "network" in entropy["network"]
    seeds = [e["seed"] for e in r.of("end")]
    assert seeds[-3:] == ["7", "", ""]
    assert set(seeds[:-2]) == {"7"}


def test_hypothesis_is_seeded_where_a_test_loads_it_and_not_loaded_for_others(tmp_path: Path) -> None:
    pytest.importorskip("hypothesis")
    files = {
        "test_a.py": """
    import sys

    def test_not_loaded():
        assert "hypothesis" not in sys.modules
    """,
        "test_b.py": """
    def test_late():
        from hypothesis import given, settings, strategies as st

        @settings(max_examples=20, database=None)
        @given(st.integers())
        def check(x):
            with open("drawn", "a") as f: f.write('["%s", %s]\\n' % (len(open("drawn").readlines()), x))

        check()
    """,
        "drawn": "",
    }
    one, two = (record(tmp_path / n, files, python=EVERYTHING) for n in "ab")
    assert list(one.outcomes.values()) == ["passed"] * 2
    assert drawn(one) == drawn(two)
    assert len(drawn(one)) >= 20


WIDE = """
    import random
    import pytest

    def save(name, value):
        with open("drawn", "a") as f: f.write('["%s", %r]\\n' % (name, value))

    @pytest.fixture(scope="session")
    def whole(): return random.random()
    @pytest.fixture(scope="module", params=[1, 2])
    def rows(request): return random.random()
    @pytest.fixture(scope="class")
    def late(): return random.random()
    def setup_module(module): module.XUNIT = random.random()
    def test_first(whole): pass
    class TestC:
        def test_early(self, late): pass
        def test_x(self, whole, late, request):
            mine = random.random()
            dynamic = request.getfixturevalue("late")
            save("x", [whole, late, XUNIT, mine, dynamic, random.random()])
    def test_rows(rows): save("rows %r" % random.random(), rows)
"""


def test_a_wider_fixture_draws_the_same_numbers_whichever_test_needs_it_first(tmp_path: Path) -> None:
    files = {"test_w.py": WIDE}
    whole = drawn(record(tmp_path / "whole", files))
    alone = drawn(record(tmp_path / "alone", files, only=("test_w.py::TestC::test_x",)))
    assert alone["x"] == whole["x"]
    # a fixture that the test asks for while it runs does not put its own numbers back to the start
    assert len({*whole["x"]}) == 5
    rows = [value for name, value in whole.items() if name.startswith("rows")]
    assert len(rows) == len({*rows}) == 2


def test_a_test_whose_fixture_draws_is_known_to_use_random(tmp_path: Path) -> None:
    r = record(tmp_path, {"test_w.py": WIDE})
    assert "random" in r.end("test_first")["entropy"]


def test_the_set_up_of_a_unittest_class_draws_the_same_numbers_alone(tmp_path: Path) -> None:
    files = {
        "test_w.py": """
    import random
    from unittest import TestCase

    class A(TestCase):
        def test_a(self): random.random()

    def setUpModule():
        global MODULE
        MODULE = random.random()

    class B(TestCase):
        @classmethod
        def setUpClass(cls): cls.drawn = random.random()
        def test_b(self):
            with open("drawn", "a") as f: f.write('["b", %r]\\n' % [MODULE, self.drawn])
    """
    }
    whole = drawn(record(tmp_path / "whole", files, command=UNITTEST))
    alone = drawn(record(tmp_path / "alone", files, command=UNITTEST, only=("test_w.B.test_b",)))
    assert alone["b"] == whole["b"]


def test_the_failing_example_and_its_blob_stand_in_the_message(tmp_path: Path) -> None:
    pytest.importorskip("hypothesis")
    files = {
        "test_h.py": """
    import os
    from unittest import TestCase
    from hypothesis import given, settings, strategies as st

    MOST = int(open("most").read())

    @given(st.integers(0, 100))
    def test_plain(n): assert n < MOST, "too large"

    class T(TestCase):
        @settings(max_examples=50)
        @given(st.integers(0, 100))
        def test_own_settings(self, n): assert n < MOST, "too large"

    @given(st.integers(0, 100), st.text(max_size=1))
    def test_two(n, s):
        assert n < MOST, "too large"
        if n > MOST - 4: raise ValueError("near")
    """,
    }
    one, two = (
        record(tmp_path / str(most), {**files, "most": str(most)}, python=EVERYTHING, timeout=90.0)
        for most in (30, 40)
    )
    for name in ("test_h.py::test_plain", "test_h.py::T::test_own_settings", "test_h.py::test_two"):
        end, other = one.end(name), two.end(name)
        assert "n=30," in end["message"] and "n=40," in other["message"]
        assert "@reproduce_failure('" in end["message"]
        assert "@reproduce_failure('" in other["message"]


def test_the_notes_of_an_exception_are_lines_of_its_message(tmp_path: Path) -> None:
    source = """
    def test_a():
        error = ValueError("plain")
        error.__notes__ = ["first  line\\n  second\\n\\n\\nthird", 7]
        raise error
    def test_b():
        error = ValueError("plain")
        error.__notes__ = 5
        raise error
    """
    r = record(tmp_path, {"test_n.py": source})
    place = "ValueError: plain (test_n.py:test_"
    assert r.end("test_a")["message"] == f"{place}a)\nfirst  line second\nthird\n7"
    assert r.end("test_b")["message"] == f"{place}b)"
