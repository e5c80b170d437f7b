"""Dense generalised problems ``A v = l B v`` with ``B`` positive semi-definite, and a guard for the rank of
``B``.

Oriented PCA has the signal against the noise here; other projections have graphs seen through a description
of their vertices. ``B`` is first scaled to a unit diagonal, so that the units of the variables do not pass
for a lack of rank, then decomposed: directions whose share in ``B`` is rounding are left out, and the rest is
whitened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.pairs import canonical_signs

_EPS = np.finfo(np.float64).eps


class Whitening(NamedTuple):
    """What a positive semi-definite matrix ``B`` does and does not see."""

    whitener: np.ndarray  # W (d, rank) with W'BW = I
    null: (
        np.ndarray
    )  # directions (d, d - rank) with B n = 0 up to rounding, of unit length in units of the variables


@dataclass(frozen=True, eq=False)
class GeneralizedPairs:
    """``values`` (r,) in order, ``vectors`` (d, r) with ``v_i' B v_j = delta_ij``, signs fixed, and the
    ``rank`` of ``B``.

    ``residuals`` (r,) are ``|A v - l B v| / (|B| |v|)``: comparable with the eigenvalues, whatever the scale
    of ``A``, ``B`` and ``v``."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    rank: int


def whiten(B: np.ndarray, rank_tol: float | None = None, size: np.ndarray | None = None) -> Whitening:
    """Whiten ``B`` and tell its null space.

    The variables are measured in units of ``size`` (d,), by default the root of the diagonal of ``B``.
    ``rank_tol`` is the eigenvalue in these units, relative to the largest, below which a direction counts as
    unseen; None is rounding level."""
    d = len(B)
    _memory.require(3 * 8.0 * d * d, f"a generalised eigen-problem of {d} variables", "use fewer variables")
    size = np.sqrt(np.maximum(np.diagonal(B), 0)) if size is None else size
    size = np.where(size > _EPS * size.max(initial=0.0), size, 1.0)
    values, vectors = linalg.eigh(_symmetric(B / size / size[:, None]))
    seen = values > (10 * d * _EPS if rank_tol is None else rank_tol) * values[-1]
    directions = vectors / size[:, None]
    return Whitening(directions[:, seen] / np.sqrt(values[seen]), directions[:, ~seen])


def generalized_eigh(
    A: np.ndarray,
    B: np.ndarray,
    count: int | None = None,
    order: str = "value",
    whitener: np.ndarray | None = None,
) -> GeneralizedPairs:
    """The leading pairs of ``A v = l B v`` on the range of ``B``.

    Parameters
    ----------
    A, B : ndarray of shape (d, d)
        Symmetric; ``B`` positive semi-definite. Nothing is said about directions that ``B`` does not see: a
        caller for whom ``A`` lives there too must ask :func:`whiten` first.
    count : int or None
        How many pairs; None, or more than the rank of ``B``, for all there are.
    order : {"value", "magnitude", "smallest"}
        Largest first, largest absolute first, or smallest first.
    whitener : ndarray of shape (d, rank), optional
        From :func:`whiten`, where the caller has it already or wants another guard.
    """
    W = whiten(B).whitener if whitener is None else whitener
    rank = W.shape[1]
    if rank == 0:
        return GeneralizedPairs(np.zeros(0), np.zeros((len(B), 0)), np.zeros(0), 0)
    values, inner = dense_eigh(_symmetric(W.T @ (A @ W)), rank if count is None else min(count, rank), order)
    vectors = canonical_signs(W @ inner)
    return GeneralizedPairs(values, vectors, relative_residuals(A, B, values, vectors), rank)


def relative_residuals(A: np.ndarray, B: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """``|A v - l B v| / (|B| |v|)`` of each pair."""
    error = np.linalg.norm(A @ vectors - values * (B @ vectors), axis=0)
    return error / (np.linalg.norm(B) * np.linalg.norm(vectors, axis=0))


def _symmetric(M: np.ndarray) -> np.ndarray:
    return (M + M.T) / 2
