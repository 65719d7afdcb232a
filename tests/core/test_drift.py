"""What kind of change a fixture underwent."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import time
import zipfile
from collections.abc import Callable

import pytest

from redbucket.core import members as inside
from redbucket.core.drift import Change, Drift, Side, change_of
from redbucket.core.nodediff import ABSENT, shown, written
from redbucket.core.nodes import Tagged
from redbucket.core.policy import Volatile


def change(
    old: bytes | str | None, new: bytes | str | None, path: str = "a.json", *rules: Volatile
) -> Change:
    one, other = (data.encode() if isinstance(data, str) else data for data in (old, new))
    return change_of(path, one, other, rules)


def places(found: Change) -> list[str]:
    return [written(moved.pointer) for moved in found.moved]


# --- values that libraries take for equal


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"a": 1}', '{"a": 1.0}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 0}', '{"a": false}'),
        ('{"a": null}', '{"a": "null"}'),
        ('{"a": 0.0}', '{"a": -0.0}'),
        ('{"a": 1e2}', '{"a": 100.0}'),
        ('{"a": 1.10}', '{"a": 1.1}'),
        ('{"a": 12345678901234567890123}', '{"a": 12345678901234567890124}'),
        ('{"a": NaN}', '{"a": null}'),
    ],
)
def test_json_values_of_another_type_or_text_differ(old: str, new: str) -> None:
    found = change(old, new)
    assert (found.drift, places(found), found.form) == (Drift.PAYLOAD, ["/a"], "JSON")


def test_types_differ_in_lists_too() -> None:
    found = change("[0,1]", "[false,1]")
    assert (found.drift, places(found)) == (Drift.PAYLOAD, ["/0"])


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.json", '{"a":1,"b":2}', '{"b": 2,\n "a": 1}\n'),
        ("a.json", '"\\u00e9"', '"\u00e9"'),
        ("a.yaml", "a: 'x'\nb: [1, 2]\n", 'b:\n- 1\n- 2\na: "x"\n'),
        ("a.yml", "text: a b\n", "text: a\n  b\n"),  # dumpers wrap differently
        ("a.toml", "a = 1\n", "a   = 1 # one\n"),
        ("a.csv", 'a,b\n1,"2"\n', "a,b\n1,2\n"),
        ("a.jsonl", '{"a":1}\n{"a":2}\n', '{ "a": 1 }\n\n{ "a": 2 }\n'),
        ("snapshot", '{"a":1}', '{"a": 1}'),
    ],
)
def test_only_the_representation(path: str, old: str, new: str) -> None:
    assert change(old, new, path).drift is Drift.REPRESENTATION


@pytest.mark.parametrize(
    ("path", "old", "new", "where"),
    [
        ("a.yaml", "a: 1\n", "a: '1'\n", "/a"),
        ("a.yaml", "a: 1\n", "a: 1.0\n", "/a"),
        ("a.yaml", "a: 1\n", "a: true\n", "/a"),
        ("a.yaml", "a: yes\n", "a: 'yes'\n", "/a"),
        ("a.yaml", "a: 2024-01-01\n", "a: '2024-01-01'\n", "/a"),
        ("a.yaml", "a: !!binary eA==\n", "a: !!binary eQ==\n", "/a"),
        ("a.yaml", "a: 1\n---\nb: 1\n", "a: 1\n---\nb: 2\n", "/1/b"),
        ("a.toml", "a = 1\n", "a = 1.0\n", "/a"),
        ("a.toml", "a = 1\n", "a = true\n", "/a"),
        ("a.toml", "a = 2024-01-01\n", 'a = "2024-01-01"\n', "/a"),
        ("a.csv", "a,b\n1,2\n", "a,b\n1,3\n", "/1/1"),
        ("a.tsv", "a\tb\n", "a\tc\n", "/0/1"),
    ],
)
def test_other_formats_are_as_strict(path: str, old: str, new: str, where: str) -> None:
    found = change(old, new, path)
    assert (found.drift, places(found)) == (Drift.PAYLOAD, [where])


def test_insertions_deletions_and_keys() -> None:
    rows = [{"id": n, "name": f"n{n}"} for n in range(50)]
    found = change(json.dumps(rows), json.dumps([{"id": "new"}, *rows]))
    assert [(written(m.pointer), m.old) for m in found.moved] == [("/0", ABSENT)]
    found = change(json.dumps(rows), json.dumps(rows[:20] + rows[21:]))
    assert [(written(m.pointer), m.new) for m in found.moved] == [("/20", ABSENT)]
    found = change('{"a/b": 1, "c~d": 2}', '{"a/b": 2}')
    assert places(found) == ["/a~1b", "/c~0d"]


@pytest.mark.parametrize(
    ("path", "old", "new", "word"),
    [
        ("a.json", '{"a": 1}', '{"a": 1, "a": 2}', "stands twice"),
        ("a.yaml", "a: 1\n", "a: 1\na: 2\n", "stands twice"),
        ("a.json", '{"a": 1}', '{"a": 1', "not JSON"),
        ("a.json", "[]", "[" * 100_000 + "]" * 100_000, "not JSON"),
        ("a.yaml", "a: 1\n", "a: [1\n", "not YAML"),
        ("a.yaml", "a: 1\n", "a: &x [*x]\n", "contains itself"),
        ("a.toml", "a = 1\n", "a = \n", "not TOML"),
        ("a.json", '{"a": 1}', b'{"a": "\xff"}', "UTF-8"),
    ],
)
def test_what_can_not_be_parsed_is_opaque(path: str, old: str, new: str | bytes, word: str) -> None:
    found = change(old, new, path)
    assert found.drift is Drift.OPAQUE and word in found.said


def test_aliases_that_expand_without_end() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    began = time.monotonic()
    assert change("a: 1\n", bomb, "a.yaml").drift is Drift.OPAQUE
    assert time.monotonic() - began < 30


# --- the other classes


def test_the_plain_classes() -> None:
    assert change("x", "x").drift is Drift.SAME
    assert change(None, "x").drift is Drift.ADDED
    assert change("x", None).drift is Drift.GONE
    assert change("a\nb\n", "a\r\nb\r\n", "a.txt").drift is Drift.LINE_ENDS
    assert change('{"a":1}\n', '{"a":1}\r\n').drift is Drift.LINE_ENDS
    assert change("a\n", "a\r", "a.txt").drift is Drift.PAYLOAD
    assert change("a\n", "b\n", "a.txt").drift is Drift.PAYLOAD
    assert change(b"\0a", b"\0b", "a.bin").drift is Drift.OPAQUE
    elsewhere = Side(1, "a" * 64, here=False)
    assert change_of("a.json", b"[1]", elsewhere).drift is Drift.ABSENT
    assert change_of("a.json", b"[1]", Side(3, Side.of(b"[1]").sha256, here=False)).drift is Drift.SAME
    # a pointer that nobody replaced is a text; whether LFS does, its path's attributes say
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1\n"
    assert change("a\n", pointer, "a.txt").drift is Drift.PAYLOAD
    assert change('{"a": 1}', "/annex/objects/SHA256E-s2--abc.json\n").drift is Drift.ABSENT


# --- volatile places

DATE = Volatile(pointer="/**/date", grammar="http-date")
IDS = Volatile(pointer="/**/id", grammar="uuid")
ONE, TWO = "Tue, 01 Oct 2024 10:00:00 GMT", "Wed, 02 Oct 2024 10:00:01 GMT"
THREE = "Thu, 03 Oct 2024 10:00:01 GMT"
U1, U2, U3 = (f"{n}23e4567-e89b-42d3-a456-426614174000" for n in "123")


def test_a_declared_place_may_move_within_its_grammar() -> None:
    assert change(
        json.dumps({"h": {"Date": ONE}}), json.dumps({"h": {"Date": TWO}}), "a.json", DATE
    ).drift is (Drift.VOLATILE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"date": ONE}, {"date": "yesterday"}),  # not in the grammar
        ({"date": ONE, "n": 1}, {"date": TWO, "n": 2}),  # something else, too
        ({"date": ONE}, {}),  # a key is gone
        ({"date": [ONE]}, {"date": [TWO, TWO]}),  # longer
        ({"other": ONE}, {"other": TWO}),  # not declared
        ({"date": 1}, {"date": ONE}),  # another type
    ],
)
def test_what_goes_beyond_the_rule_is_payload(old: object, new: object) -> None:
    assert change(json.dumps(old), json.dumps(new), "a.json", DATE).drift is Drift.PAYLOAD


def test_equal_values_must_move_together() -> None:
    old = {"a": {"id": U1}, "b": {"id": U1}, "ref": U3}
    assert change(
        json.dumps(old), json.dumps({**old, "a": {"id": U2}, "b": {"id": U2}}), "a.json", IDS
    ).drift is (Drift.VOLATILE)
    assert change(json.dumps(old), json.dumps({**old, "a": {"id": U2}}), "a.json", IDS).drift is Drift.PAYLOAD
    split = {**old, "a": {"id": U2}, "b": {"id": U3}}
    assert change(json.dumps(old), json.dumps(split), "a.json", IDS).drift is Drift.PAYLOAD
    kept = {**old, "ref": U1}
    moved = {"a": {"id": U2}, "b": {"id": U2}, "ref": U1}
    assert change(json.dumps(kept), json.dumps(moved), "a.json", IDS).drift is Drift.PAYLOAD


def test_two_ids_stay_two_and_two_moments_may_meet() -> None:
    rules = (IDS, DATE, Volatile(pointer="/**/etag", grammar="etag"))

    def drift(old: object, new: object) -> Drift:
        return change(json.dumps(old), json.dumps(new), "a.json", *rules).drift

    two = [{"id": U1}, {"id": U2}]
    assert drift(two, [{"id": U3}, {"id": U3}]) is Drift.PAYLOAD
    assert drift(two, [{"id": U2}, {"id": U2}]) is Drift.PAYLOAD  # the other kept its own
    assert drift(two, [{"id": U2}, {"id": U1}]) is Drift.VOLATILE
    assert drift([*two, {"ref": U3}], [{"id": U3}, {"id": U2}, {"ref": U3}]) is Drift.PAYLOAD
    assert drift([{"etag": '"a"'}, {"etag": '"b"'}], [{"etag": '"c"'}, {"etag": '"c"'}]) is Drift.PAYLOAD
    assert drift([{"date": ONE}, {"date": TWO}], [{"date": THREE}, {"date": THREE}]) is Drift.VOLATILE


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("200: 1700000000\n", "200: 1700000001\n", "/200"),
        ("a: &x {b: 1}\nc: {<<: *x, d: 1}\n", "a: &x {b: 1}\nc: {<<: {b: 2}, d: 1}\n", "/c/<</b"),
        ("true: 1\nnull: 1\n", "true: 1\nnull: 2\n", "/null"),
        ("2024-01-01: 1\n", "2024-01-01: 2\n", "/2024-01-01"),
        ("? [a, 1]\n: 1\n", "? [a, 1]\n: 2\n", "/[a, 1]"),
        ('"": 1\n', '"": 2\n', "/"),
        ("1\n", "2\n", ""),
    ],
)
def test_pointers_through_keys_that_are_no_strings(old: str, new: str, where: str) -> None:
    found = change(old, new, "a.yaml")
    assert (found.drift, places(found)) == (Drift.PAYLOAD, [where])


def test_a_rule_reaches_a_key_that_is_a_number() -> None:
    rule = Volatile(pointer="/200", grammar="epoch")
    assert change("200: 1700000000\n", "200: 1700000001\n", "a.yaml", rule).drift is Drift.VOLATILE


def test_a_number_and_its_text_are_two_keys() -> None:
    found = change("200: 1\n", '"200": 1\n', "a.yaml")
    assert (found.drift, [(m.old is ABSENT, m.new is ABSENT) for m in found.moved]) == (
        Drift.PAYLOAD,
        [(False, True), (True, False)],
    )
    assert change('200: 1\n"200": 1\n', '"200": 1\n200: 1\n', "a.yaml").drift is Drift.REPRESENTATION
    assert change("200: 1\n200: 1\n", "1: 1\n", "a.yaml").drift is Drift.OPAQUE


def test_bytes_of_one_length_are_told_apart() -> None:
    (moved,) = change("a: !!binary AAE=\n", "a: !!binary AAI=\n", "a.yaml").moved
    assert (shown(moved.old), shown(moved.new)) == ("binary of 2 bytes (00 01)", "binary of 2 bytes (00 02)")
    long = [Tagged("binary", bytes([n]) * 100) for n in (1, 2)]
    assert shown(long[0]) != shown(long[1]) and len(shown(long[0])) < 60


@pytest.mark.parametrize(
    ("old", "new", "drift"),
    [
        ("0x10", "16", Drift.REPRESENTATION),
        # YAML 1.2 reads 17, the text "1_0" and the text "1:30"
        ("017", "15", Drift.PAYLOAD),
        ("1_0", "10", Drift.PAYLOAD),
        ("1:30", "90", Drift.PAYLOAD),
        ("1.0", "1", Drift.PAYLOAD),
    ],
)
def test_numbers_of_yaml_are_equal_where_both_versions_say_so(old: str, new: str, drift: Drift) -> None:
    assert change(f"a: {old}\n", f"a: {new}\n", "a.yaml").drift is drift


@pytest.mark.parametrize(
    ("grammar", "old", "new", "fits"),
    [
        ("http-date", ONE, "Tue, 31 Feb 2024 10:00:00 GMT", False),
        ("http-date", ONE, "Wed, 01 Oct 2024 10:00:00 GMT", False),  # it was a Tuesday
        ("http-date", ONE, "Wed, 02 Oct 2024 25:00:00 GMT", False),
        ("http-date", ONE, "Sat, 31 Dec 2016 23:59:60 GMT", True),
        ("rfc-3339", "2024-01-01T00:00:00Z", "2024-13-01T00:00:00Z", False),
        ("rfc-3339", "2024-01-01T00:00:00Z", "2024-02-29T23:59:59Z", True),
        ("rfc-3339", "2024-01-01T00:00:00Z", "2023-02-29T00:00:00Z", False),
        ("rfc-3339", "2024-01-01T00:00:00Z", "2024-01-02T00:00:00.5+02:00", True),
        ("hex", "deadbeef", "cafebabe", True),
        ("hex", "deadbeef", "cafebabe00", False),
        ("jwt", "eyJhbGciOiJ9.eyJzdWIiOiI5.c2ln", "eyJhbGciOiJ8.eyJzdWIiOiI4.c2lm", True),
        ("epoch", "1700000000", "1700000001", True),
        ("epoch", "17", "18", False),
        ("etag", 'W/"abc"', '"abd"', True),
        ("seconds", "10", "2000", True),
        ("token", "a1b2c3d4-AMS", "a1b2c3d5-LHR", True),
        ("uuid", U1, "not a uuid", False),
    ],
)
def test_grammars(grammar: str, old: str, new: str, fits: bool) -> None:
    rule = Volatile(pointer="/x", grammar=grammar)  # type: ignore[arg-type]
    drift = change(json.dumps({"x": old}), json.dumps({"x": new}), "a.json", rule).drift
    assert (drift is Drift.VOLATILE) == fits


def test_a_rule_counts_for_its_paths_and_pointers_only() -> None:
    old, new = json.dumps({"a": {"x": U1}}), json.dumps({"a": {"x": U2}})
    for pointer, paths, fits in (
        ("/a/x", ("**",), True),
        ("/*/x", ("**",), True),
        ("/A/X", ("**",), True),
        ("/**", ("**",), True),
        ("/x", ("**",), False),
        ("/a/x/y", ("**",), False),
        ("/a/x", ("other/**",), False),
        ("/a/x", ("a.json",), True),
    ):
        rule = Volatile(pointer=pointer, grammar="uuid", paths=paths)
        assert (change(old, new, "a.json", rule).drift is Drift.VOLATILE) == fits, (pointer, paths)


# --- cassettes


def cassette(body: str, *, header: str = "Content-Type", more: str = "") -> str:
    return f"""\
