"""Limits and thresholds of reports: what is computed, what is shown, what counts as large."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Constants of this package."""

    # --- charts ---
    #: Maximum number of characters of a name in a chart.
    name_length: int = 28
    #: Number of names in a row of a legend.
    names_across: int = 3

    # --- columns ---
    #: Maximum number of characters of a text.
    text_length: int = 120

    # --- details ---
    #: Largest array, in values, whose fingerprint is computed.
    hashed_values: int = 2**29

    # --- rules ---
    #: Neighbourhoods of at most this share of the points are local.
    local_share: float = 0.2

    # --- map data ---
    #: Number of rows by which input columns are selected.
    selected_points: int = 5000

    # --- measures ---
    #: Number of neighbours, if there are enough points.
    n_neighbors: int = 10
    #: Number of points whose neighbours are compared.
    n_samples: int = 1000
    #: Maximum number of distances from them to all points; with very many points fewer are sampled.
    max_distances: int = 3 * 10**7
    #: Largest neighbourhood of the co-ranking curve.
    max_neighborhood: int = 2000
    #: Maximum number of labelled points used for the purity.
    max_labelled: int = 20_000
    #: Maximum number of points for which the negative part of the spectrum is computed.
    max_spectrum: int = 3000
    #: An eigengap is clear if it is this multiple of the second largest.
    clear_gap: float = 2.0
    #: Rows are uneven if the largest total exceeds the median by this factor.
    uneven: float = 3.0

    # --- placing ---
    #: Maximum number of bytes of the dictionary and its coefficients.
    placing_bytes: int = 2_000_000
    #: Maximum number of coordinates.
    placing_coordinates: int = 12

    # --- points ---
    #: Number of rows transformed again to check that they are the training rows.
    checked_points: int = 10
    #: Tolerance of their coordinates, relative to the largest; covers rows of lower precision.
    tolerance: float = 1e-3

    # --- references ---
    #: Maximum number of rows taken from a stream.
    streamed_rows: int = 20_000

    # --- refits ---
    #: Maximum number of points of a further fit.
    refit_rows: int = 2000
    #: Share of the points held out if none are given.
    held_out: float = 0.2
    #: Maximum number of coordinates of a further fit.
    refit_coordinates: int = 12

    # --- sections ---
    #: Number of points listed as the least stable.
    listed: int = 8

    # --- stability ---
    n_repeats: int = 3

    # --- few points ---
    #: Number of points that are named.
    named: int = 6
    #: Largest standard deviation of points that are called almost equal, relative to the range of the
    #: coordinate.
    almost_equal: float = 0.02

    # --- scales ---
    #: Least absolute correlation of a coordinate that is called almost equal to a column.
    min_correlation: float = 0.95
    #: Share of the variance from which the other columns hardly matter.
    almost_one: float = 0.95


TUNING = Tuning()
