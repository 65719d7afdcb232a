"""JUnit XML of any producer, streamed by expat.

There is no standard; what is read is what pytest, gotestsum, Jest, Surefire,
nextest, PHPUnit, Mocha, Node and Google Test write. A document type declaration
is refused, so there are no entities to expand and no files to fetch.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from xml.parsers import expat

from redbucket.core.fingerprint import Aligner
from redbucket.core.readers.common import Given, Place, bound, refuse
from redbucket.core.readers.junit_case import Case, to_tests
from redbucket.core.records import Run, Session

EXPECTED = "JUnit XML: <testsuites> or <testsuite> at the root"
MAX_DEPTH = 200
# Begins a nonce that was made of the suites' time stamps: weaker than one that was drawn at random.
TIMESTAMPS = "timestamps "
_TEXT_KEPT = 64_000

# What XML 1.0 (section 2.2) forbids, raw or as a reference: producers copy test output without looking.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ILLEGAL_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,8}));")
_LONGEST_REFERENCE = 12
_DETAIL = frozenset(
    {"failure", "error", "skipped", "flakyFailure", "flakyError", "rerunFailure", "rerunError"}
)
_PRINTED = frozenset({"system-out", "system-err"})
_PRINTED_KEPT = 2_000  # the end of it


class _Stop(Exception):
    """Ends the parse; ``refused`` if the bytes are no record at all."""

    def __init__(self, reason: str, refused: bool) -> None:
        super().__init__(reason)
        self.refused = refused


def read(raw: bytes, place: Place, given: Given) -> Run:
    """Return the run that ``raw`` holds; as ``read_chunks``."""
    return read_chunks(lambda: (raw,), place, given)


def read_chunks(chunks: Callable[[], Iterable[bytes]], place: Place, given: Given) -> Run:
    """Return the run; a document that breaks off keeps the tests before that and is broken.

    ``chunks`` gives the document from its beginning, in pieces, so that a report of gigabytes (of captured
    output) needs no more memory than its tests. Characters that XML forbids are replaced and the document
    is read again: they stand in messages and names and change no structure. Raises ``Misused`` for XML
    that is not JUnit, and for a document type declaration.
    """
    document, damage = _parse(chunks(), place)
    if damage:
        document, damage = _parse(_clean(chunks()), place, "utf-8")
    if not document.rooted:
        raise refuse(place, damage or "it has no root element", EXPECTED)
    tests = to_tests(document.cases, Aligner(), given)
    broken = f"{place.source}: damaged: {damage}" if damage else document.short(place.source)
    return Run(
        run_id=0,
        nonce=f"{TIMESTAMPS}{document.nonce}" if document.nonce else "",
        source=place.source,
        seed=given.seed_or(document.seeds.pop() if len(document.seeds) == 1 else None),
        tests=tests,
        collected=tuple(tests),
        session=Session(runner="pytest" if document.pytest else "junit"),
        broken=broken,
    )


def _parse(chunks: Iterable[bytes], place: Place, encoding: str | None = None) -> tuple[_Document, str]:
    document = _Document()
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.data
    parser.StartDoctypeDeclHandler = document.doctype
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except _Stop as stop:
        where = Place(place.source, parser.CurrentLineNumber, parser.CurrentByteIndex)
        if stop.refused:
            raise refuse(where, str(stop), EXPECTED) from None
        return document, f"line {where.line}, byte {where.byte}: {stop}"
    except expat.ExpatError as error:
        return document, f"line {error.lineno}, byte {parser.ErrorByteIndex}: {expat.ErrorString(error.code)}"
    except (ValueError, LookupError) as error:  # an encoding that Python does not know or can't use
        return document, f"byte {parser.CurrentByteIndex}: {error}"
    return document, ""


def _clean(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the document in UTF-8, without the characters that XML forbids, raw or as a reference."""
    decoder: codecs.IncrementalDecoder | None = None
    held = ""
    for chunk in chunks:
        decoder = decoder or _decoder(chunk)
        text = held + decoder.decode(chunk)
        # a reference may be cut in two by the end of the piece
        start = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
        text, held = (text, "") if start < 0 else (text[:start], text[start:])
        yield _cleaned(text).encode("utf-8", "replace")
    if decoder is not None:
        yield _cleaned(held + decoder.decode(b"", True)).encode("utf-8", "replace")


def _decoder(first: bytes) -> codecs.IncrementalDecoder:
    """Return what reads the encoding that the document begins with; raises LookupError for one that is unknown."""
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        name = "utf-16"
    else:
        declared = re.match(rb"""\s*<\?xml[^>]*?encoding=["']([\w.-]+)["']""", first[:200])
        name = declared[1].decode("ascii") if declared else "utf-8"
    decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder(name)("replace")
    return decoder