interactions:
- request:
    body: null
    headers: {{Accept: ['*/*']}}
    method: GET
    uri: http://x/
  response:
    body: {{string: {body}}}
    headers:
      {header}: [application/json]
{more}    status: {{code: 200, message: OK}}
version: 1
"""


def binary(data: bytes) -> str:
    import base64

    return "!!binary " + base64.b64encode(data).decode()


def test_a_body_that_is_stored_compressed_is_the_same_body() -> None:
    plain = cassette("'{\"a\": 1}'")
    packed = cassette(binary(gzip.compress(b'{"a": 1}')))
    assert change(plain, packed, "c.yaml").drift is Drift.REPRESENTATION
    other = cassette(binary(gzip.compress(b'{"a": 2}')))
    found = change(plain, other, "c.yaml")
    assert (found.drift, places(found)) == (Drift.PAYLOAD, ["/interactions/0/response/body/json/a"])
    assert found.form == "YAML cassette"


def test_header_names_are_folded_and_bodies_parsed() -> None:
    assert change(cassette("x"), cassette("x", header="content-type"), "c.yaml").drift is Drift.REPRESENTATION
    reordered = change(cassette('\'{"a":1,"b":2}\''), cassette('\'{"b":2,"a":1}\''), "c.yaml")
    assert reordered.drift is Drift.REPRESENTATION


def test_bodies_that_can_not_be_decoded_are_bytes_and_still_differ() -> None:
    one, two = cassette(binary(b"\xff\x00one")), cassette(binary(b"\xff\x00two"))
    found = change(one, two, "c.yaml")
    assert (found.drift, places(found)) == (Drift.PAYLOAD, ["/interactions/0/response/body"])
    broken = cassette("'{\"a\": '")
    assert change(cassette("'{\"a\":'"), broken, "c.yaml").drift is Drift.PAYLOAD


def test_a_cassettes_date_may_be_volatile() -> None:
    rule = Volatile(pointer="/interactions/*/response/headers/date/*", grammar="http-date")
    old = cassette("x", more=f"      Date: ['{ONE}']\n")
    new = cassette("x", more=f"      Date: ['{TWO}']\n")
    assert change(old, new, "c.yaml", rule).drift is Drift.VOLATILE


# --- archives


def zipped(files: dict[str, bytes], year: int = 2020, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), data, method)
    return out.getvalue()


def tarred(files: dict[str, bytes], when: int = 1) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), when
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def as_targz(files: dict[str, bytes], year: int) -> bytes:
    return gzip.compress(tarred(files, year), mtime=year)


def as_gz(files: dict[str, bytes], year: int) -> bytes:
    return gzip.compress(files["a.json"], mtime=year)


@pytest.mark.parametrize("pack", [zipped, tarred, as_targz, as_gz])
def test_archives_are_compared_by_their_members(pack: Callable[..., bytes]) -> None:
    one, same, other = (
        pack({"a.json": data}, year) for data, year in ((b"[1]", 2020), (b"[1]", 2021), (b"[2]", 2020))
    )
    assert change(one, same, "x.bin").drift is Drift.REPRESENTATION
    found = change(one, other, "x.bin")
    assert found.drift is Drift.PAYLOAD and [c.drift for c in found.inside] == [Drift.PAYLOAD]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_opened(pack: Callable[[bytes], bytes]) -> None:
    assert inside.members(pack(b"x" * 100_000)) == {"": b"x" * 100_000}
    with pytest.raises(inside.Unopened):
        inside.members(pack(b"x" * 100_000)[:-6])


def test_members_that_come_and_go() -> None:
    found = change(zipped({"a": b"1", "b": b"2"}), zipped({"a": b"1", "c": b"2"}), "x.npz")
    assert {(c.path, c.drift) for c in found.inside} == {("b", Drift.GONE), ("c", Drift.ADDED)}


@pytest.mark.parametrize("pack", [zipped, tarred, as_targz, as_gz, "bz2", "xz"])
def test_bytes_behind_the_end_of_an_archive_are_opaque(pack: Callable[..., bytes] | str) -> None:
    """Python's gzip raises BadGzipFile, other programs warn, zip readers skip them."""
    files = {"a.json": b"[1]"}
    modules = {"bz2": bz2, "xz": lzma}
    plain = modules[pack].compress(b"[1]") if isinstance(pack, str) else pack(files, 2020)
    found = change(plain, plain + b"EVIL", "x.bin")
    assert found.drift is Drift.OPAQUE and "behind its end" in found.said
    if pack is not zipped:  # padding, which all of them skip
        assert change(plain, plain + bytes(512), "x.bin").drift is Drift.REPRESENTATION
    if pack not in (zipped, tarred):  # two streams are one content
        assert change(plain, plain + plain, "x.bin").drift in (Drift.PAYLOAD, Drift.OPAQUE)


