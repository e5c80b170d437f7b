"""Conversion to JSON, byte counts and peak memory."""

import json

import numpy as np
import pytest
from scipy import sparse

from eigenscape._format import format_bytes, to_json
from eigenscape._memory import peak_memory


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(3), 3),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.array([np.inf, 1.0]), [None, 1.0]),
        ({1: (None, {"nan": float("nan")})}, {"1": [None, {"nan": None}]}),
        (np.dtype("f8"), "float64"),
        (np.array(["a", None], dtype=object), ["a", None]),
    ],
)
def test_values_become_json(value, expected):
    assert to_json(value) == expected
    json.dumps(to_json(value), allow_nan=False)


def test_long_arrays_are_described():
    values = {
        "few": [1, 2],
        "many": list(range(5)),
        "array": np.zeros((2, 2)),
        "sparse": sparse.csr_array((9, 9)),
    }
    assert to_json(values, max_items=3) == {
        "few": [1, 2],
        "many": "list of shape (5,)",
        "array": "ndarray of shape (2, 2)",
        "sparse": "csr_array of shape (9, 9)",
    }


def test_infinity_is_kept_on_request():
    assert to_json({"radius": np.inf, "list": [np.array([np.inf])]}, allow_nan=True) == {
        "radius": np.inf,
        "list": [[np.inf]],
    }


def test_bytes_have_binary_units():
    sizes = [0, 1023, 2048, 3 * 2**20, 10**12]
    assert [format_bytes(size) for size in sizes] == ["0 bytes", "1023 bytes", "2 KiB", "3 MiB", "931.3 GiB"]


def test_peak_memory_is_plausible():
    peak = peak_memory()
    assert peak is None or 10 * 2**20 < peak < 2**50
