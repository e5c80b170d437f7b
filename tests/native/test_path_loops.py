"""Shortest paths, eliminations and dense distances: the loops and their references."""

import numpy as np
import pytest
from scipy import sparse

from eigenscape._native import loops
from eigenscape._native.loops import LANES
from native.comparing import compare, run_variants
from native.reference import dense_paths, elimination, paths

INDICES = pytest.mark.parametrize("index", ["i4", "i8"])
SIZES = [(1, 0.0), (2, 1.0), (30, 0.05), (40, 0.3), (150, 0.03), (70, 0.9)]
GRAPHS = pytest.mark.parametrize(("m", "share"), SIZES)


def some_graph(m, share, index="i4"):
    """Return the arrays of a symmetric graph; lengths tie, vanish, are denormal or infinite."""
    rng = np.random.default_rng(m)
    lengths = rng.choice([1.0, 2.0, 2.0**-1060, 0.1, 0.7, 1 / 3, np.inf], (m, m))
    lengths = np.where(rng.random((m, m)) < share, lengths, 0.0)
    matrix = sparse.csr_array(np.triu(lengths, 1) + np.triu(lengths, 1).T)
    matrix.data[::9] = 0.0
    return matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data


def some_seeds(m, n_sources, seed=0):
    """Return entries of sources into a graph: none, one or more, a vertex twice."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, n_sources)
    start = np.concatenate([[0], np.cumsum(counts)])
    return start, rng.integers(0, m, start[-1]), rng.random(start[-1])


def refused(name, *arguments):
    with pytest.raises(ValueError, match=f"{name}.*out of range"):
        run_variants(name, arguments)


def misfit(name, *arguments):
    with pytest.raises(ValueError, match=f"{name} do not fit together"):
        run_variants(name, arguments)


def changed(array, at, value):
    """Return a copy with another value."""
    copy = array.copy()
    copy[at] = value
    return copy


def replaced(arguments, at, value):
    """Return other arguments."""
    return [*arguments[:at], value, *arguments[at + 1 :]]


@INDICES
@GRAPHS
@pytest.mark.parametrize("n_sources", [0, 1, LANES])
def test_shortest_paths(m, share, index, n_sources):
    arguments = [*some_graph(m, share, index), *some_seeds(m, n_sources), np.empty((m, LANES))]
    compare("shortest_paths", paths.shortest_paths, arguments)


@INDICES
def test_shortest_paths_refuse_wrong_indices(index):
    indptr, indices, lengths = some_graph(40, 0.3, index)
    start, vertex, length = some_seeds(40, LANES)
    arguments = [indptr, indices, lengths, start, vertex, length, np.empty((40, LANES))]
    for at, wrong in [
        (0, changed(indptr, slice(1, None), len(indices) + 1)),
        (0, changed(indptr, slice(None), -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, slice(None), 40)),
        (1, changed(indices, slice(None), -1)),
        (3, changed(start, 0, -1)),
        (3, changed(start, 3, 2**60)),
        (3, changed(start, -1, len(vertex) + 1)),
        (4, changed(vertex, 0, 40)),
        (4, changed(vertex, 0, -1)),
    ]:
        refused("shortest_paths", *replaced(arguments, at, wrong))
    for at, wrong in [
        (0, indptr[1:].copy()),
        (2, lengths[1:].copy()),
        (3, np.zeros(0, int)),
        (3, np.zeros(LANES + 2, int)),
        (5, length[1:].copy()),
        (6, np.empty((40, LANES - 1))),
    ]:
        misfit("shortest_paths", *replaced(arguments, at, wrong))


@INDICES
@GRAPHS
@pytest.mark.parametrize("step", [0.0, 1e-300, 0.5, np.inf])
def test_update_nearest_source(m, share, index, step):
    graph, nearest = some_graph(m, share, index), np.full(m, np.inf)
    for source in (0, m // 2):  # the second search stops where the first is nearer
        arguments = [*graph, source, step, nearest]
        compare("update_nearest_source", paths.update_nearest_source, arguments)
        loops.update_nearest_source(*arguments)


@INDICES
def test_a_search_refuses_wrong_indices(index):
    indptr, indices, lengths = some_graph(40, 0.3, index)
    arguments = [indptr, indices, lengths, 0, 0.5, np.full(40, np.inf)]
    for at, wrong in [
        (0, changed(indptr, slice(1, None), len(indices) + 1)),
        (0, changed(indptr, slice(None), -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, slice(None), 40)),
        (1, changed(indices, slice(None), -1)),
        (3, -1),
        (3, 40),
    ]:
        refused("update_nearest_source", *replaced(arguments, at, wrong))
    misfit("update_nearest_source", *replaced(arguments, 0, indptr[1:].copy()))
    misfit("update_nearest_source", *replaced(arguments, 2, lengths[1:].copy()))


def some_entries(n, m, index):
    """Return edges (n, m) of new points, some without any."""
    rng = np.random.default_rng(n)
    counts = rng.integers(0, 7, n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    return indptr, rng.integers(0, m, indptr[-1]).astype(index), rng.random(indptr[-1])


@INDICES
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("n", "columns"), [(0, 3), (1, 1), (9, 0), (20, 5), (20, 32), (9, 103)])
def test_shortest_through(n, columns, dtype, index):
    onward = np.random.default_rng(0).random((15, columns)).astype(dtype)
    onward[::4, ::3] = np.inf
    onward[1::4, ::3] = np.finfo(dtype).smallest_subnormal
    arguments = [*some_entries(n, 15, index), onward, np.empty((n, columns), dtype)]
    compare("shortest_through", paths.shortest_through, arguments)


@INDICES
def test_shortest_through_refuses_wrong_indices(index):
    indptr, indices, lengths = some_entries(20, 15, index)
    arguments = [indptr, indices, lengths, np.ones((15, 40)), np.empty((20, 40))]
    for at, wrong in [
        (0, changed(indptr, -1, len(indices) + 1)),
        (0, changed(indptr, 0, -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, -1, 15)),
        (1, changed(indices, -1, -1)),
    ]:
        refused("shortest_through", *replaced(arguments, at, wrong))
    for at, wrong in [(0, indptr[1:].copy()), (2, lengths[1:].copy()), (3, np.ones((15, 39)))]:
        misfit("shortest_through", *replaced(arguments, at, wrong))


@INDICES
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("m", "n_rows"), [(0, 0), (1, 1), (30, LANES), (150, 7)])
def test_store_rows(m, n_rows, dtype, index):
    rng = np.random.default_rng(m)
    distance, rank = rng.random((m, LANES)), rng.permutation(m).astype(index)
    arguments = [distance, rank, rng.permutation(20)[:n_rows], np.zeros((20, m), dtype)]
    compare("store_rows", paths.store_rows, arguments)


@INDICES
def test_store_rows_refuses_wrong_indices(index):
    rank = np.arange(30, dtype=index)
    arguments = [np.ones((30, LANES)), rank, np.arange(5), np.empty((9, 30))]
    for at, wrong in [
        (1, changed(rank, -1, 30)),
        (1, changed(rank, 0, -1)),
        (2, np.array([0, 9])),
        (2, np.array([-1, 0])),
    ]:
        refused("store_rows", *replaced(arguments, at, wrong))
    for at, wrong in [
        (0, np.ones((30, LANES + 1))),
        (2, np.zeros(LANES + 1, int)),
        (3, np.empty((9, 29))),
    ]:
        misfit("store_rows", *replaced(arguments, at, wrong))


@INDICES
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("n", "columns"), [(0, 3), (1, 1), (9, 0), (20, 5), (20, 12)])
def test_half_square_products(n, columns, single, index):
    rng = np.random.default_rng(columns)
    indptr, indices, lengths = some_entries(n, 15, index)
    V = rng.standard_normal((LANES, columns))
    arguments = [indptr, indices, lengths, rng.random((15, LANES)), V, single, np.empty((n, columns))]
    with np.errstate(invalid="ignore"):  # infinite for points without edges
        compare("half_square_products", paths.half_square_products, arguments)


@INDICES
def test_half_square_products_refuse_wrong_indices(index):
    indptr, indices, lengths = some_entries(20, 15, index)
    arguments = [indptr, indices, lengths, np.ones((15, LANES)), np.ones((LANES, 3)), 0, np.empty((20, 3))]
    for at, wrong in [
        (0, changed(indptr, -1, len(indices) + 1)),
        (0, changed(indptr, 0, -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, -1, 15)),
        (1, changed(indices, -1, -1)),
    ]:
        refused("half_square_products", *replaced(arguments, at, wrong))
    for at, wrong in [
        (0, indptr[1:].copy()),
        (2, lengths[1:].copy()),
        (3, np.ones((15, LANES - 1))),
        (4, np.ones((LANES - 1, 3))),
        (4, np.ones((LANES, 2))),
    ]:
        misfit("half_square_products", *replaced(arguments, at, wrong))


def ordered(indptr, indices, max_cost=np.inf):
    """Run minimum_degree; return its answer, near, order and count."""
    m = len(indptr) - 1
    out = np.empty((m, (m + 63) // 64), "u8"), np.empty(m, "i4"), np.empty(m, "i8")
    n_listed, written = run_variants("minimum_degree", [indptr, indices, max_cost, *out])
    return n_listed, *written[3:]


def renumbered(near, order, count, n_sparse):
    """Run depth_first; return the new order, rank, bounds and neighbours."""
    bounds = np.concatenate([[0], np.cumsum(count[:n_sparse])]).astype("i8")
    out = np.empty_like(order), np.empty_like(order), np.empty_like(bounds), np.empty(bounds[-1], "i4")
    return run_variants("depth_first", [near, order, bounds, *out])[1][3:]


@INDICES
@GRAPHS
@pytest.mark.parametrize("max_cost", [0.0, 2e4, np.inf])
def test_minimum_degree_and_depth_first(m, share, index, max_cost):
    indptr, indices, _ = some_graph(m, share, index)
    n_listed, near, order, count = ordered(indptr, indices, max_cost)
    expected = elimination.minimum_degree(indptr, indices, max_cost)
    assert n_listed == expected[3]
    np.testing.assert_array_equal(order, expected[0])
    np.testing.assert_array_equal(count, expected[1])
    bits = np.unpackbits(near.view("u1"), axis=1, bitorder="little")
    listed = [np.flatnonzero(row) for row in bits[order[:n_listed]]]
    np.testing.assert_array_equal(np.concatenate([*listed, np.empty(0, "i8")]), expected[2])
    for n_sparse in {n_listed, n_listed // 2, 0}:
        bounds = np.concatenate([[0], np.cumsum(count[:n_sparse])]).astype("i8")
        wanted = elimination.depth_first(order, bounds, expected[2][: bounds[-1]], n_sparse)
        for one, other in zip(renumbered(near, order, count, n_sparse), wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@INDICES
def test_a_large_set_of_neighbours(index):
    """More words than bytes can count at once."""
    m = 64 * 130
    edge = np.ones(m - 1)
    hub = sparse.coo_array((edge, (np.zeros(m - 1, int), np.arange(1, m))), shape=(m, m))
    pair = sparse.coo_array(([1.0], ([1], [2])), shape=(m, m))
    graph = sparse.csr_array(hub + hub.T + pair + pair.T)
    n_listed, near, order, count = ordered(graph.indptr.astype(index), graph.indices.astype(index), 1e12)
    assert order[:3].tolist() == [3, 4, 5]
    assert count[:3].tolist() == [1, 1, 1]
    assert n_listed > m - 10
    dense = np.random.default_rng(0).random((600, 600)) < 0.5
    graph = sparse.csr_array(dense | dense.T)
    expected = elimination.minimum_degree(graph.indptr, graph.indices, np.inf)
    found = ordered(graph.indptr.astype(index), graph.indices.astype(index))
    np.testing.assert_array_equal(found[2], expected[0])
    np.testing.assert_array_equal(found[3], expected[1])
    assert near.shape == (m, 130)


@INDICES
def test_an_order_refuses_wrong_indices(index):
    indptr, indices, _ = some_graph(150, 0.03, index)
    out = np.empty((150, 3), "u8"), np.empty(150, "i4"), np.empty(150, "i8")
    arguments = [indptr, indices, np.inf, *out]
    one_way = sparse.csr_array(np.triu(np.ones((150, 150)), 140))
    for at, wrong in [
        (0, changed(indptr, -1, len(indices) + 1)),
        (0, changed(indptr, 0, -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, 0, 150)),
        (1, changed(indices, 0, -1)),
    ]:
        refused("minimum_degree", *replaced(arguments, at, wrong))
    refused("minimum_degree", one_way.indptr.astype(index), one_way.indices.astype(index), np.inf, *out)
    one_way = one_way[::-1][:, ::-1].tocsr()
    refused("minimum_degree", one_way.indptr.astype(index), one_way.indices.astype(index), np.inf, *out)
    for at, wrong in [
        (0, indptr[1:].copy()),
        (0, indptr[:0].copy()),
        (3, np.empty((150, 4), "u8")),
        (3, np.empty((149, 3), "u8")),
        (4, np.empty(149, "i4")),
        (5, np.empty(149, "i8")),
    ]:
        misfit("minimum_degree", *replaced(arguments, at, wrong))


def test_depth_first_refuses_what_is_no_elimination():
    indptr, indices, _ = some_graph(150, 0.03)
    n_listed, near, order, count = ordered(indptr, indices)
    bounds = np.concatenate([[0], np.cumsum(count[:n_listed])])
    up = np.empty(bounds[-1], "i4")
    arguments = [near, order, bounds, np.empty_like(order), np.empty_like(order), np.empty_like(bounds), up]
    beyond = changed(near, (slice(None), -1), np.uint64(2**63))
    for at, wrong in [
        (0, beyond),
        (0, np.zeros_like(near)),
        (1, changed(order, 3, 150)),
        (1, changed(order, 3, -1)),
        (1, changed(order, 3, order[4])),
        (1, order[::-1].copy()),
        (2, changed(bounds, 5, -1)),
        (2, changed(bounds, 5, 2**60)),
    ]:
        refused("depth_first", *replaced(arguments, at, wrong))
    for at, wrong in [
        (0, near[:, 1:].copy()),
        (1, order[1:].copy()),
        (2, bounds[:0].copy()),
        (2, bounds + 1),
        (3, order[1:].copy()),
        (4, order[1:].copy()),
        (5, bounds[1:].copy()),
        (6, up[1:].copy()),
    ]:
        misfit("depth_first", *replaced(arguments, at, wrong))


def some_elimination(m, share, index="i4", part=1.0):
    """Return a graph, the order and edges of its elimination, and the core (in which nothing is solved)."""
    graph = some_graph(m, share, index)
    n_listed, near, order, count = ordered(*graph[:2])
    n_sparse = int(part * n_listed)
    order, rank, start, up = renumbered(near, order, count, n_sparse)
    core = np.full((m - n_sparse, m - n_sparse), np.inf)
    return [*graph, order, rank, start, up, np.zeros(len(up)), core]


@INDICES
@GRAPHS
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_eliminate(m, share, index, part):
    compare("eliminate", elimination.eliminate, some_elimination(m, share, index, part))


@INDICES
def test_elimination_refuses_wrong_indices(index):
    arguments = some_elimination(40, 0.3, index)
    indptr, indices, lengths, order, rank, start, up, weight, core = arguments
    for at, wrong in [
        (0, changed(indptr, -1, len(indices) + 1)),
        (0, changed(indptr, 0, -1)),
        (0, indptr[::-1].copy()),
        (1, changed(indices, 0, 40)),
        (1, changed(indices, -1, -1)),
        (3, changed(order, 0, 40)),
        (3, changed(order, 0, -1)),
        (4, changed(rank, 0, 40)),
        (4, changed(rank, 0, -1)),
        (5, changed(start, 0, -1)),
        (5, changed(start, -1, len(up) - 1)),
        (5, changed(start, 1, 2**60)),
        (5, changed(start, 1, -(2**60))),
        (6, changed(up, 0, 0)),
        (6, changed(up, 0, 40)),
        (6, changed(up, 0, -1)),
        (6, changed(up, 1, up[0])),
    ]:
        refused("eliminate", *replaced(arguments, at, wrong))
    for at, wrong in [
        (0, indptr[1:].copy()),
        (2, lengths[1:].copy()),
        (4, rank[1:].copy()),
        (5, start[:0].copy()),
        (5, np.zeros(50, "i8")),
        (7, weight[1:].copy()),
        (8, core[1:].copy()),
        (8, core[:, 1:].copy()),
    ]:
        misfit("eliminate", *replaced(arguments, at, wrong))


def some_sweep(m, share, n_sources, part=1.0):
    eliminated = some_elimination(m, share, part=part)
    loops.eliminate(*eliminated)
    core = np.minimum(eliminated[8], eliminated[8].T)
    np.fill_diagonal(core, 0.0)
    return [*eliminated[5:8], core, *some_seeds(m, n_sources), np.empty((m, LANES))]


@GRAPHS
@pytest.mark.parametrize("n_sources", [0, 1, 5, LANES])
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_sweep(m, share, n_sources, part):
    compare("sweep", elimination.sweep, some_sweep(m, share, n_sources, part))


def test_a_sweep_refuses_wrong_indices():
    arguments = some_sweep(40, 0.3, LANES)
    start, up, weight, core, seed_start, vertex, length, distance = arguments
    all_seeds = np.arange(LANES + 1), np.arange(LANES), np.zeros(LANES)
    for at, wrong in [
        (0, changed(start, 0, -1)),
        (0, changed(start, -1, len(up) + 1)),
        (0, start[::-1].copy()),
        (1, changed(up, 0, 0)),
        (1, changed(up, 0, -1)),
        (1, changed(up, -1, 40)),
        (4, changed(seed_start, 0, -1)),
        (4, changed(seed_start, -1, len(vertex) + 1)),
        (4, changed(seed_start, 4, 2**60)),
        (5, changed(vertex, 0, -1)),
        (5, changed(vertex, 0, 40)),
    ]:
        refused("sweep", *replaced(arguments, at, wrong))
        if at < 2:  # when it ascends, too
            refused("sweep", *replaced(arguments, at, wrong)[:4], *all_seeds, distance)
    for at, wrong in [
        (0, start[:0].copy()),
        (0, start[1:].copy()),
        (2, weight[1:].copy()),
        (3, core[:, 1:].copy()),
        (4, seed_start[:0].copy()),
        (4, np.zeros(LANES + 2, "i8")),
        (6, length[1:].copy()),
        (7, np.empty((40, LANES + 1))),
    ]:
        misfit("sweep", *replaced(arguments, at, wrong))


def some_lengths(m, share=0.3):
    rng = np.random.default_rng(m)
    lengths = np.where(rng.random((m, m)) < share, rng.choice([0.0, 0.5, 2.0**-1060, 1 / 3], (m, m)), np.inf)
    return np.triu(lengths, 1) + np.where(np.tri(m, dtype=bool), np.inf, 0.0)


@pytest.mark.parametrize("m", [0, 1, 5, 70])
def test_dense_elimination(m):
    w, half = some_lengths(m), m // 2
    for begin, end in [(0, m), (0, half), (half, half)]:
        compare("eliminate_within", dense_paths.eliminate_within, [w, begin, end])
    for first, last in [(half, m), (m - m // 4, m), (m, m)]:
        for tile in (1, 16, 2**62):
            arguments = [w, m // 4, half, first, last, tile]
            compare("eliminate_from", dense_paths.eliminate_from, arguments)


def edges_of(w, begin, end):
    m = len(w)
    out = np.empty(end - begin + 1, "i8"), np.zeros((end - begin) * m, "i8"), np.zeros((end - begin) * m)
    start, via, length = run_variants("later_edges", [w, begin, end, *out])[1][3:]
    return start, via[: start[-1]], length[: start[-1]]


@pytest.mark.parametrize("m", [0, 1, 5, 90])
def test_dense_distances(m):
    w = some_lengths(m)
    loops.eliminate_within(w, 0, m)
    for begin, end in [(0, m // 3), (m // 2, m), (m, m)]:
        edges = edges_of(w, begin, end)
        for one, other in zip(edges, dense_paths.later_edges(w, begin, end), strict=True):
            np.testing.assert_array_equal(one, other)
        compare("distances_within", dense_paths.distances_within, [w, begin, end, *edges])
        for left in (end, (end + m) // 2):
            for block in (1, 16, 2**62):
                arguments = [w, begin, end, *edges, left, m, block]
                compare("distances_to", dense_paths.distances_to, arguments)


def test_dense_paths_refuse_wrong_indices():
    w = some_lengths(20)
    start, via, length = edges_of(w, 4, 10)
    arguments = [w, 4, 10, start, via, length]
    for at, wrong in [
        (3, changed(start, 0, 1)),
        (3, changed(start, 2, 2**60)),
        (3, changed(start, 2, -1)),
        (3, changed(start, -1, len(via) + 1)),
        (4, changed(via, 0, 4)),
        (4, changed(via, -1, 20)),
        (5, length[1:].copy()),
    ]:
        refused("distances_within", *replaced(arguments, at, wrong))
        refused("distances_to", *replaced(arguments, at, wrong), 10, 20, 4)
    oblong = np.ones((20, 19))
    for begin, end in [(-1, 3), (3, 2), (0, 21)]:
        sized = np.zeros(max(end - begin + 1, 0), "i8"), np.zeros(0, "i8"), np.zeros(0)
        misfit("eliminate_within", w, begin, end)
        misfit("eliminate_from", w, begin, end, 20, 20, 1)
        misfit("eliminate_from", w, 0, 0, begin, end, 1)
        misfit("later_edges", w, begin, end, *sized)
        misfit("distances_within", w, begin, end, *sized)
        misfit("distances_to", w, begin, end, *sized, 20, 20, 1)
        misfit("distances_to", w, *arguments[1:], begin, end, 1)
    misfit("eliminate_from", w, 4, 10, 9, 20, 1)
    misfit("eliminate_from", w, 4, 10, 10, 20, 0)
    misfit("distances_to", *arguments, 9, 20, 1)
    misfit("distances_to", *arguments, 10, 20, 0)
    misfit("distances_to", *replaced(arguments, 3, start[1:].copy()), 10, 20, 1)
    misfit("distances_within", *replaced(arguments, 3, start[1:].copy()))
    misfit("later_edges", w, 4, 10, np.empty(7, "i8"), np.empty(119, "i8"), np.empty(119))
    misfit("later_edges", w, 4, 10, np.empty(6, "i8"), np.empty(120, "i8"), np.empty(120))
    misfit("eliminate_within", oblong, 0, 5)
    misfit("eliminate_from", oblong, 0, 5, 5, 9, 4)
    misfit("later_edges", oblong, 4, 10, np.empty(7, "i8"), np.empty(120, "i8"), np.empty(120))
    misfit("distances_within", oblong, *arguments[1:])
    misfit("distances_to", oblong, *arguments[1:], 10, 20, 4)
