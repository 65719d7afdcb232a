"""Explicit examples are taken out of a source, and nothing else is."""

from __future__ import annotations

from redbucket.core.explicit import without_examples

HEAD = b"from hypothesis import example, given, settings\nimport hypothesis\n\n\n"
TEST = b"def test(n):\n    assert n  # @example(1)\n"


def test_each_form_of_an_example_is_blanked_out_line_for_line() -> None:
    marks = (
        b"@settings(max_examples=5)\n@example(7)\n@hypothesis.example(\n    8,\n)\n"
        b'@example(9).via("a report")\n@given(st.integers())\n'
    )
    blank = b"@settings(max_examples=5)\n" + b"\n" * 5 + b"@given(st.integers())\n"
    assert without_examples(HEAD + marks + TEST) == HEAD + blank + TEST


def test_what_has_none_stays_as_it_is() -> None:
    for source in (HEAD + b"@given(st.integers())\n" + TEST, b"def broken(:\n", b""):
        assert without_examples(source) == source
