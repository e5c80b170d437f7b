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
    m = V.shape[1]
    w = np.empty(m)
    length = 0.0
    for j in range(start, stop):
        q = V[n_known + j]
        for i in range(m):
            total = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                total += data[t] * q[indices[t]]
            w[i] = bound * q[i] - total
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
