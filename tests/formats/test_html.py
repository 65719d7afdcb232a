"""The HTML report as text: nothing but text in it comes from the patch. stories/test_browser has a browser look."""

from __future__ import annotations

import base64
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.core.report import GateReport, MovedFixture
from redbucket.formats import htmlview
from redbucket.formats.clean import line
from redbucket.formats.html import render
from tests.formats import reports as r

ALL = (r.FULL, r.BROKEN, r.GREEN, r.EMPTY, r.hostile())
VOID = {"meta", "input", "br"}
ATTACKS = (
    "<script>owned=1</script>",
    "</script><script>owned=1</script>",
    "</style><script>owned=1</script>",
    "</title><img src=x onerror=owned=1>",
    "\"'><img src=x onerror=owned=1>",
    "' onmouseover='owned=1' x='",
    "<!--<script>",
    "-->",
    "]]>",
    "{{ 7*7 }}{% raw %}",
    "javascript:owned=1",
    "&lt;script&gt;",
    "\u202egnp.exe\u2066",
    "\u2028\u2029\x00\x1b[2J\udcff",
    "x" * 3000,
)


class Page(HTMLParser):
    """Elements with their attributes, in order; text by element; unclosed elements are an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data = ""
        self._open: list[str] = []
        self._data = False
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._data = dict(attrs).get("id") == "data"
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._data = False

    def handle_data(self, data: str) -> None:
        if self._data:
            self.data += data
        self.text.append(data)


def shape(report: GateReport) -> list[tuple[str, tuple[str, ...]]]:
    """The elements of the page and the names of their attributes, without any text."""
    return [(tag, tuple(sorted(attrs))) for tag, attrs in Page(render(report)).elements]


def filled(text: str) -> GateReport:
    """A report whose every free text is ``text``."""
    row = msgspec.structs.replace(
        r.MISS, nodeid=text, why=text, spend=text, message=text, tried=[text], fixtures=[text], cause=text, state=text,
        outcomes={"H": ["failed", text], f"H {text}": [text]}, capture=text, frozen_until=text, path=text, line=1,
        experiments=r.trials(text),
    )  # fmt: skip
    finding = msgspec.structs.replace(r.WARNING, path=text, nodeid=text, reason=text, remedy=text, rule=text)
    problem = msgspec.structs.replace(r.FULL.undecided[0], code=text, reason=text, remedy=text)
    fixture = MovedFixture(
        path=text, kind=text, said=text, places=[(text, text, text)], lines=[f"-{text}", f"+{text}"]
    )
    return msgspec.structs.replace(
        r.FULL, tests=[row], findings=[finding], undecided=[problem], notes=[problem], moved=[fixture],
        summary=text, base=text, base_name=text, head=text, seed=text, interpreter=text, kept=text,
        identity=msgspec.structs.replace(r.FULL.identity, marks=[text]), oracle=r.oracle(text),
    )  # fmt: skip


def assert_harmless(text: str) -> None:
    page = render(filled(text))
    assert shape(filled(text)) == shape(filled("plain"))
    found = Page(page)
    for _, attributes in found.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not {"src", "href", "srcset", "action", "data"} & attributes.keys() or str(
            attributes.get("href")
        ).startswith("#")
    assert all(c.isprintable() or c == "\n" for c in page)
    # it is all there, and nothing but escaped
    assert line(text) in [line(text) for text in found.text] or line(text).strip() in "".join(found.text)
    rows = json.loads(found.data)["rows"]
    assert rows[0][0] == line(text)


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_stays_text(text: str) -> None:
    assert_harmless(text)


@given(st.text(st.sampled_from("<>&\"'/=!-{}%#`\\ script\u202e\u2028\0ab"), min_size=1, max_size=40))
def test_whatever_it_is_it_stays_text(text: str) -> None:
    # a line of nothing is left out of a message, and marks at its start tell what it is
    if text.strip() and line(text) == text:
        assert shape(filled(f"x{text}x")) == shape(filled("plain"))


@pytest.mark.parametrize("report", ALL)
def test_the_page_is_whole_and_needs_no_network(report: GateReport) -> None:
    page = Page(render(report))
    assert not {tag for tag, _ in page.elements} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form ",
    }
    assert [a.get("type") for tag, a in page.elements if tag == "script"] == ["application/json", None]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(set(ids)) == len(ids)
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(name) is None or attributes[name] in ids
        if "href" in attributes:
            assert str(attributes["href"]).removeprefix("#") in ids


def test_the_policy_lets_nothing_run_but_the_two_parts() -> None:
    text = render(r.hostile())
    policy = next(
        a["content"] for t, a in Page(text).elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "unsafe" not in policy
    assert "http" not in policy
    for part in (
        re.findall(r"<style>(.*?)</style>", text, re.S),
        re.findall(r"<script>(.*?)</script>", text, re.S),
    ):
        (body,) = part
        digest = base64.b64encode(sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def matrix(report: GateReport) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Page(render(report)).data)
    return found


def test_the_matrix_has_every_test_the_urgent_first() -> None:
    found = matrix(r.FULL)
    assert len(found["rows"]) == len(r.FULL.tests)
    first, *_ = found["rows"]
    assert first[0] == r.MISS.nodeid
    assert [found["kinds"][kind][1] for kind in first[2]][:6] == ["failed"] * 3 + ["passed"] * 3
    assert found["whys"][first[3]] == r.MISS.why


def test_many_runs_are_summed_up_in_a_last_column() -> None:
    row = msgspec.structs.replace(r.MISS, outcomes={"H": ["failed"] * 10 + ["passed"] * 40 + ["failed"]})
    found = matrix(msgspec.structs.replace(r.EMPTY, tests=[row]))
    kinds = [found["kinds"][kind] for kind in found["rows"][0][2]]
    assert len(kinds) == 11
    assert kinds[-1] == ["+41", "40 passed, 1 failed", "bad"]


def test_lines_that_differ_are_marked() -> None:
    raised = "E   AssertionError: assert [1] == [2]\nE     \nE     - [2]\nE     + [1]\nE     ?  ^\n"
    where = " +  where 1 = f(2)\n +    and   2 = g()\n+ and a = 1\n"
    text = f"{raised}{where}at x.py:3\n-5 is no sign"
    kinds = {one.text.removeprefix("E").strip(): one.kind for one in htmlview.message(text)}
    assert kinds == {
        "AssertionError: assert [1] == [2]": "raised",
        "- [2]": "gone",
        "+ [1]": "added",
        "?  ^": "hint",
        "+  where 1 = f(2)": "",
        "+    and   2 = g()": "",
        "+ and a = 1": "added",
        "at x.py:3": "",
        "-5 is no sign": "",
        "": "",
    }


def test_a_diff_stands_side_by_side() -> None:
    pairs = htmlview.moved(r.MOVED[1])["pairs"]
    assert [tuple(pair) for pair in pairs] == [
        ("@@ -1,3 +1,3 @@", "", "place"),
        ("same", "same", ""),
        ("old one", "new one", "changed"),
        ("old two", "", "gone"),
        ("end", "end", ""),
    ]


def test_the_report_is_small_enough_to_be_opened() -> None:
    assert len(render(r.large(20_000))) < 3_000_000
