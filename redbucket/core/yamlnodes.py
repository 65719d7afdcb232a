"""YAML as nodes: what PyYAML composes, before it turns ``1``, ``yes`` and dates into Python values."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import yaml

from redbucket.core.nodes import Node, Number, Tagged, Unparsable

_PREFIX = "tag:yaml.org,2002:"
_MOST = 400_000  # nodes: aliases that expand to more are a bomb, not a fixture
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE = frozenset({"yes", "true", "on"})


def documents(text: str) -> list[Node]:
    """Return the documents of a YAML stream. Raises Unparsable."""
    try:
        builder = _Builder()
        return [builder.build(node) for node in yaml.compose_all(text, Loader=_LOADER)]
    except (yaml.YAMLError, RecursionError) as problem:
        raise Unparsable(" ".join(str(problem).split())[:200]) from problem


class _Builder:
    """Builds nodes; an alias is built again at each use, within a limit."""

    def __init__(self) -> None:
        self._made = 0
        self._open: set[int] = set()

    def build(self, node: Any) -> Node:
        self._made += 1
        if self._made > _MOST:
            raise Unparsable(f"more than {_MOST:,} nodes")
        if node is None:
            return None
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node.tag, node.value)
        if id(node) in self._open:
            raise Unparsable("it contains itself")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.build(item) for item in node.value]
            return self._mapping(node)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: Any) -> Node:
        found: dict[str, Node] = {}
        for key, value in node.value:
            name = self.build(key)
            # "1" and 1 are two keys
            text = name if isinstance(name, str) else repr(name)
            if text in found:
                raise Unparsable(f"the key {text!r} stands twice in one mapping")
            found[text] = self.build(value)
        return found


def _scalar(tag: str, value: str) -> Node:
    kind = tag.removeprefix(_PREFIX)
    if kind == "str":
        return value
    if kind in ("int", "float"):
        return Number(value)
    if kind == "null":
        return None
    if kind == "bool":
        return value.lower() in _TRUE
    if kind == "binary":
        try:
            return Tagged("binary", base64.b64decode(value))
        except (binascii.Error, ValueError):
            return Tagged("binary", value)
    return Tagged(kind, value)
