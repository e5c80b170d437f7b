"""Steps of conjugate gradients for a block of vectors."""


def products_with(K, Z, R, S, first, last, out):
    """Add ``K'Z``, the column products ``Z.R`` and ``Z.S`` of the rows ``first`` to ``last`` to ``out``."""
    known, columns = K.shape[1], Z.shape[1]
    for i in range(first, last):
        for k in range(known):
            for c in range(columns):
                out[k, c] += K[i, k] * Z[i, c]
        for c in range(columns):
            out[known, c] += Z[i, c] * R[i, c]
            out[known + 1, c] += Z[i, c] * S[i, c]


def next_direction(K, Z, inside, forward, first, last, P):
    """Replace ``P`` by ``Z - K inside + P diag(forward)`` in the rows ``first`` to ``last``."""
    for i in range(first, last):
        for c in range(Z.shape[1]):
            P[i, c] = Z[i, c] + P[i, c] * forward[c]
        for k in range(K.shape[1]):
            for c in range(Z.shape[1]):
                P[i, c] -= K[i, k] * inside[k, c]


def subtract_scaled(P, values, first, last, Q):
    """Subtract ``P diag(values)`` from ``Q`` in the rows ``first`` to ``last``."""
    for i in range(first, last):
        for c in range(P.shape[1]):
            Q[i, c] -= P[i, c] * values[c]


def advance_solution(K, P, Q, inside, length, first, last, X, R, S, out):
    """Add ``P diag(length)`` to ``X`` and subtract ``(Q - K inside) diag(length)`` from ``R``.

    ``S`` becomes the former ``R``; the column products ``R.R`` are added to ``out``.
    """
    for i in range(first, last):
        for k in range(K.shape[1]):
            for c in range(P.shape[1]):
                Q[i, c] -= K[i, k] * inside[k, c]
        for c in range(P.shape[1]):
            X[i, c] += P[i, c] * length[c]
            S[i, c] = R[i, c]
            R[i, c] -= Q[i, c] * length[c]
            out[c] += R[i, c] * R[i, c]


def divide_columns(B, scale, first, last, out):
    """Compute ``out = B diag(scale)^-1`` for the rows ``first`` to ``last``."""
    for i in range(first, last):
        for c in range(B.shape[1]):
            out[i, c] = B[i, c] / scale[c]


def multiply_columns(B, scale, first, last, out):
    """Compute ``out = B diag(scale)`` for the rows ``first`` to ``last``."""
    for i in range(first, last):
        for c in range(out.shape[1]):
            out[i, c] = B[i, c] * scale[c]
