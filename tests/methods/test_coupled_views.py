"""Coupled eigenmaps: the literal problem, the choice of the coupling, and its folds."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from cases import curve
from scipy.spatial.distance import cdist

from eigenscape import AlignedSpectralMaps
from eigenscape.kernels import Precomputed
from eigenscape.methods.aligned_maps import COUPLINGS, Views, _folds, choose_coupling, link_losses
from eigenscape.methods.tuning import TUNING
from eigenscape.solvers import SolverConfig

SOLVER = SolverConfig("dense", 1e-10, None, 0, 1)
RNG = np.random.default_rng(0)
POINTS, TURN = curve(60), RNG.standard_normal((3, 5))
VIEWS = [POINTS[:40], POINTS[20:] @ TURN]
PAIRS = [(0, 20 + i, 1, i) for i in range(12)]
LINKS = {(0, 1): [(i, j) for _, i, _, j in PAIRS]}


def test_coordinates_and_new_points_are_those_of_the_literal_problem() -> None:
    """Ham et al. as one matrix, Bengio eq. 13 for the vertices and eq. 12 and 20 for a new point."""
    model = AlignedSpectralMaps(2, coupling=0.7, n_neighbors=6).fit(VIEWS, links=LINKS)
    distances = [cdist(X, X) for X in VIEWS]
    K = ref.coupled_gram([np.isfinite(ref.knn_edges(D, 6)) * 1.0 for D in distances], PAIRS, 0.7)
    sigma, Z = ref.generalized_problem(K, 2)
    found = np.concatenate(model.embeddings_)
    signs = np.sign((found * Z).sum(axis=0))
    np.testing.assert_allclose(model.eigenvalues_, 1 - sigma, atol=1e-9)
    np.testing.assert_allclose(found, np.sqrt(len(K)) * Z * signs, atol=1e-8)
    new = curve(7, seed=5) @ TURN
    edges = np.isfinite(ref.knn_edges_new(cdist(new, VIEWS[1]), distances[1], 6))
    K_new = np.hstack([np.zeros((7, 40)), edges])  # no links
    values, vectors = ref.principal(ref.divided_gram(K), 3)
    f = ref.nystrom(ref.divided_kernel(K_new, K), values, vectors)
    expected = f[:, 1:] / np.sqrt(K_new.sum(axis=1))[:, None]
    expected *= np.sign((expected * model.transform(new, 1)).sum(axis=0))
    np.testing.assert_allclose(model.transform(new, 1), expected, atol=1e-8)


def test_rows_of_the_kernels_of_all_views_are_one_gram_matrix() -> None:
    """Law 3: the eigenvalues are those of the matrix that ``kernel_`` of the views yields."""
    model = AlignedSpectralMaps(2, coupling=2.0, n_neighbors=6).fit(VIEWS, links=LINKS)
    gram = np.vstack([model.maps_[v].kernel_(X).toarray() for v, X in enumerate(VIEWS)])
    np.testing.assert_allclose(gram, gram.T, atol=1e-14)
    np.testing.assert_allclose(np.linalg.eigvalsh(gram)[::-1][1:3], model.eigenvalues_, atol=1e-9)
    assert (model.residuals_ < 1e-9).all()


def ring(n: int) -> np.ndarray:
    """Affinities of a closed chain."""
    steps = np.roll(np.eye(n), 1, axis=1)
    return steps + steps.T


def test_unrelated_points_have_a_loss_of_one() -> None:
    coordinates = RNG.standard_normal((20000, 2)) * [3.0, 0.1]
    pairs = RNG.permutation(20000).reshape(-1, 2)
    assert link_losses(coordinates, pairs).mean() == pytest.approx(1, abs=0.05)
    assert link_losses(coordinates, np.repeat(pairs[:, :1], 2, axis=1)).max() == 0


def test_strong_links_shrink_the_distance_of_linked_rows() -> None:
    losses = [
        AlignedSpectralMaps(coupling=mu, n_neighbors=6).fit(VIEWS, links=LINKS).link_loss_
        for mu in (0.03, 0.3, 3.0)
    ]
    assert losses[2] < losses[1] / 3 < losses[0] / 9


def test_the_weakest_coupling_within_one_standard_error_is_chosen() -> None:
    model = AlignedSpectralMaps(n_neighbors=6).fit([POINTS, POINTS @ TURN], links="rows")
    losses = np.array(list(model.coupling_losses_.values()))
    assert list(model.coupling_losses_) == list(COUPLINGS)
    assert model.coupling_ <= COUPLINGS[int(np.argmin(losses))]
    assert losses[0] > losses[-1]


def test_folds_keep_linked_points_together_and_spread_the_links_of_each_view() -> None:
    """A row linked to two other views is left out of both, or the third link would give it away."""
    kernels = [Precomputed().bind(ring(30)) for _ in range(3)]
    chain = np.array([(i, 30 + i) for i in range(20)] + [(30 + i, 60 + i) for i in range(20)])
    folds = _folds(Views.of(kernels, chain), 0)
    np.testing.assert_array_equal(folds[:20], folds[20:])
    np.testing.assert_array_equal(np.bincount(folds), [10] * TUNING.link_folds)


def test_too_few_links_to_choose_a_coupling() -> None:
    kernels = [Precomputed().bind(ring(30)) for _ in range(2)]
    with pytest.raises(ValueError, match=r"1 links do not connect the views.*coupling=1"):
        choose_coupling(Views.of(kernels, np.array([[0, 30]])), 2, SOLVER)
