"""Texts of a run without the run's own folder, so that they are the same in every run."""

from __future__ import annotations

from string import ascii_letters, digits

from redbucket.edges.site import Place

_OF_PATHS = f"{ascii_letters}{digits}_./-"


def placeless(text: str, settled: Place) -> str:
    """Return ``text`` with paths of the tree as they are in the repository, and ``<run>`` for the run's folder."""
    place, tree = settled.place, settled.tree
    folder = place.rpartition("/")[2]
    if folder not in text:
        return text
    text = text.replace(f"{tree}/", "")
    # pytest counts its paths from the nearest configuration above the tree, and writes them with dots, too
    for separator in "/.":
        text = _without(text, f"{folder}{separator}{tree.rpartition('/')[2]}{separator}")
    return text.replace(place, "<run>")


def _without(text: str, middle: str) -> str:
    """Return ``text`` without ``middle`` and the part of the path that stands before it, in one pass."""
    *before, last = text.split(middle)
    kept = [part.rstrip(_OF_PATHS) for part in before]
    return "".join([*kept, last])
