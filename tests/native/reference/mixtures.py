"""Mixtures of affine maps: membership of points in kernels, and values of the mixture."""

from __future__ import annotations

import math

#: Exponents below this do not change a sum of at least 1.
_NEGLIGIBLE = -45.0


def count_members(exponents, threshold, top, total, counts):
    """Count the kernels whose share of the sum exceeds ``threshold``.

    ``top_i = max_k e_ik`` and ``total_i = sum_k exp(e_ik - top_i)``. The largest exponent is subtracted
    before exponents are compared, as their own digits do not resolve the threshold far from all kernels.
    """
    for i in range(exponents.shape[0]):
        top[i] = exponents[i].max()
        total[i] = 0.0
        for e in exponents[i]:
            if e == top[i]:
                total[i] += 1.0
            elif e - top[i] > _NEGLIGIBLE:
                total[i] += math.exp(e - top[i])
        cut = math.log(threshold * total[i])
        count = 0
        for e in exponents[i]:
            if e == top[i] or e - top[i] > cut:
                count += 1
        counts[i] = count


def fill_members(exponents, threshold, top, totals, indptr, columns, shares, kept):
    """Compute ``s_ik = (q_ik - threshold)_+ / kept_i`` of sum 1 over ``k``; ``q`` are shares of the sum."""
    for i in range(exponents.shape[0]):
        place = indptr[i]
        cut = math.log(threshold * totals[i])
        total = 0.0
        for k in range(exponents.shape[1]):
            below = 0.0 if exponents[i, k] == top[i] else exponents[i, k] - top[i]
            if below == 0.0 or below > cut:
                columns[place] = k
                shares[place] = math.exp(below) / totals[i] - threshold
                total += shares[place]
                place += 1
        for e in range(indptr[i], place):
            shares[e] /= total
        kept[i] = total


def mix_affine(X, indptr, columns, shares, centers, slopes, offsets, out):
    """Compute ``out_i = sum_k s_ik (offsets_k + (x_i - centers_k)' slopes_k)``, slopes (K, d, c)."""
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


def mark_members(rows, indptr, columns, marked):
    """Mark the kernels of which any of ``rows`` is a member."""
    for i in rows:
        for e in range(indptr[i], indptr[i + 1]):
            marked[columns[e]] = True


def local_coordinates(rows, X, indptr, columns, shares, centers, projections, plain, slot, out):
    """Compute ``out[r, slot_k] = s_ik (K_k (x_i - mu_k), 1)`` for ``i = rows[r]``.

    The projections ``K_k`` (q, d) are the identity if ``plain``.
    """
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
