"""Eigenvectors of a large matrix computed from a few of its columns.

Burges sec. 2.1: if a submatrix ``A`` has the rank of the whole matrix, the Nystrom decomposition is exact.
If the rank is low only approximately, the error is the Schur complement of ``A``, and a number of columns
that is a small multiple of the rank works well; the eigenvectors of the cheaper second form are not exactly
orthogonal (sec. 2.1.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import eigh, subspace_angles
from sklearn.metrics.pairwise import rbf_kernel

from eigenscape.datasets import swiss_roll
from eigenscape.nystrom import approximate_eigh, exact_eigh, schur_error
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Burges 2005, sec. 2.1"
_RANK, _LEADING, _BANDWIDTH = 12, 5, 8.0
_FACTORS = (1, 1.5, 2, 3, 4, 6)  # number of columns divided by the rank


def run(context: Context) -> Outcome:
    """Decompose a matrix of rank 12, then the Gaussian kernel matrix of a swiss roll."""
    n_samples = context.pick(full=1500, quick=800, tiny=300)
    exact = low_rank_errors(n_samples, context.seed)
    X = swiss_roll(n_samples, random_state=context.seed)[0]
    K = rbf_kernel(X, gamma=1 / (2 * _BANDWIDTH**2))
    values, vectors = eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int(np.searchsorted(np.cumsum(values) / values.sum(), 0.99) + 1)
    repeats = context.pick(full=20, quick=8, tiny=4)
    counts = [round(factor * rank) for factor in _FACTORS]
    rows = np.array(
        [
            [few_columns(K, vectors, q, np.random.default_rng([context.seed, q, r])) for r in range(repeats)]
            for q in counts
        ]
    )
    medians = np.median(rows, axis=1)  # (counts, measures)
    best = [float(np.sqrt(np.sum(values[q:] ** 2) / np.sum(values**2))) for q in counts]
    twice, thrice = medians[_FACTORS.index(2)], medians[_FACTORS.index(3)]
    claims = [
        Claim(
            "exact if the submatrix has the rank of the matrix",
            "exact",
            f"rank {_RANK} of {n_samples}: error of the eigenvalues {exact['values']:.0e}, of the matrix"
            f" {exact['matrix']:.0e}, of orthogonality {exact['orthogonal']:.0e}",
            max(exact.values()) < 1e-9,
            criterion="all below 1e-9",
        ),
        Claim(
            "the error is the Schur complement",
            "||C - B'A^-1 B||",
            "relative difference to ||K - approximation||"
            f" {np.abs(rows[:, :, 0] / rows[:, :, 1] - 1).max():.0e}",
            bool(np.allclose(rows[:, :, 0], rows[:, :, 1], rtol=1e-5)),
            criterion="equal to 1e-5",
        ),
        Claim(
            "a number of columns that is a small multiple of the rank works well",
            "'observed to work well'",
            f"rank {rank} contains 99 % of the spectrum; error {twice[0]:.1e} with twice, {thrice[0]:.1e}"
            f" with three times as many columns (optimum {best[2]:.1e}, {best[3]:.1e})",
            bool(thrice[0] < 0.02),
            criterion="error below 2 % with three times as many",
        ),
        Claim(
            "eigenvectors of the cheaper form are not orthogonal",
            "not exactly orthogonal",
            f"largest |V'V - I| after scaling {thrice[3]:.2f}, of the exact form {thrice[5]:.0e}",
            bool(thrice[3] > 1e-3 and thrice[5] < 1e-9),
            criterion="above 1e-3, and below 1e-9 for the exact form",
        ),
    ]
    numbers = {
        "n_samples": n_samples,
        "bandwidth": _BANDWIDTH,
        "rank": rank,
        "exact": exact,
        "columns": counts,
        "best_possible": best,
        "repeats": repeats,
        "median": dict(
            zip(
                ("error", "schur", "angle_approximate", "skew_approximate", "angle_exact", "skew_exact"),
                medians.T,
                strict=True,
            )
        ),
    }
    return Outcome(claims, _figure(rows, counts, rank, best), numbers, "generated")


def low_rank_errors(n_samples: int, seed: int) -> dict[str, float]:
    """Return the errors of the exact form for a matrix of rank 12, given 15 of its columns."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_samples, _RANK)) * np.logspace(0, -2, _RANK)
    K, q = Z @ Z.T, _RANK + 3
    values, vectors = exact_eigh(K[:q, :q], K[:q, q:])
    true = np.linalg.eigvalsh(Z.T @ Z)[::-1]
    return {
        "values": float(np.abs(values - true).max() / true[0]),
        "matrix": float(np.abs((vectors * values) @ vectors.T - K).max() / np.abs(K).max()),
        "orthogonal": float(np.abs(vectors.T @ vectors - np.eye(_RANK)).max()),
    }