def _cleaned(text: str) -> str:
    return _ILLEGAL_REFERENCE.sub(_reference, _ILLEGAL.sub("\ufffd", text))


def _reference(match: re.Match[str]) -> str:
    number = int(match[1], 16) if match[1] else int(match[2])
    if number > 0x10FFFF or _ILLEGAL.match(chr(number)):
        return "?"
    return match[0]


class _Document:
    """What was read so far."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.seeds: set[str] = set()
        self.suites: list[str] = []
        self.rooted = False
        self.pytest = False
        self.nonce = ""
        self._path: tuple[str, ...] = ()
        self._scopes: list[dict[str, str]] = []  # the properties of each open suite, with those around it
        self._depth = 0
        self._declared = self._errors = 0
        self._case: Case | None = None
        self._case_depth = 0
        self._text: list[str] | None = None
        self._size = 0
        self._printed: str | None = None

    def doctype(self, *_: object) -> None:
        """Refuse: entities are how a small file becomes a large one, or reads another."""
        raise _Stop("it has a document type declaration, which is refused", refused=True)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take an opening tag."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Stop(f"elements are nested more than {MAX_DEPTH} deep", refused=False)
        if ":" in name:
            name = name.rpartition(":")[2]
        if not self.rooted:
            self._root(name, attributes)
        if name == "testcase" and self._case is None:
            self._case = Case(attributes, self._path, self.pytest, self._scopes[-1])
            self._case_depth = self._depth
        elif name in ("testsuite", "testsuites"):
            self._suite(attributes)
        elif self._case is not None and name in _DETAIL and self._depth == self._case_depth + 1:
            self._case.detail(name, attributes)
            self._text, self._size = [], 0
        elif self._case is not None and name in _PRINTED and self._depth == self._case_depth + 1:
            self._printed = ""
        elif name == "property":
            self._property(attributes.get("name", ""), attributes.get("value", ""))

    def _property(self, name: str, value: str) -> None:
        """Keep what is used; a Surefire report holds hundreds of system properties."""
        if name not in ("TEST_SEED", "fixture_hash", "go.version"):
            return
        if self._case is not None:
            self._case.properties = {**self._case.properties, name: value}
        elif self._scopes:
            self._scopes[-1][name] = value
        if name == "TEST_SEED":
            self.seeds.add(value)

    def _root(self, name: str, attributes: dict[str, str]) -> None:
        if name not in ("testsuite", "testsuites"):
            raise _Stop(f"the root element is <{bound(name, 80)}>", refused=True)
        self.rooted = True
        # mocha-junit-reporter counts tests that are pending, and writes none of them
        self._declared = _number(attributes.get("tests")) - _number(attributes.get("skipped"))
        self._errors = _number(attributes.get("errors"))

    def _suite(self, attributes: dict[str, str]) -> None:
        suite = attributes.get("name", "")
        self.suites.append(suite)
        self._path = tuple(filter(None, self.suites))
        self._scopes.append(dict(self._scopes[-1]) if self._scopes else {})
        self.pytest = self.pytest or suite in ("pytest", "pytest tests")
        if attributes.get("timestamp") and len(self.nonce) < 2_000:
            self.nonce += attributes["timestamp"] + attributes.get("time", "") + ";"

    def data(self, text: str) -> None:
        """Take text; only a detail's is kept, and the end of what was printed, no more than is shown."""
        if self._printed is not None:
            self._printed = (self._printed + text)[-_PRINTED_KEPT:]
        if self._text is not None and self._size < _TEXT_KEPT:
            self._text.append(text[: _TEXT_KEPT - self._size])
            self._size += len(text)

    def end(self, name: str) -> None:
        """Take a closing tag."""
        self._depth -= 1
        case = self._case
        if case is not None:
            if self._depth == self._case_depth - 1:
                self.cases.append(case)
                self._case = None
            elif self._depth == self._case_depth and self._text is not None:
                case.text(bound("".join(self._text)))
                self._text = None
            elif self._depth == self._case_depth and self._printed is not None:
                case.printed(self._printed)
                self._printed = None
        elif name.rpartition(":")[2] in ("testsuite", "testsuites") and self.suites:
            self.suites.pop()
            self._scopes.pop()
            self._path = tuple(filter(None, self.suites))

    def short(self, source: str) -> str:
        """Return that the root announces more tests than the document holds, or ""."""
        # Surefire counts each attempt of a rerun test
        held = len(self.cases) + sum(len(case.attempts) for case in self.cases)
        if held < self._declared:
            return f"{source}: it announces {self._declared} tests and holds {len(self.cases)}"
        # gotestsum counts each line of what the compiler says, and the tests of that package are not in the report
        if self._errors and any("go.version" in case.properties for case in self.cases[:1]):
            return f"{source}: not all packages could be built"
        return ""


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