def test_a_tar_with_a_damaged_header_is_opaque() -> None:
    """tarfile stops there and says nothing: what follows would be invisible."""
    good = tarred({"a": b"1", "b": b"2"})
    broken = good[:1024] + b"\xff" * 512 + good[1536:]
    assert change(tarred({"a": b"1"}), broken, "x.tar").drift is Drift.OPAQUE


def packed(*entries: tuple[str, bytes, int, bytes]) -> bytes:
    """A tar of (name, type, mode, content or target)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, mode, data in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, mode
            if kind == tarfile.REGTYPE:
                info.size = len(data)
            else:
                info.linkname = data.decode()
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped_as(name: str, mode: int, data: bytes = b"1") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, data)
    return out.getvalue()


GONE_LINK = {"a": Drift.GONE, "a (symbolic link)": Drift.ADDED}
LINK_HARD = {"a (symbolic link)": Drift.GONE, "a (hard link)": Drift.ADDED}
FILE, LINK, HARD, FOLDER = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize(
    ("old", "new", "inside"),
    [
        (packed(("a", FILE, 0o644, b"1")), packed(("a", FILE, 0o755, b"1")), {"a (mode)": Drift.ADDED}),
        (packed(("a", FILE, 0o644, b"b")), packed(("a", LINK, 0o644, b"b")), GONE_LINK),
        (packed(("a", LINK, 0o644, b"b")), packed(("a", LINK, 0o644, b"c")), {"a (symbolic link)": Drift.PAYLOAD}),
        (packed(("a", LINK, 0o644, b"b")), packed(("a", HARD, 0o644, b"b")), LINK_HARD),
        (tarred({"a": b"1"}), packed(("a", FILE, 0o644, b"1"), ("d", FOLDER, 0o755, b"")), {"d/": Drift.ADDED}),
        (zipped_as("a", 0o100644), zipped_as("a", 0o100755), {"a (mode)": Drift.ADDED}),
        (zipped_as("a", 0o100644), zipped_as("a", 0o120777), GONE_LINK),
        (zipped({"a": b"1"}), zipped({"a": b"1", "d/e/": b""}), {"d/e/": Drift.ADDED}),
    ],
)  # fmt: skip
def test_what_unpacking_would_show_is_payload(old: bytes, new: bytes, inside: dict[str, Drift]) -> None:
    found = change(old, new, "x.bin")
    assert {each.path: each.drift for each in found.inside} == inside
    assert found.drift is Drift.PAYLOAD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # umasks, and folders that some programs make entries of
        (packed(("d/a", FILE, 0o644, b"1")), packed(("d/a", FILE, 0o664, b"1"))),
        (packed(("d/a", FILE, 0o644, b"1")), packed(("d", FOLDER, 0o755, b""), ("d/a", FILE, 0o644, b"1"))),
        (zipped({"d/a": b"1"}), zipped({"d/": b"", "d/a": b"1"})),
        (zipped_as("a", 0o100644), zipped_as("a", 0)),
    ],
)
def test_how_it_was_packed_is_representation(old: bytes, new: bytes) -> None:
    assert change(old, new, "x.bin").drift is Drift.REPRESENTATION


def test_a_zips_comment_counts() -> None:
    out = io.BytesIO(zipped({"a": b"1"}))
    with zipfile.ZipFile(out, "a") as archive:
        archive.comment = b"PK, and what it says"
    (found,) = change(zipped({"a": b"1"}), out.getvalue(), "x.zip").inside
    assert (found.path, found.drift) == ("(comment)", Drift.ADDED)


def test_a_large_content_is_known_by_size_and_checksum() -> None:
    one, other = Side(5, "a" * 64), Side(5, "b" * 64)
    drifts = [
        change_of("a.json", *pair).drift for pair in ((one, one), (one, other), (b"[1]", one), (None, one))
    ]
    assert drifts == [Drift.SAME, Drift.OPAQUE, Drift.OPAQUE, Drift.ADDED]
    assert change_of("a.json", one, other).new == other
    # the same five bytes, once read and once not
    assert change_of("a", b"12345", Side.of(b"12345")).drift is Drift.SAME


def test_bombs_and_damage_are_opaque(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "MOST_BYTES", 1_000_000)
    small = zipped({"a": b"1"})
    for bomb in (zipped({"a": bytes(2_000_000)}), gzip.compress(bytes(2_000_000)), small[:60]):
        found = change(zipped({"a": b"2"}), bomb, "x.zip")
        assert found.drift is Drift.OPAQUE
    monkeypatch.setattr(inside, "MOST_MEMBERS", 3)
    found = change(small, zipped({str(n): b"" for n in range(5)}), "x.zip")
    assert found.drift is Drift.OPAQUE and "members" in found.said


def test_the_walker_is_fast() -> None:
    rows = [
        {"id": n, "name": f"name {n}", "ts": "2024-01-01T00:00:00Z", "tags": ["a", "b"]} for n in range(8000)
    ]
    old = json.dumps(rows)
    new = json.dumps([{**row, "ts": "2025-01-01T00:00:00Z"} for row in rows])
    began = time.process_time()
    assert len(change(old, new).moved) == 8000
    assert time.process_time() - began < 2
