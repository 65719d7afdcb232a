"""From a report to text, JSON, SARIF, JUnit XML or Markdown; pure: a report in, one string out."""

from __future__ import annotations

from collections.abc import Callable

from redbucket.formats import as_json, junit, markdown, sarif, text

FORMATS: dict[str, Callable[..., str]] = {
    "text": text.render,
    "json": as_json.render,
    "sarif": sarif.render,
    "junit": junit.render,
    "markdown": markdown.render,
}
