"""What a parquet file declares, read without unpacking it: how large its parts become, by the header of each page.

pyarrow unpacks what the headers of the pages say, whatever the footer says, and some damaged footers end the process
when pyarrow describes a column. So both are read here.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Content = mmap.mmap | bytes
Fields = dict[int, Any]  # by number: whole numbers, bytes, lists and fields; others are skipped

LONGEST_FOOTER = 1 << 24  # bytes
END = 8  # bytes after the footer: its length, and the name of the format
DEEPEST = 16  # of structures within structures; a footer needs 6

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
WHOLE_NUMBERS = (4, 5, 6)

# the numbers of the fields in the definition of the format
ROW_GROUPS, COLUMNS, ROWS, METADATA = 4, 1, 3, 3
ENCODINGS, PATH, PACKED_SIZE, DATA_PAGE, DICTIONARY_PAGE = 2, 3, 7, 9, 11
PAGE_UNPACKED, PAGE_PACKED = 2, 3
DICTIONARIES = {2, 8}  # PLAIN_DICTIONARY and RLE_DICTIONARY
DIFFERENCES = 7  # DELTA_BYTE_ARRAY


@dataclass(frozen=True)
class Chunk:
    """A column in one group of rows.

    Attributes
    ----------
    name : str
        With a dot between the names of nested ones.
    has_dictionary, has_differences : bool
        How its values are stored: as places in a dictionary; as what they do not share with the value before.
    unpacked : int
        The bytes of its pages, unpacked.
    """

    name: str
    has_dictionary: bool
    has_differences: bool
    unpacked: int


def groups_of(file: Path, names: set[str]) -> Iterator[tuple[int, list[Chunk]]]:
    """Yield each group's rows, and its parts of the named columns; ValueError if the file is damaged."""
    with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = len(content) - END
        length = int.from_bytes(content[end : end + 4], "little")
        if not 0 < length <= min(end, LONGEST_FOOTER):
            raise ValueError(f"its footer declares {length} bytes")
        footer = _Reader(content[end - length : end], 0).fields()
        for group in _listed(footer, ROW_GROUPS, dict):
            rows, chunks = _count(group, ROWS), []
            for column in _listed(group, COLUMNS, dict) if rows else ():
                about = column.get(METADATA)
                if not isinstance(about, dict):
                    raise ValueError("a column is not described, or is encrypted")
                name = ".".join(part.decode(errors="replace") for part in _listed(about, PATH, bytes))
                if name in names:
                    chunks.append(_chunk(name, about, content))
            yield rows, chunks


def _chunk(name: str, about: Fields, content: Content) -> Chunk:
    encodings = set(_listed(about, ENCODINGS, int))
    start = _count(about, DATA_PAGE)
    if DICTIONARY_PAGE in about:
        start = min(start, _count(about, DICTIONARY_PAGE) or start)
    end = start + _count(about, PACKED_SIZE)
    if end > len(content):
        raise ValueError("a column lies outside the file")
    unpacked = 0
    while start < end:
        reader = _Reader(content, start)
        header = reader.fields()
        unpacked += _count(header, PAGE_UNPACKED)
        start = reader.place + _count(header, PAGE_PACKED)
    return Chunk(name, bool(encodings & DICTIONARIES), DIFFERENCES in encodings, unpacked)


def _listed(fields: Fields, number: int, kind: type[T]) -> list[T]:
    value = fields.get(number, [])
    if not isinstance(value, list) or not all(isinstance(part, kind) for part in value):
        raise ValueError("its footer is damaged")
    return value


def _count(fields: Fields, number: int) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or value < 0:
        raise ValueError("its footer or a page header has no size")
    return value


class _Reader:
    """A structure in Thrift's compact protocol."""

    def __init__(self, content: Content, place: int) -> None:
        self.content = content
        self.place = place

    def fields(self, deepest: int = DEEPEST) -> Fields:
        if deepest == 0:
            raise ValueError("it is nested too deep")
        found: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15, deepest)
        return found

    def _value(self, kind: int, deepest: int) -> Any:
        if kind in WHOLE_NUMBERS:
            return self._signed()
        if kind == STRUCT:
            return self.fields(deepest - 1)
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            part = BYTE if head & 15 in (TRUE, FALSE) else head & 15
            return [self._value(part, deepest) for _ in range(self._within(count))]
        if kind in (BYTE, DOUBLE, BINARY):
            length = {BYTE: 1, DOUBLE: 8}.get(kind) or self._unsigned()
            self.place += self._within(length)
            return bytes(self.content[self.place - length : self.place])
        if kind in (TRUE, FALSE):
            return kind == TRUE
        raise ValueError("it holds what parquet files do not")

    def _within(self, length: int) -> int:
        if length > len(self.content) - self.place:
            raise ValueError("it is cut short")
        return length

    def _byte(self) -> int:
        self.place += self._within(1)
        return self.content[self.place - 1]

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("it holds a number that is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
