"""Seeded mutations of the bytes of valid files."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

import numpy as np

Mutation = Callable[[bytes, np.random.Generator], bytes]

#: Integers at the limits of common types.
_EXTREMES = (
    0,
    1,
    2,
    7,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**63,
)
#: Cells that readers of text may take for something else.
_CELLS = (
    b"-1", b"0", b"1e309", b"-1e309", b"1e-320", b"1.7976931348623157e308", b"99999999999999999999",
    b"9007199254740993", b"-9223372036854775808", b"nan", b"inf", b"-Infinity", b"", b"NA", b"0x1F", b"1_000",
    b"1,5", b"007", b"+5", b"1e", b".", b"-", b"true", b"2020-01-01", b"2020-01-01T10:00:00Z",
    b"12%", b'"', b'""',    b'"a"b', b"\xd9\xa1\xd9\xa2", b"\x00", b"=1+1", b"a" * 300,
)  # fmt: skip
#: Characters with a meaning in text tables, and other ends of lines.
_MARKS = (
    b'"', b'""', b",", b";", b"\t", b"|", b" ", b"\r", b"\n", b"\r\n", b"\n\n", b"\x00", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\x1b[2J",
    b"#", b"%", b"\xff",    b"\xf0\x9f\x92\xa9", b"\xc2\xa0", b"'", b"\\",
)  # fmt: skip


def _place(data: bytes, rng: np.random.Generator) -> int:
    """Return a position, often near the beginning or the end, where the headers of formats are."""
    n = max(len(data), 1)
    choice = rng.integers(4)
    if choice == 0:
        return int(rng.integers(min(n, 64)))
    if choice == 1:
        return n - 1 - int(rng.integers(min(n, 256)))
    return int(rng.integers(n))


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if changed:
            changed[_place(data, rng)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _set_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        if changed:
            changed[_place(data, rng)] = int(
                rng.choice((0, 1, 10, 34, 127, 128, 254, 255, int(rng.integers(256))))
            )
    return bytes(changed)


def _truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: _place(data, rng)]


def _delete(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + data[start + int(rng.integers(1, 40)) :]


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + rng.bytes(int(rng.integers(1, 20))) + data[start:]


def _repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, length = _place(data, rng), int(rng.integers(1, 100))
    return data[:start] + data[start : start + length] * int(rng.integers(2, 5)) + data[start + length :]


def _set_integer(data: bytes, rng: np.random.Generator) -> bytes:
    start, size = _place(data, rng), int(rng.choice((1, 2, 4, 8)))
    value = int(_EXTREMES[rng.integers(len(_EXTREMES))]) * int(rng.choice((1, -1))) % 2 ** (8 * size)
    return data[:start] + struct.pack("<Q", value)[:size] + data[start + size :]


def _set_number(data: bytes, rng: np.random.Generator) -> bytes:
    """Replace a number that is written in digits."""
    numbers = list(re.finditer(rb"[-+]?\d[\d.eE+-]*", data[: 2**16]))
    if not numbers:
        return _flip(data, rng)
    match = numbers[int(rng.integers(len(numbers)))]
    return data[: match.start()] + _CELLS[rng.integers(len(_CELLS))] + data[match.end() :]


def _insert_mark(data: bytes, rng: np.random.Generator) -> bytes:
    start = _place(data, rng)
    return data[:start] + _MARKS[rng.integers(len(_MARKS))] + data[start:]


def _change_lines(data: bytes, rng: np.random.Generator) -> bytes:
    lines = data.split(b"\n")
    i, j = (int(rng.integers(len(lines))) for _ in range(2))
    choice = rng.integers(4)
    if choice == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif choice == 1:
        lines.insert(i, lines[j])
    elif choice == 2:
        del lines[i]
    else:
        lines[i] = lines[i].rpartition(b",")[0]
    return b"\n".join(lines)


BINARY: tuple[Mutation, ...] = (
    _flip,
    _set_bytes,
    _truncate,
    _delete,
    _insert,
    _repeat,
    _set_integer,
    _set_number,
)
TEXT: tuple[Mutation, ...] = (
    *BINARY,
    _set_number,
    _set_number,
    _insert_mark,
    _insert_mark,
    _change_lines,
    _change_lines,
)


def mutate(
    data: bytes, rng: np.random.Generator, others: Sequence[bytes], mutations: Sequence[Mutation]
) -> bytes:
    """Change a file by one to three mutations, or join parts of two files."""
    if len(others) > 1 and rng.random() < 0.05:
        other = others[int(rng.integers(len(others)))]
        return data[: _place(data, rng)] + other[_place(other, rng) :]
    for _ in range(int(rng.choice((1, 1, 1, 2, 3)))):
        data = mutations[int(rng.integers(len(mutations)))](data, rng)
    return data
