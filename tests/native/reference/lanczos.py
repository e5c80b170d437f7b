"""Lanczos steps with full orthogonalisation: product with the matrix, and projection."""

import numpy as np


def multiply_shifted(indptr, indices, data, bound, V, row, length, w, products):
    """Replace ``w`` by ``(bound - A) q`` without its parts in ``q = V[row]`` and in the row before.

    If ``length``, the part in the row before, is not 0, ``q`` becomes ``w / length`` first.
    """
    q = V[row]
    if length != 0:
        q[:] = w / length
    for i in range(len(w)):
        total = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            total += data[t] * q[indices[t]]
        w[i] = bound * q[i] - total
    products[0] = np.dot(q, w)
    w -= products[0] * q
    if length != 0:
        w -= length * V[row - 1]
    products[1] = np.dot(w, w)


def project_out(V, count, w, parts, square):
    """Write the products of the first rows of ``V`` with ``w``, and subtract their multiples from it."""
    parts[:] = np.dot(V[:count], w)
    w -= np.dot(parts, V[:count])
    square[0] = np.dot(w, w)