def few_columns(K: np.ndarray, vectors: np.ndarray, q: int, rng: np.random.Generator) -> list[float]:
    """Return the errors of decompositions from q random columns.

    These are the relative error of the matrix, the relative Schur complement, then for the approximate and
    the exact form the sine of the largest angle of the leading five eigenvectors and their deviation from
    orthogonality.
    """
    order = rng.permutation(len(K))
    P, V = K[np.ix_(order, order)], vectors[order, :_LEADING]
    A, B, C = P[:q, :q], P[:q, q:], P[q:, q:]
    forms: list[tuple[Any, Any]] = [approximate_eigh(A, B), exact_eigh(A, B)]
    values, U = forms[0]
    measures = [
        float(np.linalg.norm(P - (U * values) @ U.T) / np.linalg.norm(P)),
        schur_error(A, B, C).size / float(np.linalg.norm(P)),
    ]
    for _, U in forms:
        unit = U[:, :_LEADING] / np.linalg.norm(U[:, :_LEADING], axis=0)
        measures += [
            float(np.sin(subspace_angles(unit, V)[0])),
            float(np.abs(unit.T @ unit - np.eye(_LEADING)).max()),
        ]
    return measures


def _figure(rows: np.ndarray, counts: list[int], rank: int, best: list[float]) -> Figure:
    """Draw the errors of the matrix and of the eigenvectors against the number of columns."""
    figure = new_figure("Approximation of a Gaussian kernel matrix from a few columns", 11, 4.4)
    left, right = figure.subplots(1, 2)
    _band(left, counts, rows[:, :, 0], COLORS[0], "random columns")
    left.plot(counts, best, color=COLORS[6], linestyle="--", label="optimum of the same rank")
    left.set(title="Error of the matrix", ylabel="relative Frobenius norm = Schur complement")
    _band(right, counts, rows[:, :, 2], COLORS[1], "eigenvectors of A extended (eq. 1.25)")
    _band(right, counts, rows[:, :, 4], COLORS[2], "eigenvectors of the completed matrix (eq. 1.24)")
    right.set(title=f"Error of the leading {_LEADING} eigenvectors", ylabel="sine of the largest angle")
    for axes in (left, right):
        axes.set(yscale="log", xlabel="number of columns")
        axes.axvline(rank, color="#999999", linewidth=1, linestyle=":")
        axes.annotate(
            " 99 % of\n the spectrum",
            (rank, 0.03),
            xycoords=("data", "axes fraction"),
            color="#777777",
            fontsize=9,
        )
    left.legend(loc="upper right")
    right.legend(loc="center right", bbox_to_anchor=(1.0, 0.72), fontsize=9)
    return figure


def _band(axes: Any, x: list[int], values: np.ndarray, color: str, label: str) -> None:
    """Draw the median as a line and the range as a band."""
    axes.plot(x, np.median(values, axis=1), marker="o", color=color, label=label)
    axes.fill_between(x, values.min(axis=1), values.max(axis=1), color=color, alpha=0.15, linewidth=0)
