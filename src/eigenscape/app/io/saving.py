"""Saving a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape.app.io.atomic import check_target
from eigenscape.app.io.models import check_model, write_model
from eigenscape.estimators.compact_map import CompactModel, make_compact
from eigenscape.exceptions import ModelFileError


def save(
    model: BaseEstimator,
    path: str | Path,
    *,
    compact: int | bool | None = None,
    force: bool = False,
    notes: str | None = None,
    data: Any = None,
) -> None:
    """Save a fitted model to a file, atomically.

    The file contains everything ``transform`` needs, and no other n x n matrix. It describes itself
    (:func:`eigenscape.io.describe`), and loading it executes no code from the file (:func:`eigenscape.load`).

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a pipeline of a ``StandardScaler`` and a fitted estimator. Models with
        user-defined callables or kernels among their parameters cannot be saved.
    path : str or Path
        The file to write; the usual extension is ``.skops``.
    compact : int or bool, optional
        Number of training samples to keep: a dictionary, with kernel functions that approximate the map. If
        True, as many as reduce the error below 1 % of the spread of the map, or, with a warning, as many as
        are worth their size. The leave-one-out error on the training samples is part of the description; the
        error of new samples that differ from them may be larger. Models that do not need their training
        samples in ``transform`` (linear models, dictionaries, landmarks) are stored without them, exactly.
    force : bool, default=False
        Whether to replace an existing file.
    notes : str, optional
        A text for the description.
    data : array-like of shape (n_samples, n_features), optional
        The training data, for the fingerprint. If None, the data that the model contains, if these are all.

    Raises
    ------
    ModelFileError
        If the model is not fitted or cannot be serialized.
    FileExistsError
        If the file exists and ``force`` is False.
    WriteError
        If the file cannot be written. An existing file is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> import eigenscape
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> model = eigenscape.Isomap(n_neighbors=8).fit(X)
    >>> file = tempfile.mkdtemp() + "/map.skops"
    >>> eigenscape.save(model, file)
    >>> bool((eigenscape.load(file).transform(X[:5]) == model.transform(X[:5])).all())
    True
    >>> eigenscape.io.describe(file)["n_samples"]
    300
    """
    check_target(path, force)
    scaler, model = split_scaler(model)
    check_model(model)
    small = CompactModel(model, {}) if compact is None else make_compact(model, dictionary_size(compact))
    write_model(
        small.model,
        model,
        path,
        force=force,
        notes=notes,
        data=data,
        compact=small.facts or None,
        omitted=small.omitted,
        scaler=scaler,
    )


def dictionary_size(compact: object) -> int | None:
    """Return the number of samples that a compact model keeps; None if it is to be found."""
    if compact is True:
        return None
    if not isinstance(compact, int | np.integer) or compact < 2:
        raise ValueError(f"compact={compact!r} must be True or an integer of at least 2")
    return int(compact)


def split_scaler(model: BaseEstimator) -> tuple[StandardScaler | None, BaseEstimator]:
    """Return the scaler before a model, or None, and the model."""
    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps]
    if len(steps) != 2 or type(steps[0]) is not StandardScaler:
        raise ModelFileError(
            "only a pipeline of a StandardScaler and an estimator can be saved; save the estimator by itself"
        )
    return steps[0], steps[1]
