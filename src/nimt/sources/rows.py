"""Rows of text from files of separated values, plain or gzipped, within limits.

Read by the standard library and numpy, not by pandas: the limits of `nimt` hold while a hostile file is read, a table
means the same whether or not pandas is installed, and 300,000 rows take about a second.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import io
import itertools
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from nimt.datasets.limits import check_unpacked, check_values
from nimt.errors import InvalidInput

LONGEST_LINE = 1 << 20  # characters
MOST_COLUMNS = 10_000
BLOCK = 4096  # rows that are handed out together
BLOCK_CELLS = 1 << 22  # cells that are, at most


@dataclass(frozen=True)
class Block:
    """Some rows of a file, as text: lines without quotes, which are rows each, or cells that were parsed already."""

    file: Path
    separator: str
    number: int  # of its first row, without empty lines
    width: int | None  # columns of the rows before; None for the first block
    lines: list[str]
    parsed: list[list[str]] | None = None

    def rows(self) -> list[list[str]]:
        """Return the cells of its rows, all of one width; empty lines are left out."""
        rows = self.parsed
        if rows is None:
            rows = list(filter(None, csv.reader(self.lines, delimiter=self.separator, strict=True)))
        widths = list(map(len, rows))
        width = self.width or (widths[0] if widths else 0)
        if widths.count(width) < len(rows):
            place, found = next((place, found) for place, found in enumerate(widths) if found != width)
            raise InvalidInput(
                f"{str(self.file)!r} has {found} column(s) in row {self.number + place} and {width} in the first"
            )
        return rows

    def numbers(self, columns: list[int]) -> NDArray[np.float64] | None:
        """Return some columns (rows, columns) where all their cells are finite numbers; None where one is not.

        numpy reads them four times as fast as they are parsed to cells, and takes the same texts for numbers as
        `cells.numbers_of` does.
        """
        if self.parsed is not None or self.width is None:
            return None
        if {line.count(self.separator) for line in self.lines} != {self.width - 1}:
            return None
        lines = self.lines if self.separator == "," else [line.replace(",", ".") for line in self.lines]
        try:
            found = np.loadtxt(lines, delimiter=self.separator, comments=None, usecols=columns, ndmin=2)
        except ValueError:
            return None
        return found if len(found) == len(lines) and not np.isinf(found).any() else None


def blocks_of(file: Path) -> Generator[Block, None, None]:
    """Yield the rows of a file in blocks."""
    with _opened(file) as text:
        blocks = _lines_of(text, file)
        first = next(blocks, [])
        if not first:
            return
        separator = max(",;\t", key=first[0].count)
        if first[0].count(separator) >= MOST_COLUMNS:
            raise InvalidInput(
                f"{str(file)!r} has {first[0].count(separator) + 1} columns, and {MOST_COLUMNS} are the most: leave "
                f"some out"
            )
        number, width = 1, None
        for lines in itertools.chain([first], blocks):
            if any('"' in line for line in lines):  # a cell in quotes may go on in the next line, or the next block
                rest = itertools.chain(lines, itertools.chain.from_iterable(blocks))
                found = filter(None, csv.reader(rest, delimiter=separator, strict=True))
                while parsed := list(itertools.islice(found, _rows_together(first[0]))):
                    yield Block(file, separator, number, width, [], parsed)
                    width = width or len(parsed[0])
                    number += len(parsed)
                    check_values(number * width, file)
                return
            block = Block(file, separator, number, width, lines)
            yield block
            if width is None or not {"\n", "\r\n", "\r"}.isdisjoint(lines):
                rows = block.rows()
                width, number = width or (len(rows[0]) if rows else None), number + len(rows)
            else:
                number += len(lines)
            check_values(number * (width or 1), file)


def _rows_together(line: str) -> int:
    """Return how many rows make a block in a file that begins with this line."""
    return min(BLOCK, 1 + BLOCK_CELLS // (1 + max(map(line.count, ",;\t"))))


@contextlib.contextmanager
def readable_text(file: Path) -> Iterator[None]:
    """Turn what is wrong with the text of a file into a sentence."""
    try:
        yield
    except csv.Error as problem:
        raise InvalidInput(f"{str(file)!r} is not a table of comma-separated values ({problem})") from None
    except UnicodeDecodeError as problem:
        byte = problem.object[problem.start]
        raise InvalidInput(f"{str(file)!r} is not text in UTF-8 (it holds byte {byte:#x}): save it as such") from None
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


def _lines_of(text: TextIO, file: Path) -> Iterator[list[str]]:
    head = text.readline(LONGEST_LINE + 1)
    following = iter(functools.partial(text.readline, LONGEST_LINE + 1), "")  # of a longer line no more is held
    lines, size, count = itertools.chain([head] if head else [], following), _rows_together(head), 0
    while block := list(itertools.islice(lines, size)):
        if max(map(len, block)) > LONGEST_LINE:
            raise InvalidInput(
                f"{str(file)!r} has a line of more than {LONGEST_LINE} characters: a table has a row on each line"
            )
        count += len(block)
        check_values(count, file)  # a gzipped file may hold millions of empty lines in a few bytes
        yield block
