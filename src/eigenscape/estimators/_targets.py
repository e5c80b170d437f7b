"""Supervised maps: labels of some samples, mixed into the neighbourhood graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.estimators._labels import split_labels
from eigenscape.estimators._validation import as_number
from eigenscape.kernels.labelled import mix_labels
from eigenscape.pieces import Affinity, Split


class TargetMixin:
    """``fit`` with labels and ``sample_weight``, for estimators whose hook ``_embed`` takes both."""

    target_weight: float
    _fit_samples: Any

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the embedding of ``X``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, or similarities or distances of shape (n_samples, n_samples) if "precomputed" is
            selected. Data are copied. A precomputed matrix is not copied and must not be modified while the
            model is in use. All rows of a dask array or dataframe are used if the estimator has a dictionary;
            otherwise the model is fitted to a sample of the rows, and ``transform`` places the other rows
            (see ``sample_indices_``, ``sample_loss_`` and ``sample_stability_``).
        y : array-like of shape (n_samples,), optional
            Labels of classes, if ``target_weight`` is positive; ignored otherwise. -1, and among objects None
            or NaN, mean that a sample is unlabelled. Equal samples with different labels are unlabelled.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples in the empirical measure: in means, degrees, the eigenproblem and the loss.
            With a given kernel, a weight of 2 is equivalent to repeating the sample. Widths and neighbours
            that are chosen from the data do not depend on the weights; equal rows are one vertex of a
            neighbourhood graph, and their weights are added. Samples of weight 0 have no influence and are
            placed by ``transform``. If None, all samples have the weight 1; in a graph, all distinct samples.
            Not available for dask collections.

        Returns
        -------
        self
        """
        codes = class_codes(y, self.target_weight) if check_target_weight(self.target_weight) else None
        return self._fit_samples(X, sample_weight, codes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = bool(self.target_weight)
        return tags


def check_target_weight(value: object) -> float:
    """Return a valid weight of labels, from 0 to below 1."""
    number = as_number(value)
    if number is None or not 0 <= number < 1:
        raise ValueError(
            f"target_weight={value!r} must be a number from 0 (labels are ignored) to below 1 (edges between"
            " classes are removed)"
        )
    return number


def class_codes(y: Any, target_weight: float) -> np.ndarray:
    """Return the class (n_samples,) of each sample as a number, -1 for samples without a label."""
    if y is None:
        raise ValueError(
            f"target_weight={target_weight!r} requires y to be passed, but the target y is None; pass labels"
            " (-1 means unlabelled), or set target_weight=0"
        )
    n_samples, labelled, given = split_labels(y)
    codes = np.full(n_samples, -1)
    codes[labelled] = np.unique(given, return_inverse=True)[1]
    return codes


def vertex_codes(codes: np.ndarray, vertex: np.ndarray) -> np.ndarray:
    """Return the class of each vertex: that of its samples, -1 if none has a label or if labels differ."""
    labelled = np.flatnonzero(codes >= 0)
    lowest, highest = np.full(vertex.max() + 1, codes.max() + 1), np.full(vertex.max() + 1, -1)
    np.minimum.at(lowest, vertex[labelled], codes[labelled])
    np.maximum.at(highest, vertex[labelled], codes[labelled])
    return np.where(lowest == highest, highest, -1)


def mix_targets(split: Split[Affinity], codes: np.ndarray, weight: float, seed: int) -> Split[Affinity]:
    """Return the parts of a graph with the classes of its vertices mixed into their affinities."""
    members = [np.arange(len(codes))] if split.is_whole else [some for some in split.members if len(some) > 1]
    return split.with_parts(
        tuple(
            replace(part, kernel=mix_labels(part.kernel, codes[some], weight, seed))
            if (codes[some] >= 0).any()
            else part
            for part, some in zip(split.parts, members, strict=True)
        )
    )
