"""HTTP cassettes (vcrpy, betamax): interactions as a client sees them.

Header names are folded, bodies decoded: urllib3 2 made vcrpy store compressed
what it stored plain before, with no other answer (kevin1024/vcrpy#719). A body that
can't be decoded stays the bytes that it is.
"""

from __future__ import annotations

import base64
import binascii
import zlib

from redbucket.core.nodes import Node, Tagged, Unparsable, from_json

_LARGEST_BODY = 32 * 1024 * 1024
_LISTS = ("interactions", "http_interactions")


def is_cassette(node: Node) -> bool:
    """Return whether a parsed document is a recording of HTTP interactions."""
    return isinstance(node, dict) and any(
        isinstance(node.get(key), list)
        and all(isinstance(i, dict) and "request" in i and "response" in i for i in node[key])
        for key in _LISTS
    )


def as_seen(node: Node) -> Node:
    """Return a cassette with folded header names and decoded bodies."""
    key = next(key for key in _LISTS if isinstance(node.get(key), list))
    seen = [
        {name: _message(value) if name in ("request", "response") else value for name, value in each.items()}
        for each in node[key]
    ]
    return {**node, key: seen}


def _message(message: Node) -> Node:
    if not isinstance(message, dict):
        return message
    headers = message.get("headers")
    folded = _folded(headers) if isinstance(headers, dict) else {}
    found = dict(message)
    if isinstance(headers, dict):
        found["headers"] = folded
    if "body" in message:
        found["body"] = _body(message["body"], folded)
    return found


def _folded(headers: dict[str, Node]) -> dict[str, Node]:
    folded: dict[str, Node] = {}
    for name, value in headers.items():
        low = name.lower()
        values = value if isinstance(value, list) else [value]
        before = folded.get(low, [])
        folded[low] = [*before, *values]
    return folded


def _body(body: Node, headers: dict[str, Node]) -> Node:
    raw = _bytes(body)
    if raw is None:
        return body
    encoding = " ".join(str(value) for value in headers.get("content-encoding", ())).lower()
    plain = (
        _inflated(raw) if "gzip" in encoding or "deflate" in encoding or raw.startswith(b"\x1f\x8b") else raw
    )
    try:
        return {"json": from_json(plain)} if plain[:1] in b"{[" and plain else _printed(plain)
    except Unparsable:
        return _printed(plain)


def _bytes(body: Node) -> bytes | None:
    """Return the bytes of a body in any of the recorders' forms."""
    if isinstance(body, dict):
        if "base64_string" in body and isinstance(body["base64_string"], str):
            try:
                return base64.b64decode(body["base64_string"])
            except (binascii.Error, ValueError):
                return None
        body = body.get("string")
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, Tagged) and isinstance(body.value, bytes):
        return body.value
    return None


def _inflated(raw: bytes) -> bytes:
    for window in (31, 15, -15):  # gzip, zlib, bare deflate
        try:
            step = zlib.decompressobj(window)
            plain = step.decompress(raw, _LARGEST_BODY)
        except zlib.error:
            continue
        if step.eof:
            return plain
    return raw


def _printed(plain: bytes) -> Node:
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return Tagged("bytes", plain)
