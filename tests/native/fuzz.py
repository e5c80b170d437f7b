"""Calls loops with random arguments; in tests/: ``python -m native.fuzz NAME ... --seed 1 --corpus FILE``.

Arguments are drawn for the types that kernels.h states, or are arguments of the tests (``--record FILE``),
with random changes: wild indices, numbers that are not finite, other sizes, arrays that a loop must refuse.
A call must return an integer or raise TypeError, ValueError or MemoryError. It must not change its inputs or
the memory around its arrays, and all variants must write the same numbers. The number of each call is
printed, so that the last line names the call that ended the process; ``--only`` repeats it.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import cython_blas

from eigenscape._native import loops
from native import comparing

#: Bytes around an array that no loop may change.
GUARD = 64
#: Seconds after which a call has hung, and bytes that a loop may allocate.
SECONDS, MEMORY = 60, 4 << 30
#: Number of calls of a loop in the tests that are kept, and of elements of their arrays.
KEPT, ELEMENTS = 40, 4000

TYPES = {"d": ["f8"], "f": ["f4"], "l": ["i8"], "i": ["i4"], "u": ["u8"], "b": ["?", "i1", "u1"]}
CHOICES = {"r": "df", "s": "df", "j": "li"}
WILD = [-1, 0, 1, 2, 3, 7, 2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**63)]
STRANGE = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-310, -1.0, 1e308, -1e308]


# --- arguments ----------------------------------------------------------------------------------------------


def draw(codes, rng):
    """Return arguments of the given types: arrays whose axes have few different sizes."""
    n, m = (int(size) for size in rng.integers(0, 9, 2))
    types = {letter: rng.choice(list(choices)) for letter, choices in CHOICES.items()}
    arguments = []
    for code in codes:
        if len(code) == 1:
            arguments.append(int(rng.integers(0, n + 2)) if code == "n" else float(rng.standard_normal()))
            continue
        letter = code[0].lower()
        dtype = np.dtype(str(rng.choice(TYPES[types.get(letter, letter)])))
        shape = tuple(int(size) for size in rng.choice([n, n, n, n, n + 1, m, 2, 4], int(code[1])))
        arguments.append(_numbers(shape, dtype, n, rng))
    return arguments


def _numbers(shape, dtype, n, rng):
    """Return floats, indices below ``n``, or as many places in ascending order."""
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    values = rng.integers(0, max(n, 1), shape)
    return (np.sort(values, axis=None).reshape(shape) if rng.random() < 0.5 else values).astype(dtype)


def change(arguments, codes, rng):
    """Return arguments with one random change, and whether two of them may be the same array."""
    place = int(rng.integers(len(codes)))
    value = arguments[place]
    if not isinstance(value, np.ndarray):
        wild = rng.choice(STRANGE) if codes[place] == "x" else WILD[rng.integers(len(WILD))]
        return _put(arguments, place, wild.item() if isinstance(wild, np.generic) else wild), False
    kind = rng.random()
    if kind < 0.6:
        return _put(arguments, place, _with_wild_numbers(value, rng)), False
    if kind < 0.7:
        return _put(arguments, place, _of_other_size(value, rng)), False
    if kind < 0.85:
        return _with_other_sizes(arguments, rng), False
    if kind < 0.9:
        return _put(arguments, place, arguments[int(rng.integers(len(codes)))]), True
    return _put(arguments, place, _refused(value, rng)), False


def _put(arguments, place, value):
    return [*arguments[:place], value, *arguments[place + 1 :]]


def _with_wild_numbers(array, rng):
    """Return a copy with some numbers replaced, often one, sometimes all."""
    array = np.array(array)
    if array.size == 0:
        return array
    where = rng.integers(array.size, size=1 if rng.random() < 0.7 else array.size)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array.flat[where] = rng.choice(STRANGE)
    elif array.dtype.kind in "iu":
        near = [array.size - 1, array.size, int(array.max()) + 1, *array.shape]
        wild = [*WILD, *near, *near][rng.integers(len(WILD) + 2 * len(near))]
        limits = np.iinfo(array.dtype)
        array.flat[where] = min(max(wild, limits.min), limits.max)
    return array


def _resized(array, shape):
    """Return an array of another shape, filled with the same numbers."""
    return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)


def _of_other_size(array, rng):
    shape = list(array.shape)
    if not shape:
        return array
    axis = int(rng.integers(len(shape)))
    shape[axis] = [max(shape[axis] - 1, 0), shape[axis] + 1, 0, 1, 2 * shape[axis]][rng.integers(5)]
    return _resized(array, shape)


def _with_other_sizes(arguments, rng):
    """Change one size wherever it occurs, alone or plus one, so that sizes still fit together."""
    sizes = sorted({size for one in arguments if isinstance(one, np.ndarray) for size in one.shape})
    if not sizes:
        return arguments
    old, new = int(rng.choice(sizes)), int(rng.integers(0, 12))
    changed = {old: new, old + 1: new + 1}
    return [
        _resized(one, [changed.get(size, size) for size in one.shape]) if isinstance(one, np.ndarray) else one
        for one in arguments
    ]


def _refused(array, rng):
    """Return what a loop may not accept: another layout, type or order of bytes, or what is no array."""
    forms = [
        lambda: np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array,
        lambda: np.asfortranarray(array),
        lambda: array.astype(array.dtype.newbyteorder()),
        lambda: array.astype("f2"),
        lambda: array.astype("i2"),
        lambda: array[..., None],
        lambda: _unaligned(array),
        lambda: _read_only(array),
        lambda: array.tolist(),
        lambda: None,
    ]
    with np.errstate(all="ignore"):
        return forms[rng.integers(len(forms))]()


def _unaligned(array):
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype).reshape(array.shape)
    raw[...] = array
    return raw


def _read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


# --- calls --------------------------------------------------------------------------------------------------


def guarded(array):
    """Return a copy of a contiguous array inside a larger buffer, and the buffer."""
    buffer = np.full(array.nbytes + 2 * GUARD, 0xA5, dtype=np.uint8)
    inner = buffer[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
    inner[...] = array
    return inner, buffer


def call(name, codes, arguments, in_buffers, aliased):
    """Call a loop in all variants with copies of the arguments; return its answer or the name of an error."""
    outcomes = []
    for variant in loops.variants:
        loops.select(variant)
        outcomes.append(_call_once(name, codes, arguments, in_buffers, aliased))
    answer, written = outcomes[0]
    for other_answer, other in outcomes[1:]:
        assert answer == other_answer, f"variants answer {answer} and {other_answer}"
        if not aliased:
            for place, (one, two) in enumerate(zip(written, other, strict=True)):
                if isinstance(one, np.ndarray):
                    same = np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
                    assert same, f"variants write different numbers to argument {place + 1}"
    return answer


def _call_once(name, codes, arguments, in_buffers, aliased):
    given, buffers, copies = [], [], {}
    for one in arguments:
        if isinstance(one, np.ndarray) and one.flags.carray:  # contiguous, aligned and writable
            if id(one) not in copies:  # the same array twice stays the same array
                copies[id(one)], buffer = guarded(one) if in_buffers else (one.copy(), None)
                buffers += [] if buffer is None else [buffer]
            one = copies[id(one)]
        given.append(one)
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS)  # ends the process: no handler of Python runs within a loop
    try:
        answer = getattr(loops, name)(*given)
        assert type(answer) is int, f"the answer is {answer!r}"
        assert answer >= -1, f"the answer is {answer}"
    except (TypeError, ValueError, MemoryError) as error:
        answer = type(error).__name__
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    for buffer in buffers:
        assert (buffer[:GUARD] == 0xA5).all(), "memory before an array has changed"
        assert (buffer[-GUARD:] == 0xA5).all(), "memory after an array has changed"
    for place, (code, one, before) in enumerate(zip(codes, given, arguments, strict=True)):
        if code[0].islower() and isinstance(one, np.ndarray) and not aliased:
            assert one.tobytes() == before.tobytes(), f"the input {place + 1} has changed"
    return answer, given


def fuzz(name, seed, numbers, corpus):
    """Make the calls of the given numbers; return how many of them raised no error."""
    codes, returned = loops.arguments[name].split(), 0
    for number in numbers:
        print(name, "--only", number, flush=True)
        rng = np.random.default_rng([seed, number])
        if corpus and rng.random() < 0.9:
            arguments = corpus[rng.integers(len(corpus))]
        else:
            arguments = draw(codes, rng)
        aliased = False
        for _ in range(rng.integers(0, 4)):
            arguments, same = change(arguments, codes, rng)
            aliased = aliased or same
        returned += isinstance(call(name, codes, arguments, rng.random() < 0.5, aliased), int)
    return returned


def record(path):
    """Run the tests of the loops and store the arguments of calls that they compare with a reference."""
    corpus, run_variants = defaultdict(list), comparing.run_variants

    def recording(name, arguments):
        elements = sum(one.size for one in arguments if isinstance(one, np.ndarray))
        if len(corpus[name]) < KEPT and elements <= ELEMENTS:
            corpus[name].append(comparing.run(lambda *_: None, arguments)[1])
        return run_variants(name, arguments)

    comparing.run_variants = recording
    pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not process", str(Path(__file__).parent)])
    path.write_bytes(pickle.dumps(dict(corpus)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the loops")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--only", type=int, help="the number of one call")
    parser.add_argument("--corpus", type=Path, help="a file of arguments")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write such a file")
    options = parser.parse_args()
    if options.record:
        record(options.record)
        return
    if "asan" not in os.environ.get("LD_PRELOAD", "") and os.name == "posix":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    loops.set_blas(cython_blas.__pyx_capi__["sgemm"])
    corpus = pickle.loads(options.corpus.read_bytes()) if options.corpus else {}
    numbers = range(options.calls) if options.only is None else [options.only]
    for name in options.names:
        print("returned", name, fuzz(name, options.seed, numbers, corpus.get(name, [])))


if __name__ == "__main__":
    main()
