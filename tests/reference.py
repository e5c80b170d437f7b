"""Slow, literal transcriptions of the papers' formulas: plain numpy, one loop a sum.

Nothing here knows the library. Kernels and distances are functions of two points; ``X`` are training points,
``Y`` any points."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np


def euclidean(x, y):
    return np.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def manhattan(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def gaussian(gamma):
    return lambda x, y: np.exp(-gamma * euclidean(x, y) ** 2)  # Bengio eq. 4


def table(function, Y, X):
    """Values of a function of two points on all pairs."""
    return np.array([[function(y, x) for x in X] for y in Y])


# Additive normalisation


def centred_kernel(kernel, Y, X):
    """Bengio eq. 5: averages over the training set, for new points too."""
    m = len(X)
    grand = sum(kernel(a, b) for a in X for b in X) / m**2
    column = [sum(kernel(a, x) for a in X) / m for x in X]
    out = np.empty((len(Y), m))
    for i, y in enumerate(Y):
        row = sum(kernel(y, b) for b in X) / m
        for j, x in enumerate(X):
            out[i, j] = kernel(y, x) - column[j] - row + grand
    return out


def centred_distances(squared):
    """Bengio eq. 8 and 9, from a matrix of squared distances."""
    m = len(squared)
    S = [sum(squared[i, j] for j in range(m)) for i in range(m)]
    total = sum(S)
    out = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            out[i, j] = -0.5 * (squared[i, j] - S[i] / m - S[j] / m + total / m**2)
    return out


def centred_distance_kernel(squared_new, squared):
    """Bengio eq. 10, from squared distances new-to-training and training-to-training."""
    m = len(squared)
    grand = sum(squared[i, j] for i in range(m) for j in range(m)) / m**2
    out = np.empty_like(squared_new)
    for i in range(len(squared_new)):
        row = sum(squared_new[i, j] for j in range(m)) / m
        for j in range(m):
            column = sum(squared[a, j] for a in range(m)) / m
            out[i, j] = -0.5 * (squared_new[i, j] - column - row + grand)
    return out


def general_centring(squared, c):
    """Burges sec. 2.2.1: ``-1/2 P^c D P^c'`` with ``P^c = I - e c'``."""
    m = len(squared)
    P = np.array([[float(i == j) - c[j] for j in range(m)] for i in range(m)])
    return -0.5 * P @ squared @ P.T


# Divisive normalisation


def divided_gram(K):
    """Bengio eq. 11."""
    m = len(K)
    S = [sum(K[i, j] for j in range(m)) for i in range(m)]
    return np.array([[K[i, j] / np.sqrt(S[i] * S[j]) for j in range(m)] for i in range(m)])


def divided_kernel(K_new, K):
    """Bengio eq. 12, from kernel values new-to-training and training-to-training."""
    m = len(K)
    out = np.empty_like(K_new)
    for i in range(len(K_new)):
        row = sum(K_new[i, j] for j in range(m)) / m
        for j in range(m):
            column = sum(K[a, j] for a in range(m)) / m
            out[i, j] = K_new[i, j] / np.sqrt(column * row) / m
    return out


def divided_without_diagonal(K_new, K, is_point):
    """Bengio footnote 3: sums over ``j`` other than the point itself.

    ``is_point(i, j)``: whether new point i is training point j.
    """
    m = len(K)
    S = [sum(K[i, j] for j in range(m) if j != i) for i in range(m)]
    S_new = [sum(row[j] for j in range(m) if not is_point(i, j)) for i, row in enumerate(K_new)]
    return np.array([[K_new[i, j] / np.sqrt(S_new[i] * S[j]) for j in range(m)] for i in range(len(K_new))])


def generalized_problem(K, count):
    """Bengio eq. 13: ``(S - K) z = sigma S z`` after the first, with ``z' S z = 1``."""
    S = np.diag(K.sum(axis=1))
    sigma, Z = np.linalg.eig(np.linalg.inv(S) @ (S - K))
    order = np.argsort(sigma.real)[1 : count + 1]
    sigma, Z = sigma.real[order], Z.real[:, order]
    return sigma, Z / np.sqrt(np.einsum("ir,i,ir->r", Z, np.diag(S), Z))


