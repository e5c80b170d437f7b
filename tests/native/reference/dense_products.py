"""A dense matrix times a few vectors."""


def multiply_dense(K, V, first, last, out):
    """Compute ``out[c, i] = sum_j K[i, j] V[c, j]`` for the rows ``first`` to ``last``."""
    for i in range(first, last):
        for c in range(V.shape[0]):
            total = 0.0
            for j in range(K.shape[1]):
                total += K[i, j] * V[c, j]
            out[c, i] = total
