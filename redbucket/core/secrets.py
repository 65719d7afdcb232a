"""Secrets in a recorded fixture: by what providers put before their tokens, and by the names of fields and headers.

Only where and of what kind is ever said, never a part of the value. What was masked (see ``masks``) passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from redbucket.core.cassettes import as_seen, is_cassette
from redbucket.core.masks import bare, is_password, is_random
from redbucket.core.nodes import Node, Tagged, Unparsable, from_json, parser_of

LARGEST = (
    8 * 1024 * 1024
)  # of a document that is parsed; of a larger one the beginning is looked through as text
_MOST = 200

# What providers' tokens begin with, as their own documentation or secret scanners' public lists say.
_TOKENS: tuple[tuple[str, str, str], ...] = (  # kind, a text that it can't be without, pattern
    ("AWS access key id", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    ("AWS access key id", "ASIA", r"\bASIA[0-9A-Z]{16}\b"),
    ("GitHub token", "gh", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    ("GitHub token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("GitLab token", "gl", r"\bgl(?:pat|dt|rt|ptt|oas)-[\w-]{20,}"),
    ("Slack token", "xox", r"\bxox[abeoprs]-[\w-]{10,}"),
    ("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/T\w{6,}/B\w{6,}/\w{16,}"),
    ("Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{16,}\b"),
    ("Google API key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    ("Google OAuth token", "ya29.", r"\bya29\.[\w-]{20,}"),
    ("Google OAuth secret", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[\w-]{32,}"),
    ("OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9][\w-]{31,}"),
    ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    ("Twilio key", "SK", r"\bSK[0-9a-f]{32}\b"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("package index token", "pypi-AgE", r"\bpypi-AgE[\w-]{50,}"),
    ("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    ("Azure storage key", "AccountKey=", r"\bAccountKey=[A-Za-z0-9+/]{80,}={0,2}"),
    ("Discord webhook", "/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{40,}"),
    ("Telegram bot token", ":AA", r"\b\d{8,10}:AA[\w-]{33}\b"),
)
_TOKEN = tuple((kind, literal, re.compile(pattern)) for kind, literal, pattern in _TOKENS)
_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\\nr]*[A-Za-z0-9+/=:,\-\s\\]{100}")
_JWT = re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}")

_HEADERS = frozenset(
    {
        *("authorization", "proxy-authorization", "cookie", "set-cookie", "private-token", "x-vault-token"),
        *(
            "x-api-key",
            "api-key",
            "apikey",
            "x-auth-token",
            "x-access-token",
            "x-goog-api-key",
            "x-csrf-token",
        ),
        *("x-amz-security-token", "x-shopify-access-token", "x-functions-key", "ocp-apim-subscription-key"),
    }
)
_FIELD = re.compile(
    r"(?:[\w.-]*[_.-])?(?:api[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|session[_-]?token"
    r"|(?:client|consumer|app)?[_-]?secret|secret[_-]?(?:access[_-]?)?key|private[_-]?key|bearer[_-]?token|accesstoken|refreshtoken)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"(?:[\w.-]*[_.-])?(?:password|passwd|passphrase)", re.IGNORECASE)
# Cookies that balance load, count visitors or tell bots: no login.
_HARMLESS_COOKIES = re.compile(
    r"__cf_?\w*|cf_\w+|_cfuvid|_ga\w*|_gid|nid|1p_jar|consent|awsalb\w*|visid_incap\w*|incap_ses\w*|nlbi_\w+"
    r"|ak_bmsc|bm_\w+|datadome|_dd_s|edgebucket|loid\w*|csv|session_tracker|token_v2_exp|arraffinity\w*|bigip\w*"
    r"|visitor\w*|_octo|tz|lang\w*|locale",
    re.IGNORECASE,
)
# In a text that is no document: a name that may be telling (each of the above ends so), and what stands behind it:
# "name": value, name=value, ('name', 'value'), <name>value; quotes may be escaped, as where a text holds JSON in JSON.
_TEXT_NAME = re.compile(
    r"(?<![\w.-])([\w.-]{0,60}(?:key|token|secret|password|passwd|passphrase|authorization|cookie))"
    r"(?:(?:\\*[\"'])?\s*(?:=>|[:=>])\s*|\\*[\"']\s*,\s*)(?:b?\\*[\"'])?",
    re.IGNORECASE,
)
_TEXT_VALUE = re.compile(r"((?:(?:Bearer|Basic|token)\s+)?[^\s\"',;<>&\\]{8,})", re.IGNORECASE)
_TEXT_COOKIES = re.compile(r"[^\"'<>\\]{8,}")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")  # code that makes or reads the value
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>\\^`{}|]+", re.IGNORECASE)
_PACKED = (b"PK", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_NESTED = 3  # documents in strings of documents, archives in archives
_LONGEST_NAME = 60


class Secret(NamedTuple):
    """One secret: its kind, where it is in words, and a digest to know it again; ``sure`` if it can be nothing else."""

    kind: str
    place: str
    digest: str
    sure: bool = True


def secrets(path: str, raw: bytes) -> list[Secret]:
    """Return the secrets in a fixture, each once, the first place of each."""
    found: dict[str, Secret] = {}
    for secret in _all(path, raw):
        found.setdefault(secret.digest, secret)
        if len(found) == _MOST:
            break
    return list(found.values())


def _all(path: str, raw: bytes, depth: int = 0) -> Iterator[Secret]:
    inside = _members(raw) if depth < _NESTED else None
    if inside is not None:
        for name, data in inside.items():
            where = f"{_shown(name.rpartition('/')[2])}: " if name else ""
            for each in _all(name or path.rpartition(".")[0], data, depth + 1):
                yield each._replace(place=where + each.place)
        return
    node = _parsed(path, raw)
    if node is not None:
        for place, name, text in _strings(node, "", ""):
            yield from _of_value(place, name, text)
        return
    text = raw[:LARGEST].decode("utf-8", "replace")
    # line numbers are the place of what is no document
    has_token = any(_tokens("", text))
    for number, line in enumerate(text.split("\n"), start=1):
        place = f"line {number}"
        if has_token:
            yield from _tokens(place, line)
        yield from _of_line(place, line)
    yield from _keys("the text", text)


def _members(raw: bytes) -> dict[str, bytes] | None:
    if not raw.startswith(_PACKED) and raw[257:262] != b"ustar":
        return None
    # late: the modules for archives are a tenth of a hook's start
    from redbucket.core.members import Unopened, members

    try:
        return members(raw)
    except Unopened:
        return None


def _of_line(place: str, line: str) -> Iterator[Secret]:
    """What a line of a text says by names and addresses."""
    for found in _TEXT_NAME.finditer(line):
        name = found[1].lower()
        if not _is_telling(name):
            continue
        if name.endswith("cookie"):
            value = _TEXT_COOKIES.match(line, found.end())
        else:
            value = _TEXT_VALUE.match(line, found.end())
        quoted = line[found.end() - 1] in "\"'"
        if value and (quoted or not _CALL.match(value[0])):
            yield from _of_name(place, name, value[0])
    if "://" in line:
        for url in _URL.finditer(line):
            yield from _of_login(place, url[0])


def _is_telling(name: str) -> bool:
    return bool(name in _HEADERS or _FIELD.fullmatch(name) or _PASSWORD.fullmatch(name))


def _parsed(path: str, raw: bytes) -> Node | None:
    known = parser_of(path)
    if known is None or len(raw) > LARGEST:
        return None
    try:
        node = known[1](raw)
        return as_seen(node) if is_cassette(node) else node
    except (Unparsable, RecursionError):
        return None


def _strings(node: Node, place: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield (pointer, the nearest key above, text) of each string; keys are texts, too."""
    if isinstance(node, dict):
        # HAR, Postman and others: {"name": "Authorization", "value": "..."}
        said = node.get("name", node.get("key")) if "value" in node else None
        for key, value in node.items():
            inner = said if isinstance(said, str) and key == "value" else key
            yield from _strings(value, f"{place}/{_shown(str(key))}", str(inner).lower())
    elif isinstance(node, list):
        yield from _of_list(node, place, name)
    elif isinstance(node, str):
        yield place, name, node
    elif isinstance(node, Tagged):
        text = node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace")
        yield place, name, text


