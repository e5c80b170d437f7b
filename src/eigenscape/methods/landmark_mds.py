"""Landmark MDS (Burges sec. 2.2.3; Bengio sec. 3.1) and the search for a sufficient number of landmarks.

See docs/decisions/methods-landmarks.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eigenscape._warnings import warn
from eigenscape.eigenfunctions import Embedding, Landmarks
from eigenscape.exceptions import NotConvergedWarning
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.mds import Indefinite, classical_mds
from eigenscape.methods.tuning import TUNING
from eigenscape.quality.alignment import aligned_error
from eigenscape.solvers import Order, SolverConfig

#: Remedy for landmarks that span fewer dimensions than the map has coordinates.
OTHER_LANDMARKS = ", or use more or other landmarks"


def landmark_mds(
    distance: BoundKernel,
    X: Any,
    landmarks: np.ndarray | None,
    n_components: int,
    solver: SolverConfig,
    *,
    order: Order = "value",
    indefinite: Indefinite = "keep",
) -> Embedding:
    """Return the classical MDS of the landmarks, with at most ``n_components`` coordinates.

    ``distance`` is bound to the landmarks, whose indices among the training points are ``landmarks`` (None if
    they are other points). ``X`` are the training points if the model is to keep them, else None.

    The centring is Platt's: means run over the landmarks (weight ``1/q`` each, 0 for all other points), so
    that the coordinates of a point are ``L^-1/2 U' (E - f) / 2`` with ``f`` its squared distances to the
    landmarks and ``E`` their means over the landmarks (Burges eq. 1.30, 1.31; Bengio eq. 15). This is the
    Nystrom formula of the centred kernel, Bengio eq. 23, and is evaluated as such.
    """
    model = classical_mds(distance, n_components, solver, order=order, indefinite=indefinite)
    return replace(model, landmarks=Landmarks(X, landmarks))


class LandmarkStep(NamedTuple):
    """One step of a search: the number of landmarks and the relative movement of the map since the last."""

    n_landmarks: int
    movement: float
    piece: int = 0


@dataclass(frozen=True, eq=False)
class LandmarkSearch:
    """Doubling of the number of landmarks until the map of the other points moves less than ``tol``.

    The caller alternates with :meth:`after`::

        search = LandmarkSearch.start(...)
        while not search.reason:
            search = search.after(<embedding with search.n_landmarks landmarks>)

    Two maps are compared after the best rigid motion, relative to their spread, on a random sample of points
    that are landmarks in neither. Maps with fewer than ``min_components`` coordinates are not accepted before
    the last step.
    """

    X: Any  # all points
    sample: np.ndarray  # indices of the points on which maps are compared
    n_candidates: int
    n_landmarks: int  # to be used next, or in ``embedding`` when the search is finished
    min_components: int
    tol: float
    piece: int = 0
    embedding: Embedding | None = None
    steps: tuple[LandmarkStep, ...] = ()
    reason: str = ""  # why the search has ended; empty before

    @staticmethod
    def start(
        X: Any,
        candidates: np.ndarray,
        n_components: int,
        min_components: int,
        tol: float,
        seed: int,
        piece: int = 0,
    ) -> LandmarkSearch:
        """Return the search among the points ``X[candidates]`` before its first step.

        It starts with 16 landmarks, or with twice the smallest sufficient number, and compares maps on 500
        points.
        """
        n = len(candidates)
        count = min(n, max(16, 2 * (n_components + 1)))
        sample = np.sort(np.random.default_rng(seed).permutation(candidates)[:500])
        return LandmarkSearch(X, sample, n, count, min_components, tol, piece)

    def after(self, embedding: Embedding) -> LandmarkSearch:
        """Return the state of the search after the embedding with ``n_landmarks`` landmarks."""
        count, n_found = self.n_landmarks, len(embedding.eigenvalues)
        more = min(2 * count, self.n_candidates)
        if n_found < self.min_components:
            if count < min(self.n_candidates, TUNING.searched_landmarks):
                return replace(self, n_landmarks=more, embedding=None)
            steps = (*self.steps, LandmarkStep(count, np.inf, self.piece))
            reason = f"{count} landmarks: the largest number, and they span only {n_found} dimension(s)"
            return replace(self, embedding=embedding, steps=steps, reason=reason)
        movement = np.inf if self.embedding is None else self._movement(embedding, self.embedding)
        steps = (*self.steps, LandmarkStep(count, movement, self.piece))
        if movement <= self.tol:
            reason = f"{count} landmarks: the last doubling moved the map by {movement:.2g} <= {self.tol:g}"
        elif count == self.n_candidates:
            moved = f", and the last doubling moved the map by more than {self.tol:g}" if self.steps else ""
            reason = f"{count} landmarks: all points are landmarks{moved}"
        elif count >= TUNING.searched_landmarks:
            moved = f"the last doubling moved the map by {movement:.2g} > {self.tol:g}"
            reason = f"{count} landmarks: the largest number, and {moved}"
            warn(
                f"the map still moves by {movement:.2g} of its spread with {count} landmarks, more than"
                f" tol={self.tol:g}, as it does if the last eigenvalue kept is close to the next one; set"
                f" n_components={n_found + 1} to keep both or lower it to keep neither, or set"
                f" n_landmarks={count} to accept this map",
                NotConvergedWarning,
            )
        else:
            return replace(self, n_landmarks=more, embedding=embedding, steps=steps)
        return replace(self, embedding=embedding, steps=steps, reason=reason)

    def _movement(self, now: Embedding, before: Embedding) -> float:
        """Return the relative movement of the sample, without landmarks if enough other points remain."""
        others = np.setdiff1d(self.sample, np.concatenate([now.columns, before.columns]))
        points = self.X[others if len(others) > 2 * len(now.eigenvalues) + 8 else self.sample]
        A, B = now.transform(points), before.transform(points)
        return aligned_error(B, A) if A.shape == B.shape else np.inf  # numbers of coordinates may differ
