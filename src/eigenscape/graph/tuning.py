"""Sizes and thresholds of neighbour searches and graphs, each with its reason.

They change the time of a search, not its result, except in approximate searches.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of this package."""

    # --- choice of an index ---
    #: Up to this many features a k-d tree is used always, above the second number never. Between them it is
    #: used if a search visits few of its leaves: fewer than this fraction of the points, where blocks cost
    #: as much, and than this number, where an approximate search does (60 000 rows of 12 features in 9
    #: clusters: tree 18 s, blocks 5.8 s, approximate 2.3 s; on a surface: tree 0.5 s).
    tree_features: tuple[int, int] = (6, 16)
    leaf_fraction: float = 1 / 128
    most_leaves: int = 128
    #: Number of rows in the sample that tells how many leaves are visited; fewer rows get a tree.
    sampled_rows: int = 2048
    #: Above this many points, or this many operations, ``"auto"`` searches high-dimensional rows
    #: approximately: blocks take time ``n^2 (d + 64)``, the second term for the selection.
    exact_points: int = 30_000
    exact_operations: float = 1e11

    # --- k-d tree ---
    #: Number of queries below which their order does not matter, and number of queries of a block.
    unordered_queries: int = 1000
    tree_queries: int = 2**17
    #: Up to this many points the edges of new points are searched in blocks, in a third of the time for one
    #: (1 000 points in 8 dimensions: 0.1 ms) and equal time for as many as there are points.
    few_points: int = 2**11

    # --- blocks of distances, and lower bounds of them ---
    #: Number of bounds in a block, which fit in the processor's cache; and the least number of its rows.
    cached_bounds: int = 2**18
    least_block: int = 128
    #: Principal directions are used for at least this many rows and features; fewer rows of as many features
    #: are compared at once (16 MB).
    least_rows: int = 2000
    least_features: int = 192
    #: Numbers of directions to choose from, and numbers of rows and queries by which they are chosen.
    directions: tuple[int, ...] = (32, 64, 96, 128)
    direction_rows: int = 512
    direction_queries: int = 64
    #: Number of neighbours for which directions are chosen, and the cost of a candidate: its distance is
    #: computed in double precision by a loop, which takes longer per feature than a matrix product.
    direction_neighbors: int = 12
    candidate_cost: float = 16.0
    #: Number of rows of a block of a symmetric product, and size of the blocks in which rows are prepared.
    bound_tile: int = 128
    bound_bytes: int = 4 * 2**20

    # --- approximate search ---
    #: The index is tuned until this fraction of the true neighbours of a sample is found.
    recall: float = 0.99
    #: Number of points of the sample, and of the neighbours of each.
    recall_points: int = 400
    recall_neighbors: int = 10
    #: Fraction of the neighbours whose cells must be visited.
    cell_recall: float = 0.997
    #: Numbers of principal components that are tried, and candidates per neighbour above which more are.
    components: tuple[int, ...] = (64, 128, 256)
    most_candidates: int = 20
    #: Factor of the number of cells in a search within radii: points in the open have large ones.
    radius_visits: float = 1.25
    #: Number of points whose radius most probably reaches a query, for which this is examined.
    radius_candidates: int = 100
    #: Number of distances between components that are computed to find the shortest edges between them.
    bridge_distances: int = 4 * 10**8
    #: Number of queries that are searched together, whose distances fit in the processor's cache, and number
    #: of rows that one thread compares with them.
    approximate_queries: int = 256
    compared_rows: int = 10_000
    #: Bound of the relative error of remainders: they are roots of differences in single precision.
    remainder_error: float = 1e-3
    #: Binary exponent beyond which squares of rows may overflow or vanish in single precision.
    single_exponent: int = 40
    #: Iterations of k-means, and number of points per centre that it uses.
    kmeans_iterations: int = 8
    kmeans_points: int = 64

    # --- rows and sparse matrices ---
    #: Size of the blocks that are hashed, which fit in the processor's cache.
    hash_bytes: int = 2**18
    #: Number of rows of a sparse matrix that a thread writes.
    sparse_rows: int = 2**15

    # --- components ---
    #: Above this many neighbours it is cheaper to search the complement of a component directly.
    most_neighbors: int = 256
    #: Up to this many components the closest points of every pair of them are found at once.
    most_components: int = 128
    #: Below this many components a tree is built of the points outside each of them; lists of neighbours of
    #: all points cost more (200 000 points in 3 dimensions, 4 clusters: 6.9 s, trees 1.2 s).
    few_components: int = 16
    #: A query of a k-d tree far away from the points costs as much as this many distances in blocks, times
    #: two for each feature (12 000 points in 15 dimensions, 9 clusters: trees 8.3 s, blocks 0.2 s).
    far_distances: float = 512.0

    # --- shortest paths ---
    #: Number of sources up to which it does not pay to renumber the vertices.
    unnumbered_sources: int = 32
    #: A search is kept as long as its graph, of at most this many vertices (100 MB): placing new points would
    #: otherwise take nearly as long as a fit.
    kept_vertices: int = 5000
    #: Distances that a thread computes at least before it is given other sources.
    task_distances: int = 2**17
    #: Least number of sources for which the elimination may pay, absolute and as a part of the vertices.
    few_sources: int = 64
    few_source_parts: int = 16
    #: Time that a search with a queue takes per edge and source, in additions of the elimination.
    search_cost: float = 17.0
    #: Mean number of edges per vertex up to which all vertices are eliminated in sparse form.
    sparse_edges: int = 40
    #: Part of the vertices that is eliminated in sparse form if more edges arise; the others form the core.
    sparse_part: float = 0.4
    #: Vertices of a block of the core, and columns of a tile.
    core_block: int = 64
    core_tile: int = 512


TUNING = Tuning()
