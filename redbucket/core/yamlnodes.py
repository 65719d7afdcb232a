"""YAML as nodes: what PyYAML composes, before it turns ``1``, ``yes`` and dates into Python values."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import yaml

from redbucket.core.nodes import Node, Number, Tagged, Unparsable

_PREFIX = "tag:yaml.org,2002:"
_MOST = 400_000  # nodes: aliases that expand to more are a bomb, not a fixture
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_HEX = re.compile(r"0x[0-9a-fA-F]+")  # a number in both versions of YAML
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
            text = name if isinstance(name, str) else Key(_kind(name), _as_key(name))
            if text in found:
                raise Unparsable(f"the key {str(text)!r} stands twice in one mapping")
            found[text] = self.build(value)
        return found


class Key(str):
    """A key that is no string: written as it is in a pointer, and yet another one than the string of that text."""

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, kind: str, text: str) -> Key:
        """Make the key ``text``; two keys are one if their kinds are, too."""
        made = super().__new__(cls, text)
        made.kind = kind
        return made

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a key of this kind and text."""
        return isinstance(other, Key) and self.kind == other.kind and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        """Return the contrary; that of ``str`` would not ask for the kind."""
        return not self == other

    def __hash__(self) -> int:
        """Return a hash of both."""
        return hash((self.kind, str.__hash__(self)))


def _kind(node: Node) -> str:
    return node.tag if isinstance(node, Tagged) else type(node).__name__


def _as_key(node: Node) -> str:
    if isinstance(node, Number):
        return node.number
    if isinstance(node, Tagged):
        return node.value if isinstance(node.value, str) else base64.b64encode(node.value).decode("ascii")
    if node is None or isinstance(node, bool):
        return {None: "null", True: "true", False: "false"}[node]
    if isinstance(node, dict):
        return f"{{{', '.join(f'{key}: {_as_key(value)}' for key, value in node.items())}}}"
    if isinstance(node, list):
        return f"[{', '.join(map(_as_key, node))}]"
    return str(node)


def _scalar(tag: str, value: str) -> Node:
    kind = tag.removeprefix(_PREFIX)
    if kind == "str":
        return value
    if kind == "int" and _HEX.fullmatch(value):
        return Number(str(int(value, 16)))
    if kind in ("int", "float"):
        # as it is written: 017, 1_0 and 1:30 are other values in YAML 1.2 than in 1.1
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
