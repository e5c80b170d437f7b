"""Sizes, tolerances and thresholds of the methods, each with its reason.

Sizes and limits of iterations change the time of a fit; tolerances and floors also change its result.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of this package."""

    # --- aligned maps ---
    #: Number of parts into which links are divided; one part is left out at a time.
    link_folds: int = 4

    # --- clustering ---
    #: Clusters count as stable from this mean adjusted Rand index on.
    stable_clusters: float = 0.9
    #: A connected graph without a number of this stability has one cluster.
    single_cluster: float = 0.8
    #: Smallest eigengap of a stable number, relative to the largest of all numbers, that is no weak evidence.
    clear_eigengap: float = 0.5

    # --- compact ---
    #: Root mean square error, relative to the spread of the map, that is small enough.
    compact_error: float = 0.01

    # --- dictionary fit ---
    #: Rows per block once the dictionary is complete.
    block_rows: int = 2048

    # --- factor analysis ---
    #: Smallest noise variance relative to the variance of the feature: a feature that is a function of the
    #: others would have infinite likelihood.
    factor_noise: float = 1e-8

    # --- ppca fit ---
    #: Smallest noise variance relative to the mean variance of the features: data that lie exactly in a plane
    #: would have infinite likelihood.
    ppca_noise: float = 1e-10

    # --- inverse map ---
    #: Directions that the map shrinks to less than this fraction of the most stretched one are not inverted.
    flat: float = 1e-3
    #: Directions of the coefficients below this fraction of the largest eigenvalue are undetermined.
    coefficient_rank: float = 1e-8

    # --- iterative reduction ---
    #: Largest number of entries of ``M``.
    overlap_entries: float = 4e7

    # --- kernel centers ---
    #: Maximal distance of a training point to its nearest centre, in widths.
    center_distance: float = 30.0
    #: Smallest width of a kernel, relative to its largest.
    width_floor: float = 0.2

    # --- kernel eigenmap ---
    #: Largest eigenproblem that is solved with dense matrices by default.
    dense_kernels: int = 3000

    # --- mixture ---
    #: Subtracted from each posterior; negative results are dropped.
    negligible: float = 1e-7

    # --- kernel ridge ---
    #: Maximal number of centres; for more points the centres are evenly spaced among them.
    ridge_centers: int = 1000

    # --- landmark mds ---
    #: A search ends with this many landmarks, or with the number it starts with if that is larger. Where two
    #: eigenvalues are close, the map rotates with every doubling and comes to rest only when all points are
    #: landmarks, which is classical MDS.
    searched_landmarks: int = 1024

    # --- manifold parzen ---
    #: Number of points of a block at which the density is computed.
    density_points: int = 64

    # --- ordinal ---
    #: Largest number of steps in which a new point is placed.
    max_steps: int = 20_000

    # --- oriented pca ---
    #: Noise below this ratio to the largest counts as zero (variables in units of their spread).
    noise_rank: float = 1e-10

    # --- pca ---
    #: Up to this size the smaller matrix is formed and solved directly: as fast as iterating.
    dense_size: int = 2000

    # --- projection pursuit ---
    #: The search uses at most this many samples; the best directions are then refined on all samples.
    search_samples: int = 5000

    # --- pursuit regression ---
    #: Values of a projection are averaged in at most so many groups before a spline is fitted.
    max_groups: int = 100
    #: Ridge of a step of Gauss and Newton, relative to the mean diagonal.
    newton_ridge: float = 1e-3

    # --- pseudotime ---
    #: Fewest points on either side of a cut: the correlation of fewer is often 1 by chance.
    cut_points: int = 5


TUNING = Tuning()
