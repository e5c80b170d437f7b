"""Landmark MDS (Burges sec. 2.2.3; Bengio sec. 3.1), and how many landmarks are enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eigenscape.eigenfunctions import Embedding, Landmarks
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.mds import classical_mds
from eigenscape.quality.alignment import aligned_error
from eigenscape.solvers import SolverConfig

#: The movement of the map is measured on at most this many points.
SAMPLE = 500
#: Landmarks to start from when their number is sought: at least so many, and so many times what the
#: dimensions need.
FEWEST, FOLD = 16, 2


def landmark_mds(
    distance: BoundKernel,
    X: Any,
    which: np.ndarray | None,
    n_components: int,
    solver: SolverConfig,
    **options: Any,
) -> Embedding:
    """Classical MDS of the landmarks that ``distance`` is bound to; other points are placed by their
    distances to them.

    The landmarks are the points ``which`` of the training points, and ``X`` are all of these, if the model is
    to keep them.

    The centring is Platt's: means run over the landmarks (weight ``1/q`` each, 0 for every other point), so
    that a point's coordinates are ``L^-1/2 U' (E - f) / 2``, ``f`` its squared distances and ``E`` the
    landmarks' mean ones (Burges eq. 1.30, 1.31; Bengio eq. 15). That is the Nystrom formula of the centred
    kernel, Bengio eq. 23, and is evaluated as such."""
    try:
        model = classical_mds(distance, n_components, solver, **options)
    except RankError as error:
        raise RankError(
            f"the {n_points(distance.X)} landmarks do not span n_components={n_components} dimensions (they may be collinear): {error};"
            " or take more landmarks, or others"
        ) from error
    return replace(model, landmarks=Landmarks(X, which))


class Step(NamedTuple):
    """One step of the search for enough landmarks: how far the map moved when it had so many."""

    n_landmarks: int
    movement: float
    piece: int = 0


@dataclass(frozen=True, eq=False)
class Growth:
    """An embedding, the steps that led to its number of landmarks, and why there were no more."""

    embedding: Embedding
    steps: tuple[Step, ...]
    reason: str


def grow(
    embed: Callable[[int], Embedding],
    X: Any,
    candidates: np.ndarray,
    n_components: int,
    tol: float,
    seed: int,
    piece: int = 0,
) -> Growth:
    """Double the landmarks until the map of points that are none moves less than ``tol`` of its spread.

    ``embed`` makes the embedding with so many of ``X[candidates]`` for landmarks. Two maps are compared,
    after the best rigid motion, on a random sample of at most 500 points that are landmarks in neither."""
    n = len(candidates)
    count = min(n, max(FEWEST, FOLD * (n_components + 1)))
    sample = np.sort(np.random.default_rng(seed).permutation(candidates)[:SAMPLE])
    previous, model = None, None
    steps: list[Step] = []
    while True:
        try:
            model, failure = embed(count), None
        except RankError as error:  # so few landmarks need not span the dimensions
            model, failure = None, error
        if model is not None:
            movement = np.inf if previous is None else _movement(model, previous, X, sample)
            steps.append(Step(count, movement, piece))
            if movement <= tol:
                return Growth(
                    model,
                    tuple(steps),
                    f"{count} landmarks: with the last doubling the map moved {movement:.2g} <= {tol:g}",
                )
        if count == n:
            if failure is not None:
                raise failure
            assert model is not None
            moved = f", and the map still moved more than {tol:g}" if len(steps) > 1 else ""
            return Growth(model, tuple(steps), f"{count} landmarks: all points are landmarks{moved}")
        previous, count = model, min(2 * count, n)


def _movement(now: Embedding, before: Embedding, X: Any, sample: np.ndarray) -> float:
    """Aligned movement of the sample, its landmarks left out while enough others remain."""
    others = np.setdiff1d(sample, np.concatenate([now.columns, before.columns]))
    points = X[others if len(others) > 2 * len(now.eigenvalues) + 8 else sample]
    A, B = now.transform(points), before.transform(points)
    return (
        aligned_error(B, A) if A.shape == B.shape else np.inf
    )  # a small piece may have had fewer coordinates before
