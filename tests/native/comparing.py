"""Calls a loop and its reference in Python with the same arguments, and compares all that they write."""

import numpy as np

from eigenscape._native import loops


def run(function, arguments):
    """Call a function with copies of the arguments; return its answer and the copies."""
    copies = [np.array(one, order="C") if isinstance(one, np.ndarray) else one for one in arguments]
    return function(*copies), copies


def run_variants(name, arguments):
    """Run a loop in all its variants, see that their bits are equal, and return what `run` does."""
    before, found = loops.select(loops.variants[0]), []
    try:
        for variant in loops.variants:
            loops.select(variant)
            found.append(run(getattr(loops, name), arguments))
    finally:
        loops.select(before)
    for answer, copies in found[1:]:
        assert answer == found[0][0]
        for one, other in zip(copies, found[0][1], strict=True):
            if isinstance(one, np.ndarray):
                assert one.tobytes() == other.tobytes(), name
    return found[0]


def compare(name, reference, arguments, rtol=0.0, atol=0.0):
    """Assert that a loop answers and writes what its reference does, exactly by default."""
    answer, written = run_variants(name, arguments)
    expected_answer, expected = run(reference, arguments)
    assert answer == (expected_answer or 0)
    for one, other in zip(written, expected, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=name)
