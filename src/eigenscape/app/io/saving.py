"""Saving a fitted model: written atomically, with a description of itself."""

from __future__ import annotations

import datetime
import json
import warnings
import zipfile
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape._format import to_json
from eigenscape._omitted import OmittedArray
from eigenscape.app.io.archive import FORMAT, HEADER, own_version, write_member
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.io.models import fingerprint
from eigenscape.app.io.tree import Encoder
from eigenscape.estimators.compact_map import CompactModel, make_compact
from eigenscape.exceptions import ModelFileError
from eigenscape.options import Option, flattened

#: Number of eigenvalues in the description.
_MAX_EIGENVALUES = 1000
#: Packages whose objects may be among the parameters of a stored model.
_KNOWN = ("eigenscape", "numpy", "scipy", "builtins")


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
        The file to write; the usual extension is ``.eigenscape``.
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
    >>> file = tempfile.mkdtemp() + "/map.eigenscape"
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
    header = {
        **_header(model, data),
        "notes": notes,
        "standardized": scaler is not None,
        "type": type(small.model).__name__ if scaler is None else "Pipeline",
        "compact": small.facts or None,
    }
    values = flattened(model.get_params(deep=False)).values()
    precomputed = any(isinstance(value, str) and value.startswith("precomputed") for value in values)
    with whole_file(path, force=force) as part, zipfile.ZipFile(part, "w") as archive:
        Encoder(archive, precomputed, small.omitted).write(small.model, scaler)
        write_member(archive, HEADER, json.dumps(header, indent=1).encode())


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
            "a pipeline must consist of a StandardScaler and an estimator; pass the estimator by itself"
        )
    return steps[0], steps[1]


def check_model(model: BaseEstimator) -> None:
    """Raise if a model is not fitted or cannot be serialized."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ModelFileError(f"{type(model).__name__} is not fitted; call fit before save")
    for name, value in model.get_params(deep=False).items():
        fields = value.get_params() if isinstance(value, Option) else {name: value}
        for field, item in fields.items():
            for part in item if isinstance(item, tuple) else (item,):  # (indices, distances, index)
                _check_parameter(model, field, part)


def _check_parameter(model: BaseEstimator, name: str, value: Any) -> None:
    """Raise if a parameter is a user-defined callable, kernel or object, which cannot be serialized."""
    is_function = isinstance(value, (FunctionType, BuiltinFunctionType, type))
    if type(value).__module__.split(".")[0] in _KNOWN and not is_function:
        return
    kind, remedy = "objects", f"Set {name} to one that eigenscape provides"
    if callable(value) or hasattr(value, "bind"):
        kind = "callables" if callable(value) else "kernels"
        remedy += f", compute the matrix and use {name}='precomputed'"
    shown = getattr(value, "__name__", type(value).__name__)
    raise ModelFileError(
        f"{type(model).__name__} was fitted with {name}={shown}; user-defined {kind} cannot be serialized."
        f" {remedy}, or pickle the model"
    )


def _header(model: BaseEstimator, data: Any) -> dict[str, Any]:
    """Return the description of a model."""
    embedding = getattr(model, "embedding_", None)
    n_samples = getattr(model, "n_samples_seen_", None) if embedding is None else len(embedding)
    if n_samples is None and data is not None:  # models without coordinates do not store it
        n_samples = data.shape[0]
    spectrum = getattr(model, "eigenvalues_", None)
    if isinstance(spectrum, (list, tuple)):  # of each layer
        spectrum = [np.asarray(layer)[:_MAX_EIGENVALUES] for layer in spectrum]
    elif spectrum is not None:
        spectrum = np.asarray(spectrum)[..., :_MAX_EIGENVALUES]
    names = getattr(model, "feature_names_in_", None)
    return {
        "format": FORMAT,
        "version": own_version(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": type(model).__name__,
        "parameters": to_json(model.get_params(deep=False), max_items=20, allow_nan=True),
        "n_samples": None if n_samples is None else int(n_samples),
        "n_features": getattr(model, "n_features_in_", None),
        "n_components": to_json(getattr(model, "_n_features_out", None)),
        "feature_names": None if names is None else [str(name) for name in names],
        "spectrum": to_json(spectrum, allow_nan=True),
        "fingerprint": _training_fingerprint(model, n_samples) if data is None else fingerprint(data),
    }


def _training_fingerprint(model: BaseEstimator, n_samples: int | None) -> str | None:
    """Return the fingerprint of the training data, if the model contains all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = getattr(getattr(model, "kernel_", None), "X", None)
    if rows is None or isinstance(rows, OmittedArray) or not hasattr(rows, "shape"):
        return None
    is_table = np.dtype(getattr(rows, "dtype", object)).kind != "O" and len(rows.shape) == 2
    return fingerprint(rows) if is_table and rows.shape[0] == n_samples else None
