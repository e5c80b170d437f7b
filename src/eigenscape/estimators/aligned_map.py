"""``align``: a fitted model whose map is turned onto the map of another model."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._embedder import copy_features
from eigenscape.kernels.base import n_points
from eigenscape.methods.local_affine import training_points
from eigenscape.quality.alignment import similarity


class AlignedMap(Estimator):
    """A fitted model whose coordinates ``y`` become ``scale_ * y @ rotation_ + shift_``; see :func:`align`.

    Parameters
    ----------
    embedder : estimator or None
        The fitted model that is aligned. It is used as it is.
    verbose : bool
        Whether to report the progress of each stage.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Aligned coordinates of the training rows. Set if the model has its own.
    scale_ : float
        Factor of the coordinates.
    rotation_ : ndarray of shape (n_components, n_components)
        Orthogonal matrix.
    shift_ : ndarray of shape (n_components,)
        Shift after rotation.
    alignment_error_ : float
        Root mean square distance of the shared rows in the two maps, relative to the spread of the reference.
    n_shared_ : int
        Number of shared rows.
    """

    def __init__(self, embedder: Any = None, verbose: bool = False) -> None:
        self.embedder = embedder
        self.verbose = verbose

    def fit(self, X: Any, y: object = None) -> NoReturn:
        """Raise TypeError: an aligned map cannot be fitted."""
        raise TypeError("an aligned map cannot be fitted; fit the embedder, and call eigenscape.align again")

    def transform(self, X: Any) -> np.ndarray:
        """Compute the aligned coordinates of any rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features)
            Rows, as for ``transform`` of the embedder.

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        self._check_fitted()
        return self._moved(self.embedder.transform(X))

    def _moved(self, coordinates: Any) -> Any:
        if hasattr(coordinates, "to_numpy"):  # a table, by set_output
            coordinates = coordinates.to_numpy()
        moved = self.scale_ * coordinates @ self.rotation_ + self.shift_
        return moved.astype(coordinates.dtype, copy=False)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "rotation_")

    @property
    def _n_features_out(self) -> int:
        return len(self.shift_)


def align(model: Any, reference: Any, X: Any = None, X_reference: Any = None, *, scale: bool = True) -> Any:
    """Align a fitted model to another one, so that next week's map looks like this week's.

    The coordinates of an eigenmap have arbitrary signs, and arbitrary axes if eigenvalues are close. The
    aligned model differs from ``model`` by the rotation or reflection, scale and shift with which shared rows
    come closest to their place in the map of ``reference`` (:func:`eigenscape.quality.procrustes`). It has a
    ``transform`` like any other. Both models place any rows, so the two need not have been fitted to rows in
    common.

    Parameters
    ----------
    model : estimator
        Fitted model with ``transform``.
    reference : estimator
        Fitted model with ``transform`` and the same number of coordinates, which stays as it is.
    X : array-like or sparse matrix of shape (n_shared, n_features), optional
        Shared rows, which both models place. If None, the training rows of ``reference``, if it stores them.
    X_reference : array-like or sparse matrix of shape (n_shared, n_features_reference), optional
        The same rows for ``reference``, if its columns differ.
    scale : bool, default=True
        Whether coordinates are scaled.

    Returns
    -------
    AlignedMap
        Estimator with ``transform``, ``embedding_`` (if the model has it) and ``alignment_error_``, the
        distance that remains. Its ``embedder`` is ``model``.

    Raises
    ------
    ValueError
        If there are fewer shared rows than coordinates plus one, or if the numbers of coordinates differ.

    Examples
    --------
    >>> from eigenscape import LaplacianEigenmaps, align, datasets
    >>> X, _ = datasets.swiss_roll(600, random_state=0)
    >>> old, new = LaplacianEigenmaps().fit(X[:400]), LaplacianEigenmaps().fit(X[200:])
    >>> aligned = align(new, old, X[200:400])
    >>> aligned.transform(X[:5]).shape
    (5, 2)
    >>> bool(aligned.alignment_error_ < 0.3)
    True
    """
    if not isinstance(scale, (bool, np.bool_)):
        raise ValueError(f"scale={scale!r} must be True or False")
    for name, each in (("model", model), ("reference", reference)):
        _check_map(name, each)
    if X is None:
        if X_reference is not None:
            raise ValueError("X_reference needs X, the same rows with the columns of model")
        X = _training_rows(reference)
    rows = X if X_reference is None else X_reference
    if n_points(rows) != n_points(X):
        raise ValueError(
            f"X and X_reference must be the same rows, got {n_points(X)} and {n_points(rows)} of them"
        )
    source, target = np.asarray(model.transform(X)), np.asarray(reference.transform(rows))
    if len(source) < source.shape[1] + 1:
        raise ValueError(
            f"{len(source)} shared rows do not determine the rotation of {source.shape[1]} coordinates; pass"
            f" at least {source.shape[1] + 1} rows as X"
        )
    found = similarity(source, target, scale)
    aligned = AlignedMap(model)
    aligned.scale_, aligned.rotation_, aligned.shift_, aligned.alignment_error_ = found
    aligned.n_shared_ = len(source)
    copy_features(aligned, model)
    if getattr(model, "embedding_", None) is not None:
        aligned.embedding_ = aligned._moved(model.embedding_)
    return aligned


def _check_map(name: str, model: Any) -> None:
    """Raise an error unless ``model`` is fitted and has a ``transform`` of rows."""
    if hasattr(model, "maps_"):
        raise TypeError(f"{name} has several maps; pass the map of one view, such as {name}.maps_[0]")
    if isinstance(model, type) or not hasattr(model, "transform"):
        raise TypeError(
            f"{name} must be a fitted estimator with transform, got {model!r:.60}; ParametricMap gives an"
            " embedder without transform one"
        )
    check_is_fitted(model)


def _training_rows(model: Any) -> Any:
    """Return the training rows that a model stores."""
    inner = vars(model).get("_model_")
    rows = training_points(inner)[0] if isinstance(inner, Embedding) else None
    if rows is None or np.ndim(rows) != 2:
        raise ValueError(
            f"{type(model).__name__} does not contain its training rows; pass rows that both models can place"
            " as X"
        )
    return rows
