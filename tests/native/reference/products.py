"""A sparse matrix times a block of vectors."""


def multiply_rows(indptr, indices, data, V, first, last, out):
    """Compute ``out[r] = sum_e data[e] V[indices[e]]`` for the rows ``first`` to ``last``."""
    for r in range(first, last):
        for c in range(V.shape[1]):
            out[r, c] = 0
        for e in range(indptr[r], indptr[r + 1]):
            for c in range(V.shape[1]):
                out[r, c] += data[e] * V[indices[e], c]
