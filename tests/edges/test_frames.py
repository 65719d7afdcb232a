"""Frames on a pipe: whole or not at all, whoever cuts them and wherever."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redbucket.edges.frames import MAGIC, Gone, Reader, Writer

FRAMES = st.lists(
    st.tuples(st.sampled_from([b"Q", b"B", b"E", b"R"]), st.integers(0, 2**64 - 1), st.binary(max_size=300)),
    max_size=8,
)


def through(data: bytes) -> Reader:
    """A reader of a pipe that holds ``data`` and is closed."""
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return Reader(read)


def bytes_of(frames: list[tuple[bytes, int, bytes]]) -> bytes:
    read, write = os.pipe()
    writer = Writer(write)
    for frame in frames:
        writer.send(*frame)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        return stream.read()


@given(FRAMES, st.data())
def test_what_goes_in_comes_out_as_far_as_it_came(
    frames: list[tuple[bytes, int, bytes]], data: st.DataObject
) -> None:
    raw = bytes_of(frames)
    cut = data.draw(st.integers(0, len(raw)))
    reader = through(b"Welcome to the box\n" + MAGIC + raw[:cut])
    seen = []
    try:
        reader.skip_to(MAGIC, 1000, 5)
        while True:
            seen.append(tuple(reader.frame(5)))
    except Gone:
        pass
    os.close(reader._fd)
    assert seen == frames[: len(seen)]
    if cut == len(raw):
        assert seen == frames


def test_silence_and_nonsense() -> None:
    read, write = os.pipe()
    with pytest.raises(Gone, match="silent"):
        Reader(read).frame(0.05)
    os.write(write, b"Q" + b"\xff" * 12)
    with pytest.raises(Gone, match="no sense"):
        Reader(read).frame(1)
    os.write(write, b"x" * 200)
    with pytest.raises(Gone, match="something else"):
        Reader(read).skip_to(MAGIC, 100, 1)
    os.close(read)
    with pytest.raises(Gone):
        Writer(write).send(b"Q", 1, b"x")
    os.close(write)


def test_a_writer_that_is_shut_writes_nothing_to_whoever_has_its_number() -> None:
    read, write = os.pipe()
    writer = Writer(write)
    writer.shut()
    with pytest.raises(Gone):
        writer.send(b"P")
    os.close(write)
    assert os.read(read, 10) == b""
    os.close(read)


def test_many_threads_write_whole_frames() -> None:
    read, write = os.pipe()
    writer, reader = Writer(write), Reader(read)
    threads = [
        threading.Thread(target=lambda n=n: [writer.send(b"E", n, bytes([n]) * 5000) for _ in range(20)])
        for n in range(5)
    ]
    for thread in threads:
        thread.start()
    for _ in range(100):
        frame = reader.frame(10)
        assert frame.data == bytes([frame.call]) * 5000
    for thread in threads:
        thread.join()
    os.close(read)
    os.close(write)
