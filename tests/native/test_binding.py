"""The call of a loop: every array is checked at every call."""

import ast
from pathlib import Path

import numpy as np
import pytest

from eigenscape._native import loops

INDPTR, DATA, OUT = np.array([0, 3, 3, 7]), np.array([3.0, 1, 2, 5, 4, 6, 0]), np.empty(3)


def locked(array):
    array = array.copy()
    array.setflags(write=False)
    return array


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype)
    raw[:] = array
    return raw


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (
            (INDPTR, DATA.astype("f4"), 2, OUT),
            TypeError,
            "argument 4 of kth_in_rows must be an array",
        ),
        (
            (INDPTR, np.repeat(DATA, 2)[::2], 2, OUT),
            ValueError,
            "argument 2 .* C-contiguous",
        ),
        ((INDPTR.astype("i2"), DATA, 2, OUT), TypeError, "int32 or int64"),
        ((INDPTR.astype(">i8"), DATA, 2, OUT), TypeError, "got the format"),
        ((INDPTR.astype("u8"), DATA, 2, OUT), TypeError, "int32 or int64"),
        ((INDPTR, DATA.astype("f2"), 2, OUT), TypeError, "float32 or float64"),
        ((INDPTR, DATA.astype("c16"), 2, OUT), TypeError, "float32 or float64"),
        ((INDPTR, DATA[:, None], 2, OUT), ValueError, "must have 1 axes, got 2"),
        ((INDPTR, unaligned(DATA), 2, OUT), (TypeError, ValueError), "argument 2"),
        ((INDPTR, DATA, 2, locked(OUT)), ValueError, "that can be written to"),
        ((INDPTR, None, 2, OUT), ValueError, "argument 2"),
        ((INDPTR, [1.0], 2, OUT), ValueError, "argument 2"),
        ((INDPTR, DATA, 2.0, OUT), TypeError, "argument 3 of kth_in_rows must be an integer"),
        ((INDPTR, DATA, 2**70, OUT), TypeError, "argument 3"),
        ((INDPTR, DATA, 2), TypeError, "takes other arguments"),
        ((INDPTR, DATA, 2, OUT, OUT), TypeError, "takes other arguments"),
        ((INDPTR, DATA, 0, OUT), ValueError, "do not fit together"),
        ((INDPTR[:-1].copy(), DATA, 1, OUT), ValueError, "do not fit together"),
        ((INDPTR + 100, DATA, 1, OUT), ValueError, "out of range"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        loops.kth_in_rows(*arguments)


def test_subclasses_of_numbers_and_read_only_inputs_are_accepted():
    out = np.empty(3)
    assert loops.kth_in_rows(locked(INDPTR), locked(DATA), np.int32(2), out) == 0
    np.testing.assert_array_equal(out, [2, 0, 4])


def test_every_loop_refuses_no_arguments():
    for name in loops.arguments:
        with pytest.raises(TypeError, match="takes other arguments"):
            getattr(loops, name)()


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match="no loops 'v9'"):
        loops.select("v9")
    assert loops.select(loops.variants[0]) in loops.variants


def test_the_stub_lists_every_loop_with_its_arguments():
    """``loops.pyi``, which type checkers read, agrees with the table of the extension."""
    stub = ast.parse(Path(loops.__file__).with_name("loops.pyi").read_text())
    listed = {one.name: len(one.args.args) for one in stub.body if isinstance(one, ast.FunctionDef)}
    found = {name: len(types.split()) for name, types in loops.arguments.items()}
    assert listed == {**found, "select": 1, "set_blas": 1}