# Eigenfunctions


def principal(K, count):
    """Eigenvalues, largest first, and eigenvectors of a Gram matrix (Bengio eq. 1)."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def nystrom(K_new, values, vectors):
    """Bengio eq. 20: ``f_r(x) = sqrt(m) / l_r sum_i v_ri k_m(x, x_i)``; eq. 23 is this over ``sqrt(m)``."""
    m, count = vectors.shape
    f = np.empty((len(K_new), count))
    for a in range(len(K_new)):
        for r in range(count):
            f[a, r] = np.sqrt(m) / values[r] * sum(vectors[i, r] * K_new[a, i] for i in range(m))
    return f


def landmark_formula(squared_new, squared, values, vectors):
    """Bengio eq. 15: ``e_r(x) = 1 / (2 sqrt(l_r)) sum_i v_ri (E[d^2(x', x_i)] - d^2(x_i, x))``."""
    m, count = vectors.shape
    e = np.zeros((len(squared_new), count))
    for a in range(len(squared_new)):
        for r in range(count):
            for i in range(m):
                mean = sum(squared[b, i] for b in range(m)) / m
                e[a, r] += vectors[i, r] * (mean - squared_new[a, i])
            e[a, r] /= 2 * np.sqrt(values[r])
    return e


def anchor_weights(Y, anchors):
    """Weights of points on their nearest anchors: ``(1 - d^2 / d_s^2)^2`` over its sum."""
    A = np.zeros((len(Y), len(anchors)))
    for a, y in enumerate(Y):
        distances = np.array([euclidean(y, z) for z in anchors])
        some = nearest(distances, min(8, len(anchors)))
        farthest = max(distances[i] for i in some)
        for i in some:
            A[a, i] = (1 - distances[i] ** 2 / farthest**2) ** 2
        A[a] /= A[a].sum()
    return A


def anchored_problem(rough, measure, A, count):
    """``A'RA u = s A'DA u`` with ``u'A'DAu = 1``: the smallest ``s`` after the constant, and ``u``."""
    inverse = np.linalg.inv(np.linalg.cholesky(A.T @ np.diag(measure) @ A))
    values, V = np.linalg.eigh(inverse @ (A.T @ rough @ A) @ inverse.T)
    return values[1 : count + 1], inverse.T @ V[:, 1 : count + 1]


def loss(K_new, f_new, f_train, values):
    """Bengio sec. 4: mean of ``(k_m(x, y) - sum_r lambda_r f_r(x) f_r(y))^2`` with ``lambda_r = l_r / m``."""
    n, m = K_new.shape
    total = 0.0
    for i in range(n):
        for j in range(m):
            expansion = sum(values[r] / m * f_new[i, r] * f_train[j, r] for r in range(len(values)))
            total += (K_new[i, j] - expansion) ** 2
    return total / (n * m)


def held_out_loss(K, f, values, m):
    """The same over all pairs of two different new points, of which ``K`` is the kernel among them."""
    total, count = 0.0, 0
    for i in range(len(K)):
        for j in range(len(K)):
            if i != j:
                expansion = sum(values[r] / m * f[i, r] * f[j, r] for r in range(len(values)))
                total += (K[i, j] - expansion) ** 2
                count += 1
    return total / count


def centred_between(K_among, K_new, K):
    """Bengio eq. 10 for two new points: all means over the training set."""
    n, m = K_new.shape
    grand = sum(K[a, b] for a in range(m) for b in range(m)) / m**2
    mean = [sum(K_new[i, a] for a in range(m)) / m for i in range(n)]
    return np.array([[K_among[i, j] - mean[i] - mean[j] + grand for j in range(n)] for i in range(n)])


def divided_between(K_among, K_new, power=0.5):
    """Bengio eq. 12 for two new points: both sums over the training set."""
    n, m = K_new.shape
    sums = [sum(K_new[i, a] for a in range(m)) for i in range(n)]
    return np.array([[K_among[i, j] / (sums[i] * sums[j]) ** power for j in range(n)] for i in range(n)])


# Neighbourhoods and geodesics


def nearest(distances, k, leave_out=None):
    """Positions of the ``k`` smallest distances, ties by position."""
    return sorted((j for j in range(len(distances)) if j != leave_out), key=lambda j: (distances[j], j))[:k]


def knn_edges(D, k):
    """Edge lengths, ``inf`` for none: either is among the other's ``k`` nearest (Bengio sec. 2.4)."""
    m = len(D)
    chosen = [nearest(D[i], k, leave_out=i) for i in range(m)]
    return np.array(
        [[D[i, j] if j in chosen[i] or i in chosen[j] else np.inf for j in range(m)] for i in range(m)]
    )


def knn_edges_new(D_new, D, k):
    """The same for new points: a training point's ``k`` nearest are known by its kept k-th distance."""
    m = len(D)
    kth = [D[i, nearest(D[i], k, leave_out=i)[-1]] for i in range(m)]
    out = np.full(D_new.shape, np.inf)
    for a in range(len(D_new)):
        chosen = nearest(D_new[a], k)
        for i in range(m):
            if i in chosen or D_new[a, i] <= kth[i]:
                out[a, i] = D_new[a, i]
    return out


def knn_edges_among(D_among, D_new, k):
    """Edges of new points: one is at least as near as the other's k-th nearest training point."""
    n = len(D_among)
    kth = [D_new[a, nearest(D_new[a], k)[-1]] for a in range(n)]
    out = np.full((n, n), np.inf)
    for a in range(n):
        for b in range(n):
            if a != b and (D_among[a, b] <= kth[a] or D_among[a, b] <= kth[b]):
                out[a, b] = D_among[a, b]
    return out


def radius_edges(D, radius):
    """All pairs within ``radius`` (Belkin sec. 2, step 1a)."""
    m = len(D)
    return np.array(
        [[D[i, j] if i != j and D[i, j] <= radius else np.inf for j in range(m)] for i in range(m)]
    )


def floyd(edges):
    """Shortest paths by Floyd's algorithm (Bengio sec. 2.5)."""
    length = edges.copy()
    np.fill_diagonal(length, 0.0)
    m = len(length)
    for via in range(m):
        for i in range(m):
            for j in range(m):
                length[i, j] = min(length[i, j], length[i, via] + length[via, j])
    return length


def shortest_by_enumeration(edges, start, end):
    """Bengio eq. 14 literally: the minimum over all sequences of points, for very few points."""
    inner = [i for i in range(len(edges)) if i not in (start, end)]
    best = np.inf if start != end else 0.0
    for size in range(len(inner) + 1):
        for middle in permutations(inner, size):
            path = [start, *middle, end]
            best = min(best, sum(edges[a, b] for a, b in pairwise(path)))
    return best


def geodesics_among(edges_among, edges_new, edges):
    """Bengio eq. 14 for each pair of new points: Floyd's algorithm with these two points added."""
    n, m = edges_new.shape
    out = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            joined = np.full((m + 2, m + 2), np.inf)
            joined[:m, :m] = edges
            joined[m, :m] = joined[:m, m] = edges_new[a]
            joined[m + 1, :m] = joined[:m, m + 1] = edges_new[b]
            joined[m, m + 1] = joined[m + 1, m] = edges_among[a, b]
            out[a, b] = out[b, a] = floyd(joined)[m, m + 1]
    return out


def geodesics_new(edges_new, length):
    """Bengio eq. 14 for a new point: an edge to a neighbour, then training points."""
    n, m = edges_new.shape
    return np.array(
        [[min(edges_new[a, i] + length[i, j] for i in range(m)) for j in range(m)] for a in range(n)]
    )


# Locally linear embedding


def local_weights(x, neighbours, reg):
    """Weights of ``x`` on its neighbours (Bengio sec. 2.6), by the regularised local Gram matrix; sum 1."""
    k = len(neighbours)
    gram = np.array([[(neighbours[r] - x) @ (neighbours[s] - x) for s in range(k)] for r in range(k)])
    gram = gram + np.eye(k) * reg * sum(gram[r, r] for r in range(k))
    w = np.linalg.solve(gram, np.ones(k))
    return w / sum(w)


def distance_gram(to_point, between):
    """``g_ij = (d_i^2 + d_j^2 - d_ij^2) / 2`` (Bengio sec. 1.2), without its negative eigenvalues."""
    k = len(to_point)
    gram = np.array(
        [[(to_point[i] ** 2 + to_point[j] ** 2 - between[i][j] ** 2) / 2 for j in range(k)] for i in range(k)]
    )
    values, vectors = np.linalg.eigh(gram)
    return sum(
        value * np.outer(vector, vector) for value, vector in zip(values, vectors.T, strict=True) if value > 0
    )


def distance_weights(to_point, between, reg):
    """Weights on the neighbours, from distances to the point and between the neighbours; sum 1."""
    k, gram = len(to_point), distance_gram(to_point, between)
    w = np.linalg.solve(gram + np.eye(k) * reg * np.trace(gram), np.ones(k))
    return w / sum(w)


def lle_weights_of_distances(D, neighbours_of, reg):
    """W of the training set, given its distances and a function that lists the neighbours of a point."""
    W = np.zeros(D.shape)
    for i in range(len(D)):
        own = neighbours_of(i)
        W[i, own] = distance_weights(D[i, own], D[np.ix_(own, own)], reg)
    return W


def lle_weights(X, k, reg):
    """W of the training set."""
    m = len(X)
    D = table(euclidean, X, X)
    W = np.zeros((m, m))
    for i in range(m):
        own = nearest(D[i], k, leave_out=i)
        W[i, own] = local_weights(X[i], X[own], reg)
    return W


def lle_weights_new(Y, X, k, reg):
    """``w(x, x_i)``: ``delta`` for a training point, else the weights on its own ``k`` nearest."""
    D = table(euclidean, Y, X)
    w = np.zeros(D.shape)
    for a, y in enumerate(Y):
        same = [j for j in range(len(X)) if np.array_equal(y, X[j])]
        if same:
            w[a, same[0]] = 1.0
        else:
            own = nearest(D[a], k)
            w[a, own] = local_weights(y, X[own], reg)
    return w


def lle_kernel(Y, X, k, reg, c):
    """``k_m = (c - 1) k' + k''`` (Bengio sec. 2.6)."""
    m = len(X)
    W = lle_weights(X, k, reg)
    inner = np.array(
        [[W[i, j] + W[j, i] - sum(W[a, i] * W[a, j] for a in range(m)) for j in range(m)] for i in range(m)]
    )
    out = (c - 1) * lle_weights_new(Y, X, k, reg)
    for a, y in enumerate(Y):
        for i in range(m):
            if np.array_equal(y, X[i]):
                out[a] += inner[i]
                break
    return out


def standard_alignment(X, k, reg):
    """``(I - W)'(I - W)``."""
    step = np.eye(len(X)) - lle_weights(X, k, reg)
    return step.T @ step


def ltsa_alignment(X, k, d):
    """Local tangent space alignment (Zhang and Zha): a neighbourhood is a point with its ``k`` nearest."""
    m = len(X)
    D = table(euclidean, X, X)
    M = np.zeros((m, m))
    for i in range(m):
        patch = [i, *nearest(D[i], k, leave_out=i)]
        local = X[patch] - X[patch].mean(axis=0)
        U = np.linalg.svd(local, full_matrices=False)[0][:, :d]
        G = np.column_stack([np.ones(k + 1) / np.sqrt(k + 1), U])
        M[np.ix_(patch, patch)] += np.eye(k + 1) - G @ G.T
    return M


def hessian_alignment(X, k, d):
    """Hessian eigenmaps (Donoho and Grimes): the last columns of the orthonormalised ``[1, U, U_i U_j]``."""
    m = len(X)
    D = table(euclidean, X, X)
    M = np.zeros((m, m))
    for i in range(m):
        patch = [i, *nearest(D[i], k, leave_out=i)]
        local = X[patch] - X[patch].mean(axis=0)
        U = np.linalg.svd(local, full_matrices=False)[0][:, :d]
        products = [U[:, a] * U[:, b] for a in range(d) for b in range(a, d)]
        Q, _ = np.linalg.qr(np.column_stack([np.ones(k + 1), U, *products]))
        H = Q[:, -len(products) :]
        M[np.ix_(patch, patch)] += H @ H.T
    return M


def modified_alignment(X, k, d, reg):
    """Modified LLE (Zhang and Wang): ``s_i`` weight vectors ``(1 - alpha_i) w_i 1' + V_i H_i`` each."""
    m = len(X)
    D = table(euclidean, X, X)
    own = [nearest(D[i], k, leave_out=i) for i in range(m)]
    spectra = []
    for i in range(m):
        U, s, _ = np.linalg.svd(X[own[i]] - X[i], full_matrices=True)
        spectra.append((np.concatenate([s**2, np.zeros(k - len(s))]), U))
    eta = np.median([sum(v[d:]) / sum(v[:d]) for v, _ in spectra])
    M = np.zeros((m, m))
    for i, (values, U) in enumerate(spectra):
        fitting = [s for s in range(1, k - d + 1) if sum(values[k - s :]) / sum(values[: k - s]) <= eta]
        s = max(fitting, default=1)
        V = U[:, k - s :]
        alpha = np.linalg.norm(V.T @ np.ones(k)) / np.sqrt(s)
        h = alpha * np.ones(s) - V.T @ np.ones(k)
        h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1e-12 else 0 * h
        W = (1 - alpha) * np.outer(local_weights(X[i], X[own[i]], reg), np.ones(s)) + V @ (
            np.eye(s) - 2 * np.outer(h, h)
        )
        for column in W.T:
            u = np.zeros(m)
            u[i] = -1.0
            u[own[i]] += column
            M += np.outer(u, u)
    return M


# Cuts


def normalized_cut(W, labels):
    """``sum_a cut(a, rest) / vol(a)``; for two parts Belkin's Ncut (sec. 4)."""
    m = len(W)
    total = 0.0
    for a in set(labels):
        cut = sum(W[u, v] for u in range(m) for v in range(m) if labels[u] == a and labels[v] != a)
        volume = sum(W[u, v] for u in range(m) for v in range(m) if labels[u] == a)
        total += cut / volume
    return total


def cheeger_value(W, part):
    """``cut(A, rest) / min(vol(A), vol(rest))`` of one set of vertices (Belkin sec. 4, footnote)."""
    m = len(W)
    rest = [u for u in range(m) if u not in part]
    cut = sum(W[u, v] for u in part for v in rest)
    volume = sum(W[u, v] for u in part for v in range(m))
    other = sum(W[u, v] for u in rest for v in range(m))
    return cut / min(volume, other)


def unexplained_fraction(K, p):
    """The residuals of Burges eq. 1.29, from the vectors themselves: rows of ``E Lambda^1/2``."""
    values, E = np.linalg.eigh(K)
    Y = (E * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    residual = length = 0.0
    for y in Y:
        kept = np.concatenate([y[:p], np.zeros(len(y) - p)])
        residual += np.sum((kept - y) ** 2)
        length += np.sum(y**2)
    return residual / length


def best_threshold_cut(W, z):
    """The least Ncut over all thresholds on ``z``, and the partition (Shi and Malik), by trying each."""
    candidates = []
    for value in sorted(set(z))[:-1]:
        labels = tuple(int(entry > value) for entry in z)
        candidates.append((normalized_cut(W, labels), labels))
    return min(candidates)


# Greedy dictionaries


def projection(K_new, own, M_inverse, sum_to_one):
    """Ouimet eq. 6 to 8: unconstrained weights, weights and ``delta`` of a point from kernel values (m,)."""
    ones = np.ones(len(K_new))
    a_hat = M_inverse @ K_new
    delta = own - K_new @ a_hat
    if not sum_to_one:
        return a_hat, a_hat, delta
    alpha, beta = 1 - a_hat.sum(), M_inverse.sum()
    return a_hat, a_hat + alpha / beta * (M_inverse @ ones), delta + alpha**2 / beta


def greedy_dictionary(K, tol, sum_to_one, known=None, stop=np.inf):
    """Ouimet algorithm 1, steps 1 to 16, from the Gram matrix: (numbers, M^-1); ``stop`` ends it once there
    are more than so many.

    The choice is made with the constrained ``delta``; eq. 9 needs the unconstrained one.
    """
    chosen, inverse = known or ([0], np.array([[1 / K[0, 0]]]))
    chosen = list(chosen)
    for t in range(len(K)):
        if t in chosen:
            continue
        k = K[t, chosen]
        a_hat, _, delta = projection(k, K[t, t], inverse, sum_to_one)
        if delta > tol:
            schur = K[t, t] - k @ a_hat
            inverse = (
                np.block(
                    [
                        [schur * inverse + np.outer(a_hat, a_hat), -a_hat[:, None]],
                        [-a_hat[None], np.ones((1, 1))],
                    ]
                )
                / schur
            )
            chosen.append(t)
            if len(chosen) > stop:
                break
    return chosen, inverse


def greedy_dictionary_of_size(K, size, sum_to_one, first_tol=1.0):
    """Ouimet algorithm 2."""
    known = ([0], np.array([[1 / K[0, 0]]]))  # steps 1 to 3
    low, high = 0.0, first_tol
    while len((found := greedy_dictionary(K, high, sum_to_one, known, size))[0]) > size:  # steps 4 to 13
        low, high = high, 10 * high
    known = found
    for _ in range(40):  # steps 14 to 24
        if len(known[0]) == size:
            return known[0]
        middle = low + (high - low) / 2
        found = greedy_dictionary(K, middle, sum_to_one, known, size)
        if len(found[0]) > size:
            low = middle
        else:
            high, known = middle, found
    return greedy_dictionary(K, low, sum_to_one, known, size)[0][:size]  # steps 25 and 26


def residual_diagonal(K, chosen, sum_to_one):
    """Squared distances in feature space from the span, or affine hull, of the points ``chosen``."""
    if not chosen:
        return np.diagonal(K).copy()
    inverse = np.linalg.inv(K[np.ix_(chosen, chosen)])
    delta = np.array([projection(K[t, chosen], K[t, t], inverse, sum_to_one)[2] for t in range(len(K))])
    delta[chosen] = 0.0
    return delta


def random_pivot_probabilities(K, size, sum_to_one):
    """Chen et al. 2022, algorithm 1: the probability of every sequence of ``size`` pivots."""
    sequences = {(): 1.0}
    for _ in range(size):
        longer = {}
        for chosen, probability in sequences.items():
            delta = residual_diagonal(K, list(chosen), sum_to_one)
            for t in np.flatnonzero(delta):
                longer[*chosen, int(t)] = probability * delta[t] / delta.sum()
        sequences = longer
    return sequences


def random_pivots(K, size, sum_to_one, seed, blocks):
    """Epperly et al. 2024, rejection sampling: one proposal after another, from the Gram matrix.

    ``blocks`` are the numbers of proposals after which the weights of the proposals are updated if there were
    as many as points.
    """
    rng, chosen = np.random.default_rng(seed), []
    while len(chosen) < size:
        weights = errors = residual_diagonal(K, chosen, sum_to_one)
        n_proposed = 0
        for block in blocks if chosen else [1]:
            for first, second in rng.random((block, 2)):
                t = np.searchsorted(np.cumsum(weights), first * weights.sum(), side="right")
                if len(chosen) < size and errors[t] > second * weights[t]:
                    chosen.append(int(t))
                    errors = residual_diagonal(K, chosen, sum_to_one)
            n_proposed += block
            if n_proposed >= len(K):
                break
    return chosen


def projection_weights(K_new, M, sum_to_one):
    """Ouimet eq. 10: rows ``A_t`` for kernel values (n, m) to the dictionary."""
    inverse = np.linalg.inv(M)
    return np.array([projection(k, 0.0, inverse, sum_to_one)[1] for k in K_new])


def normalised_weights(A, mean, M, n, normalization):
    """Ouimet prop. 2: the rows that replace ``A``; ``mean`` is the average row of the training points."""
    if normalization == "additive":
        return A - mean
    if normalization == "divisive":
        return np.array([row / np.sqrt(n * row @ M @ mean) for row in A])
    return A


# Weighted measures


def repeated(K, counts):
    """A Gram matrix in which point ``i`` occurs ``counts[i]`` times."""
    which = [i for i, count in enumerate(counts) for _ in range(count)]
    return np.array([[K[i, j] for j in which] for i in which])


def repeated_reconstruction(W, counts):
    """LLE weights in which point ``i`` occurs ``counts[i]`` times and shares its weight among its copies."""
    which = [i for i, count in enumerate(counts) for _ in range(count)]
    return np.array([[W[i, j] / counts[j] for j in which] for i in which])


def recursive_cut_labels(W, Z, n_clusters):
    """Split the part with the smallest two-way normalised cut, by all thresholds on all columns of ``Z``."""
    parts = [list(range(len(W)))]
    while len(parts) < n_clusters:
        best = (np.inf, None)
        for part in parts:
            for column in range(Z.shape[1]):
                for threshold in sorted({Z[i, column] for i in part})[:-1]:
                    low = [i for i in part if Z[i, column] <= threshold]
                    high = [i for i in part if Z[i, column] > threshold]
                    cut = sum(W[i, j] for i in low for j in high)
                    volumes = [sum(W[i, j] for i in side for j in part) for side in (low, high)]
                    if min(volumes) > 0 and sum(cut / volume for volume in volumes) < best[0] - 1e-12:
                        best = (sum(cut / volume for volume in volumes), (part, low, high))
        part, low, high = best[1]
        parts.remove(part)
        parts += [low, high]
    labels = np.empty(len(W), dtype=int)
    for number, part in enumerate(parts):
        labels[part] = number
    return labels


def label_affinity(K, codes, weight, cycles):
    """Affinities of the data and of classes: ``(1 - w) K + w l`` where both vertices have a label, else K.

    ``cycles`` lists, for each cycle and labelled vertex, the next one of its class. Each adds an edge in both
    directions; the affinities of the classes have the mean degree of the labelled vertices.
    """
    m, labelled = len(K), [i for i in range(len(K)) if codes[i] >= 0]
    degree = sum(K[i].sum() for i in labelled) / len(labelled)
    mixed = K.copy()
    for i in labelled:
        for j in labelled:
            mixed[i, j] = (1 - weight) * K[i, j]
    for following in cycles:
        for i in range(m):
            if codes[i] >= 0 and following[i] != i:
                mixed[i, following[i]] += weight * degree / (2 * len(cycles))
                mixed[following[i], i] += weight * degree / (2 * len(cycles))
    return mixed


# Coupled views


def coupled_gram(blocks, pairs, coupling):
    """Ham et al. 2005: the affinities of all views, and those of linked points.

    ``pairs`` are (view, point, view, point); a link weighs ``coupling`` times the mean degree."""
    starts = np.cumsum([0, *(len(K) for K in blocks)])
    m = starts[-1]
    out = np.zeros((m, m))
    for start, K in zip(starts, blocks, strict=False):
        for i in range(len(K)):
            for j in range(len(K)):
                out[start + i, start + j] = K[i, j]
    weight = coupling * sum(K.sum() for K in blocks) / m
    for a, i, b, j in pairs:
        out[starts[a] + i, starts[b] + j] = out[starts[b] + j, starts[a] + i] = weight
    return out
