"""A test quantifies over a domain, or restates an example: both errors are bugs."""

from __future__ import annotations

import ast
import warnings

import pytest

from redbucket.core.filescope import read_scope
from redbucket.core.oneexample import Form, Reading, read_test
from tests.core import forms


def reading(source: str) -> Reading:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one of them asserts a tuple
        scope = read_scope(ast.parse(forms.HEAD + "\n" + source))
    name = "TestA.test" if "class TestA" in source else "test"
    found = read_test(scope, name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("form", "source"),
    [
        pytest.param(form, source, id=f"{form.value}: {name}")
        for form, table in (
            (Form.PROPERTY, forms.PROPERTIES),
            (Form.POINT, forms.POINTS),
            (Form.EMPTY, forms.EMPTY),
            (Form.CRASH, forms.CRASH),
            (Form.UNPINNED, forms.UNPINNED),
        )
        for name, source in table.items()
    ],
)
def test_the_form_of_a_test(form: Form, source: str) -> None:
    found = reading(source)
    assert (found.form, found.why) == (form, found.why)
