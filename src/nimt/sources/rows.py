"""Rows of text from files of separated values, plain or gzipped, within limits.

Read by the standard library, not by pandas: the limits of `nimt` hold while a hostile file is read, a table means the
same whether or not pandas is installed, and 300,000 rows take about a second.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, TextIO

from nimt.datasets.limits import check_unpacked
from nimt.errors import InvalidInput

LONGEST_LINE = 1 << 20  # characters
MOST_COLUMNS = 10_000
BLOCK = 4096  # rows that are handed out together


def blocks_of(file: Path) -> Generator[tuple[list[list[str]], str], None, None]:
    """Yield rows in blocks with the separator, all as wide as the first; empty lines are left out."""
    with _opened(file) as text:
        lines = _lines_of(text, file)
        try:
            first = next(lines, "")
            separator = max(",;\t", key=first.count)
            if first.count(separator) >= MOST_COLUMNS:
                raise InvalidInput(
                    f"{str(file)!r} has {first.count(separator) + 1} columns, and {MOST_COLUMNS} are the most: leave "
                    f"some out"
                )
            reader = csv.reader(itertools.chain([first], lines), delimiter=separator, strict=True)
            rows = filter(None, reader)
            width, number = None, 1
            while block := list(itertools.islice(rows, BLOCK)):
                width = len(block[0]) if width is None else width
                widths = list(map(len, block))
                if widths.count(width) < len(block):
                    place, found = next((place, found) for place, found in enumerate(widths) if found != width)
                    raise InvalidInput(
                        f"{str(file)!r} has {found} column(s) in row {number + place} and {width} in the first"
                    )
                number += len(block)
                yield block, separator
        except csv.Error as problem:
            raise InvalidInput(f"{str(file)!r} is not a table of comma-separated values ({problem})") from None
        except UnicodeDecodeError as problem:
            byte = problem.object[problem.start]
            raise InvalidInput(
                f"{str(file)!r} is not text in UTF-8 (it holds byte {byte:#x}): save it as such"
            ) from None
        except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
            raise InvalidInput(
                f"{str(file)!r} cannot be unpacked ({problem}): it is damaged or cut short, copy it again"
            ) from None


def _opened(file: Path) -> TextIO:
    if file.suffix.lower() != ".gz":
        return open(file, encoding="utf-8-sig", newline="")
    # counted while it is unpacked: the size that a gzip file declares is that of its last part, and can be wrong
    counted: Any = _Counted(gzip.open(file, "rb"), file)  # noqa: SIM115 (closed with what is returned)
    return io.TextIOWrapper(io.BufferedReader(counted), encoding="utf-8-sig", newline="")


class _Counted(io.RawIOBase):
    """Bytes as they are unpacked; too many are refused."""

    def __init__(self, source: gzip.GzipFile, file: Path) -> None:
        self._source, self._file, self._total = source, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._source.read(len(buffer))
        self._total += len(data)
        check_unpacked(self._total, self._file)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._source.close()
        super().close()


def _lines_of(text: TextIO, file: Path) -> Iterator[str]:
    while block := list(itertools.islice(text, BLOCK)):
        if max(map(len, block)) > LONGEST_LINE:
            raise InvalidInput(
                f"{str(file)!r} has a line of more than {LONGEST_LINE} characters: a table has a row on each line"
            )
        yield from block
