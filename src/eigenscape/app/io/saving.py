"""Saving a fitted model."""

from __future__ import annotations

import numbers
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape.app.io.atomic import check_target
from eigenscape.app.io.models import check_model, write_model
from eigenscape.estimators.compact_map import Small, made_compact
from eigenscape.exceptions import ModelFileError


def save(
    model: Any,
    path: str | Path,
    *,
    compact: int | bool | None = None,
    force: bool = False,
    notes: str | None = None,
    data: Any = None,
) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file holds what ``transform`` needs, and no n x n matrix; it describes itself
    (:func:`eigenscape.app.io.describe`) and loading it runs nothing (:func:`eigenscape.load`).

    Parameters
    ----------
    model : estimator
        Fitted; also a pipeline of a ``StandardScaler`` and a fitted map, which is loaded as one. Models with
        functions of yours among their parameters are refused: no file could hold them safely.
    path : str or Path
        The file; any suffix, ``.skops`` by custom.
    compact : int or bool, optional
        Keep a dictionary of so many training rows instead of all, and of the model what places new points.
        True takes as many as bring the error below 1 % of the map's spread, or, with a warning, as many as
        seem worth it. The error is part of the description: that on training rows, each predicted without
        itself. New rows that are unlike them may lose more. Models that place points without their training
        rows (PCA and its kin, dictionaries, landmarks) just lose these, at no error.
    force : bool, default=False
        Whether an existing file may be replaced.
    notes : str, optional
        A remark to be shown by ``describe``.
    data : array-like of shape (n_samples, n_features), optional
        The training data, for their fingerprint. Default: the rows that the model keeps, if it keeps all.

    Raises
    ------
    ModelFileError
        The model is not fitted, or holds code.
    FileExistsError, WriteError
        The file cannot or must not be written. Nothing there was changed.

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
    >>> eigenscape.app.io.describe(file)["n_samples"]
    300
    """
    check_target(path, force)
    scaler, model = _behind_scaler(model)
    check_model(model)
    whole = isinstance(compact, numbers.Integral) and not isinstance(compact, bool)
    if compact is not None and compact is not True and not (whole and compact >= 2):
        raise ValueError(f"compact={compact!r} must be True or a whole number of rows, at least 2")
    small = (
        Small(model, {})
        if compact is None
        else made_compact(model, None if compact is True else int(compact))
    )
    write_model(
        small.model,
        model,
        path,
        force=force,
        notes=notes,
        data=data,
        compact=small.facts or None,
        needless=small.needless,
        scaler=scaler,
    )


def _behind_scaler(model: Any) -> tuple[StandardScaler | None, Any]:
    """The scaler before a model, if there is one, and the model."""
    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps]
    if len(steps) != 2 or type(steps[0]) is not StandardScaler:
        raise ModelFileError(
            "of pipelines only that of a StandardScaler and a map can be saved; save the map by itself"
        )
    return steps[0], steps[1]
