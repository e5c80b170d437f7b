"""Lanczos steps with full orthogonalisation."""

from __future__ import annotations

import numpy as np

from eigenscape._compiled.jit import njit


@njit(nogil=True)
def extend_krylov(indptr, indices, data, bound, V, T, n_known, start, stop):
    """Extend an orthonormal basis by Lanczos steps with ``B = bound - A``, ``A`` symmetric in CSR format.

    The rows of ``V`` are ``n_known`` vectors, which are projected out, then the basis: ``start + 1`` vectors
    before, ``stop + 1`` after. ``T[:stop, :stop]`` becomes the projection of ``B`` on the first ``stop``.
    Returns the number of vectors with a column in ``T``, less than ``stop`` if they span an invariant space,
    and the length of the last residual.
    """
    w = np.empty(V.shape[1])
    length = 0.0
    for j in range(start, stop):
        q = V[n_known + j]
        _multiply(indptr, indices, data, bound, q, w)
        before = V[: n_known + j + 1]
        # In exact arithmetic w lies in the space of the last two vectors, except after a restart. Without
        # these parts one orthogonalisation suffices.
        T[: j + 1, j] = 0.0
        T[j, j] = np.dot(q, w)
        w -= T[j, j] * q
        if j > start:
            T[j - 1, j] = length
            w -= length * V[n_known + j - 1]
        length, previous = np.sqrt(np.dot(w, w)), np.inf
        while length < 0.5 * previous:  # repeat while most of w lies in the basis, as rounding dominates
            previous = length
            h = np.dot(before, w)
            w -= np.dot(h, before)
            T[: j + 1, j] += h[n_known:]
            length = np.sqrt(np.dot(w, w))
            if length <= 1e-14 * bound:
                break
        T[j, : j + 1] = T[: j + 1, j]
        if length <= 1e-14 * bound:
            return j + 1, 0.0
        V[n_known + j + 1] = w / length
    return stop, length


@njit(nogil=True)
def _multiply(indptr, indices, data, bound, q, w):
    """Write ``(bound - A) q`` to ``w``.

    Numbers without sign need no test whether they count from the end, which takes most of the time.
    """
    for i in range(len(w)):
        total = 0.0
        for t in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[t] * q[np.uint64(indices[t])]
        w[i] = bound * q[i] - total
