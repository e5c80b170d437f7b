"""k-means: greedy seeding and Lloyd's iteration."""

from __future__ import annotations

import numpy as np


def _squared_distances(X, center, out):
    for i in range(X.shape[0]):
        total = 0.0
        for f in range(X.shape[1]):
            offset = X[i, f] - center[f]
            total += offset * offset
        out[i] = total


def seed_centers(X, weights, uniform, centers):
    """Choose ``centers`` (k, d) among the rows of ``X`` (n, d) (Arthur and Vassilvitskii 2007).

    Each is drawn with a probability proportional to the weight (n,) and the squared distance from the centres
    before it; of several draws the one that reduces the weighted sum of these most is kept. ``uniform`` (k,
    draws) are random numbers in [0, 1).
    """
    n, (k, draws) = len(X), uniform.shape
    mass = np.cumsum(weights)
    first = min(np.searchsorted(mass, uniform[0, 0] * mass[-1], side="right"), n - 1)
    centers[0] = X[first]
    nearest, trial, best = np.empty(n), np.empty(n), np.empty(n)
    _squared_distances(X, centers[0], nearest)
    for c in range(1, k):
        cumulative = np.cumsum(weights * nearest)
        lowest = np.inf
        for t in range(draws):
            i = min(np.searchsorted(cumulative, uniform[c, t] * cumulative[-1], side="right"), n - 1)
            _squared_distances(X, X[i], trial)
            np.minimum(trial, nearest, out=trial)
            total = np.cumsum(weights * trial)[-1]  # in this order
            if total < lowest:
                lowest = total
                centers[c] = X[i]
                best[:] = trial
        nearest[:] = best


def improve_centers(X, weights, centers, max_iter, tol, inertia):
    """Move ``centers`` to the means of the rows nearest to them until they move by at most ``tol``.

    Means are weighted. ``tol`` is a sum of squares. An empty cluster takes the row farthest from its centre.
    ``inertia`` (1,) becomes the weighted sum of the squared distances of all rows to the nearest centre.
    """
    n, d = X.shape
    k = len(centers)
    sums, counts, distance = np.empty((k, d)), np.empty(k), np.empty(n)
    for step in range(max_iter + 1):
        sums[:], counts[:] = 0.0, 0
        inertia[0] = 0.0
        for i in range(n):
            nearest, label = np.inf, 0
            for c in range(k):
                total = 0.0
                for f in range(d):
                    offset = X[i, f] - centers[c, f]
                    total += offset * offset
                if total < nearest:
                    nearest, label = total, c
            distance[i] = nearest
            inertia[0] += weights[i] * nearest
            counts[label] += weights[i]
            for f in range(d):
                sums[label, f] += weights[i] * X[i, f]
        if step == max_iter:
            break
        moved = 0.0
        for c in range(k):
            farthest = np.argmax(distance) if counts[c] == 0 else 0
            for f in range(d):
                mean = X[farthest, f] if counts[c] == 0 else sums[c, f] / counts[c]
                moved += (mean - centers[c, f]) ** 2
                centers[c, f] = mean
            if counts[c] == 0:
                distance[farthest] = 0.0
        if moved <= tol:
            break