def _of_list(node: list[Node], place: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Headers may be pairs or one after the other, and the rows of a table have their names in the first."""
    columns = _columns(node)
    before: Node = None
    for number, value in enumerate(node):
        inner = _telling(before) or name
        if columns and number and isinstance(value, list):
            for column, cell in enumerate(value):
                own = columns[column] if column < len(columns) else ""
                own = own or (_telling(value[column - 1]) if column else "")
                yield from _strings(cell, f"{place}/{number}/{column}", own or name)
        else:
            yield from _strings(value, f"{place}/{number}", inner)
        before = value


def _columns(rows: list[Node]) -> list[str]:
    """Return the telling names of a table's columns, "" for others; nothing if there is none, or it is no table."""
    first = rows[0] if len(rows) > 1 else None
    if not isinstance(first, list) or not all(isinstance(row, list) for row in rows):
        return []
    names = [_telling(cell) for cell in first]
    # ["Authorization", "..."] is a pair, and no head of a table
    return (
        names
        if any(names) and not any(is_random(bare(cell)) for cell in first if isinstance(cell, str))
        else []
    )


def _telling(node: Node) -> str:
    name = node.strip().lower() if isinstance(node, str) and len(node) <= _LONGEST_NAME else ""
    return name if name and _is_telling(name) else ""


def _shown(key: str) -> str:
    """A key may be the secret itself."""
    return key if len(key) <= 40 and not is_random(key) and not any(_tokens("", key)) else "..."


def _of_value(place: str, name: str, text: str, depth: int = 0) -> Iterator[Secret]:
    yield from _tokens(place, text)
    yield from _keys(place, text)
    yield from _of_name(place, name, text)
    inner = _inner(text) if depth < _NESTED else None
    if inner is not None:
        for at, key, value in _strings(inner, place, name):
            yield from _of_value(at, key, value, depth + 1)
    elif len(text) < 8000 and _URL.fullmatch(text):
        yield from _of_login(place, text)
        for field, value in _fields(text.partition("?")[2].partition("#")[0]):
            yield from _of_name(f"{place} ?{_shown(field)}", field.lower(), value)
    elif "=" in text and "&" in text and len(text) < 100_000 and not re.search(r"\s", text):
        for field, value in _fields(text):
            yield from _of_name(f"{place} {_shown(field)}", field.lower(), value)
    else:
        for line in text.split("\n"):
            yield from _of_line(place, line)


def _fields(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query)
    except ValueError:  # more fields than Python takes
        return []


def _inner(text: str) -> Node | None:
    """Return the document that a string holds, None if it holds none."""
    if text[:64].lstrip()[:1] not in ("{", "[") or len(text) > LARGEST:
        return None
    try:
        return from_json(text.encode("utf-8", "surrogatepass"))
    except (Unparsable, RecursionError):
        return None


def _of_login(place: str, url: str) -> Iterator[Secret]:
    try:
        password = unquote(urlsplit(url).password or "")
    except ValueError:
        return
    if is_password(password):
        yield _secret("password in a URL", place, password)


def _tokens(place: str, text: str) -> Iterator[Secret]:
    for kind, literal, pattern in _TOKEN:
        if literal in text:
            for match in pattern.finditer(text):
                tail = re.sub(r"^[A-Za-z0-9]{2,10}[_.-]", "", match[0])
                if not _looks_made_up(tail):
                    yield _secret(kind, place, match[0])
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if not _looks_made_up(match[0].rpartition(".")[2]):
                yield _secret("JSON web token", place, match[0], sure=False)


def _looks_made_up(tail: str) -> bool:
    return bool(
        re.search(
            r"example|x{6,}|redact|0{8,}|\*{4,}|1234567|abcdefg|dummy|fake|placeholder", tail, re.IGNORECASE
        )
    ) or len(set(tail)) <= max(4, len(tail) // 8)


def _keys(place: str, text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" in text:
        for match in _KEY.finditer(text):
            yield _secret("private key", place, match[0], sure=False)


def _of_name(place: str, name: str, text: str) -> Iterator[Secret]:
    if name in ("cookie", "set-cookie"):
        yield from _cookies(place, text)
    elif name in _HEADERS:
        value = bare(text)
        if is_random(value) or (text[:6].lower() == "basic " and is_password(value)):
            yield _secret(f"{name} header", place, value)
    elif _FIELD.fullmatch(name):
        if is_random(bare(text)) and "\n" not in text.strip():
            yield _secret(f"field {_shown(name)}", place, bare(text))
    elif _PASSWORD.fullmatch(name) and is_password(text) and is_random(text.ljust(12, text[-1:])):
        yield _secret(f"field {_shown(name)}", place, text)


def _cookies(place: str, text: str) -> Iterator[Secret]:
    for part in text.split(";"):
        name, equals, value = part.strip().partition("=")
        if equals and len(value) >= 16 and is_random(value) and not _HARMLESS_COOKIES.fullmatch(name):
            if name.lower() in ("expires", "path", "domain", "max-age", "samesite"):
                continue
            yield _secret(f"cookie {_shown(name)}", place, value)


def _secret(kind: str, place: str, value: str, *, sure: bool = True) -> Secret:
    return Secret(kind, place or "/", sha256(value.encode("utf-8", "surrogatepass")).hexdigest(), sure)
