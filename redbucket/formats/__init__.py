"""From a report to text, JSON, SARIF, JUnit XML, Markdown, annotations or HTML; pure: a report in, one string out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast


def _of(module: str) -> Callable[..., str]:
    """Return the ``render`` of a module that is imported when it is asked for: a hook that accepts says nothing."""

    def render(*args: object, **options: object) -> str:
        return cast("str", import_module(f"{__name__}.{module}").render(*args, **options))

    return render


FORMATS: dict[str, Callable[..., str]] = {
    "text": _of("text"),
    "json": _of("as_json"),
    "sarif": _of("sarif"),
    "junit": _of("junit"),
    "markdown": _of("markdown"),
    "html": _of("html"),
    "github": _of("github"),
}
