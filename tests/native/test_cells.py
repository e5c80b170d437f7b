"""Search in cells, and exact distances of candidates: the loops and their references."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import cython_blas

from eigenscape._native import loops
from native.comparing import compare, run
from native.reference import cells as reference
from native.reference.rerank import rerank

SGEMM = cython_blas.__pyx_capi__["sgemm"]


@pytest.fixture(autouse=True)
def _blas():
    loops.set_blas(SGEMM)


def some_cells(n, d, n_cells, whole):
    """Return queries, centres, cells, points and offsets; small integers tie, and their sums are exact."""
    rng = np.random.default_rng(n + d)
    points = rng.integers(0, 4, (n, d)).astype("f4") if whole else rng.standard_normal((n, d)).astype("f4")
    start = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, n_cells - 1)]))
    centers = rng.standard_normal((n_cells, d)).astype("f4") + points[:1].mean()
    norms = np.append(np.linalg.norm(points, axis=1), 0.0)
    sizes = np.array([norms[a:b].max(initial=0.0) for a, b in pairwise(start)], dtype=float)
    offsets = rng.integers(-3, 4, n).astype(float)
    queries = points[rng.integers(0, n, 12)] + np.float32(0.5)
    return queries, centers, start, points, sizes, offsets


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("b", [0, 1, 3, 12])
@pytest.mark.parametrize(
    ("n", "d", "n_cells", "visits", "count", "others"),
    [
        (1, 1, 1, 1, 1, 0),
        (1, 1, 1, 1, 2, 3),
        (200, 3, 8, 3, 30, 9),
        (400, 20, 16, 5, 9, 0),
        (300, 40, 9, 9, 9, 7),
    ],
)
def test_find_candidates(n, d, n_cells, visits, count, others, b, whole):
    queries, *cells = some_cells(n, d, n_cells, whole)
    out = np.empty((b, count + others)), np.empty((b, count + others), np.int64)
    arguments = [queries[:b], *cells, visits, count, *out]
    if b == 0:
        assert run(loops.find_candidates, arguments)[0] == 0
    else:
        compare("find_candidates", reference.find_candidates, arguments, rtol=0 if whole else 5e-15)


def test_candidates_do_not_depend_on_the_other_queries():
    queries, *cells = some_cells(300, 17, 9, False)
    whole = np.empty((12, 20)), np.empty((12, 20), np.int64)
    loops.find_candidates(queries, *cells, 4, 11, *whole)
    for i in range(12):
        one = np.empty((1, 20)), np.empty((1, 20), np.int64)
        loops.find_candidates(queries[i : i + 1], *cells, 4, 11, *one)
        assert one[0][0].tobytes() == whole[0][i].tobytes()
        assert one[1][0].tobytes() == whole[1][i].tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_queries_that_are_not_numbers_or_overflow_end(value):
    queries, *cells = some_cells(200, 5, 8, False)
    queries[::2, 1] = value
    near, place = np.empty((12, 12)), np.empty((12, 12), np.int64)
    for b in (2, 12):
        loops.find_candidates(queries[:b], *cells, 3, 9, near[:b], place[:b])
        assert place[:b].max() < 200
        assert place[:b].min() >= -1


def test_cells_that_do_not_fit_are_refused():
    queries, *cells = some_cells(50, 4, 5, False)
    out = [np.empty((12, 6)), np.empty((12, 6), np.int64)]
    right = [queries, *cells, 2, 5, *out]
    shorter = {
        0: queries[:, :3].copy(), 1: cells[0][:, :3].copy(), 2: cells[1][:-1], 3: cells[2][:, :3].copy(),
        4: cells[3][1:], 5: cells[4][1:], 6: 6, 7: 7, 8: out[0][1:], 9: out[1][1:],
    }  # fmt: skip
    for place, wrong in shorter.items():
        with pytest.raises(ValueError, match="do not fit"):
            loops.find_candidates(*right[:place], wrong, *right[place + 1 :])
    for place, zero in ((6, 0), (7, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            loops.find_candidates(*right[:place], zero, *right[place + 1 :])
    for start in ([-1, 1, 2, 3, 4, 50], [0, 9, 8, 20, 30, 50], [0, 1, 2, 3, 4, 51], [0, 2**62, 3, 4, 5, 6]):
        with pytest.raises(ValueError, match="out of range"):
            loops.find_candidates(*right[:2], np.array(start), *right[3:])


@pytest.mark.process
def test_products_need_a_blas():
    code = (
        "import numpy as np\n"
        "from eigenscape._native.loops import find_candidates\n"
        "one, start, number = np.ones((1, 1), 'f4'), np.array([0, 1]), np.zeros((1, 1), int)\n"
        "find_candidates(one, one, start, one, np.ones(1), np.ones(1), 1, 1, np.ones((1, 1)), number)\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: find_candidates multiplies matrices; call set_blas before it" in child.stderr


def some_candidates(b, n, d, w, dtype, whole):
    rng = np.random.default_rng(n + w)
    Y, X = (np.round(2 * rng.standard_normal((m, d))).astype(dtype) for m in (b + 3, n))
    if not whole:
        Y, X = Y + rng.random(Y.shape).astype(dtype), X + rng.random(X.shape).astype(dtype)
    which = rng.permutation(b + 3)[:b]
    candidates = np.array([rng.permutation(n)[:w] for _ in range(b)], dtype=np.int64).reshape(b, w)
    for row, size in zip(candidates, rng.integers(0, w + 9, b), strict=True):
        row[size:] = -1
    square = ((Y[which][:, None, :].astype(float) - X[candidates]) ** 2).sum(axis=2)
    rest = rng.random(b + 3).astype("f4"), rng.random(n).astype("f4")
    doubt = rng.random(b + 3).astype("f4") / 4, rng.random(n).astype("f4") / 4
    return Y, X, which, candidates, square * rng.random(square.shape), rest, doubt, rng.random(n) * 9 * d**0.5


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("reaches", [True, False])
@pytest.mark.parametrize(
    ("b", "n", "d", "w", "count", "k"),
    [(0, 3, 2, 2, 2, 1), (1, 1, 1, 1, 1, 1), (9, 40, 3, 20, 12, 5), (9, 90, 37, 30, 30, 12)],
)
def test_rerank(b, n, d, w, count, k, reaches, whole, dtype):
    Y, X, which, candidates, near, rest, doubt, reach = some_candidates(b, n, d, w, dtype, whole)
    size = b * w if reaches else 0
    out = np.zeros((len(Y), k)), np.zeros((len(Y), k), np.int64), np.zeros(len(Y), np.int64)
    pairs = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size)
    arguments = [
        Y,
        X,
        which,
        candidates,
        near,
        count,
        *rest,
        *doubt,
        reach if reaches else reach[:0],
        np.random.default_rng(2).permutation(n),
        *out,
        *pairs,
    ]
    compare("rerank", rerank, arguments, rtol=0 if whole else 5e-15)


def test_candidates_that_do_not_fit_are_refused():
    Y, X, which, candidates, near, rest, doubt, reach = some_candidates(4, 20, 3, 6, "f8", True)
    out = np.zeros((7, 2)), np.zeros((7, 2), np.int64), np.zeros(7, np.int64)
    pairs = np.zeros(24, np.int64), np.zeros(24, np.int64), np.zeros(24)
    right = [Y, X, which, candidates, near, 5, *rest, *doubt, reach, np.arange(20), *out, *pairs]
    for place in set(range(len(right))) - {5}:
        with pytest.raises(ValueError, match="do not fit"):
            loops.rerank(*right[:place], right[place][1:], *right[place + 1 :])
    for place, wrong in ((2, [0, 1, 2, 7]), (2, [0, -1, 2, 3]), (3, [[0, 1, 2, 3, 20, 5]] * 4)):
        with pytest.raises(ValueError, match="out of range"):
            loops.rerank(*right[:place], np.array(wrong), *right[place + 1 :])
