"""What all HTML pages share: a template to extend, with head and policy, and the files beside this one that they name.

A page is one file that needs no network. Names, messages and paths come from the patch's author. Three things stand
between them and the reader: whatever does not print is escaped before (``clean``), the template escapes all of it, and
the policy in the page's head lets no script or style run but those whose hashes it names, and nothing be loaded.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from redbucket import __version__

# What a script element's text must not hold: its own end, a comment, and line ends of JavaScript.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_STYLE = "page.css"


def page(
    template: str, *, styles: Sequence[str] = (), script: str = "", data: Any = None, **values: Any
) -> str:
    """Return a page: ``template`` extends page.html, ``styles`` and ``script`` name files beside this one.

    ``data`` is what the script reads; ``values`` are the template's, harmless by ``clean`` and not marked up.
    """
    style = "".join(_part(name) for name in (_STYLE, *styles))
    code = _part(script) if script else ""
    text = _templates().get_template(template)
    made = text.render(
        policy=_policy(style, code),
        style=Markup(style),  # noqa: S704 (redbucket's own files, not the report)
        script=Markup(code),  # noqa: S704
        data=Markup(_data(data)),  # noqa: S704 (escaped for a script element)
        version=__version__,
        **values,
    )
    return made.rstrip("\n") + "\n"


def _data(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)


def _policy(style: str, script: str) -> str:
    """Return the page's content security policy."""
    run = f"script-src {_hash(script)}; " if script else ""
    return f"default-src 'none'; style-src {_hash(style)}; {run}base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _part(name: str) -> str:
    return resources.files("redbucket.formats").joinpath(name).read_text(encoding="utf-8")


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_part),
    )
