"""Mixtures of affine maps: who belongs to which kernel, and the mixture's value."""

from __future__ import annotations

import numpy as np
from numba import njit

#: ``exp`` of less is nothing beside 1.
_NOTHING = -45.0


@njit(nogil=True, cache=True)
def count_members(exponents, threshold, top, total, counts):
    """``top_i = max_k e_ik``, ``total_i = sum_k exp(e_ik - top_i)`` and how many kernels have a larger share
    than ``threshold``.

    Exponents are compared after the largest is subtracted: far from all kernels their own digits do not
    resolve the threshold."""
    for i in range(exponents.shape[0]):
        top[i] = exponents[i].max()
        total[i] = 0.0
        for e in exponents[i]:
            if e == top[i]:
                total[i] += 1.0
            elif e - top[i] > _NOTHING:
                total[i] += np.exp(e - top[i])
        cut = np.log(threshold * total[i])
        count = 0
        for e in exponents[i]:
            if e == top[i] or e - top[i] > cut:
                count += 1
        counts[i] = count


@njit(nogil=True, cache=True)
def fill_members(exponents, threshold, top, totals, indptr, columns, shares, kept):
    """``s_ik = (q_ik - threshold)_+ / kept_i`` with ``q`` the share of the sum and ``kept`` what makes the
    ``s`` sum to one."""
    for i in range(exponents.shape[0]):
        place = indptr[i]
        cut = np.log(threshold * totals[i])
        total = 0.0
        for k in range(exponents.shape[1]):
            below = 0.0 if exponents[i, k] == top[i] else exponents[i, k] - top[i]
            if below == 0.0 or below > cut:
                columns[place] = k
                shares[place] = np.exp(below) / totals[i] - threshold
                total += shares[place]
                place += 1
        for e in range(indptr[i], place):
            shares[e] /= total
        kept[i] = total


@njit(nogil=True, cache=True)
def mix_affine(X, indptr, columns, shares, centers, slopes, offsets, out):
    """``out_i = sum_k s_ik (offsets_k + (x_i - centers_k)' slopes_k)``, slopes (K, d, c)."""
    n_outputs = offsets.shape[1]
    for i in range(X.shape[0]):
        for c in range(n_outputs):
            out[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            k = columns[e]
            share = shares[e]
            for c in range(n_outputs):
                out[i, c] += share * offsets[k, c]
            for j in range(X.shape[1]):
                step = share * (X[i, j] - centers[k, j])
                for c in range(n_outputs):
                    out[i, c] += step * slopes[k, j, c]


@njit(nogil=True, cache=True)
def mark_members(rows, indptr, columns, marked):
    """Mark the kernels that any of ``rows`` belongs to."""
    for i in rows:
        for e in range(indptr[i], indptr[i + 1]):
            marked[columns[e]] = True


@njit(nogil=True, cache=True)
def local_coordinates(rows, X, indptr, columns, shares, centers, projections, plain, slot, out):
    """``out[r, slot_k] = s_ik (K_k (x_i - mu_k), 1)`` for ``i = rows[r]``; ``plain`` leaves out the
    projections ``K_k`` (q, d)."""
    d = X.shape[1]
    n_local = out.shape[2] - 1
    out[:] = 0.0
    for r in range(len(rows)):
        i = rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            k = columns[e]
            share = shares[e]
            place = out[r, slot[k]]
            place[n_local] = share
            for q in range(n_local):
                if plain:
                    place[q] = share * (X[i, q] - centers[k, q])
                else:
                    for j in range(d):
                        place[q] += share * projections[k, q, j] * (X[i, j] - centers[k, j])
