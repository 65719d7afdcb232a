"""Writes the ledger as Parquet, a file for each kind, where pyarrow is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from redbucket.core.errors import Misused
from redbucket.edges.ledger import Ledger, plain
from redbucket.edges.ledgerschema import TABLES


def write(ledger: Ledger, folder: Path) -> Iterator[Path]:
    """Write a file for each kind that there is anything of, and yield its path. Raises Misused "no-pyarrow"."""
    try:
        import pyarrow  # type: ignore[import-not-found,unused-ignore]
        from pyarrow import parquet  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise Misused(
            "no-pyarrow", "pyarrow is not installed", "pip install pyarrow, or export JSON Lines"
        ) from error
    folder.mkdir(exist_ok=True)
    for kind in TABLES:
        found = [plain(one) for one in ledger.every(kind)]
        if found:
            path = folder / f"{kind}.parquet"
            parquet.write_table(pyarrow.Table.from_pylist(found), path)
            yield path
