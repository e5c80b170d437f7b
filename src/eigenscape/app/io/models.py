"""Model files: saved atomically, loaded without executing code from the file, described without loading.

See docs/decisions/app-model-files.md.
"""

from __future__ import annotations

import datetime
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape._format import to_json
from eigenscape.app.io.archive import (
    FORMAT,
    HEADER,
    check_members,
    one_line,
    open_archive,
    own_version,
    write_member,
)
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.io.tree import Decoder, Encoder
from eigenscape.estimators.compact_map import CompactModel, make_compact
from eigenscape.exceptions import ModelFileError
from eigenscape.options import flattened

#: Number of eigenvalues in the description.
_MAX_EIGENVALUES = 1000


def save(
    model: BaseEstimator,
    path: str | Path,
    *,
    compact: int | bool | None = None,
    force: bool = False,
    notes: str | None = None,
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
        **_header(model),
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
    """Raise if a model is not fitted."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ModelFileError(f"{type(model).__name__} is not fitted; call fit before save")


def _header(model: BaseEstimator) -> dict[str, Any]:
    """Return the description of a model."""
    embedding = getattr(model, "embedding_", None)
    n_samples = getattr(model, "n_samples_seen_", None) if embedding is None else len(embedding)
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
    }


def load(path: str | Path) -> Any:
    """Load a model that :func:`eigenscape.save` wrote.

    No code from the file is executed: only types that models of eigenscape consist of are loaded.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    estimator
        The fitted model; ``transform`` returns the same values as before. A precomputed matrix is in the
        file only if ``transform`` needs it (LLE); methods that need it otherwise (``loss()`` of the training
        samples) raise an error.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, written in another format, does not fit in memory, or contains
        other types.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from eigenscape import PCA, load, save
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PCA(2).fit(X), Path(folder) / "map.eigenscape")
    ...     model = load(Path(folder) / "map.eigenscape")
    >>> model.transform(X).shape
    (20, 2)
    """
    with open_archive(path) as (archive, header):
        check_members(archive, path)
        try:
            model = Decoder(archive).read()
        except Exception as error:  # a consistent file with wrong content can cause any error
            reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
            raise ModelFileError(
                f"{path} is damaged or not written by eigenscape, and was not loaded:"
                f" {one_line(reason) or type(error).__name__}"
            ) from error
    if type(model).__name__ != header.get("type"):
        declared = one_line(str(header.get("type")))
        raise ModelFileError(
            f"{path} contains a {type(model).__name__}, but its header declares a {declared}"
        )
    return model


def describe(path: str | Path) -> dict[str, Any]:
    """Return the description of a model file without loading the model.

    Only the header is read and control characters are removed; :func:`eigenscape.load` verifies the content.

    Parameters
    ----------
    path : str or Path
        The model file.

    Returns
    -------
    dict
        ``method``, ``version`` (of eigenscape), ``format`` (of the file), ``date``,
        ``parameters``, ``n_samples``, ``n_features``, ``n_components``, ``feature_names``, ``spectrum``,
        ``standardized``, ``compact`` (None, or the ``size`` of the
        dictionary and its leave-one-out ``error`` on the training samples; the error of other samples may be
        larger), ``notes``, ``size`` (of the file, in bytes).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from eigenscape import PCA, io, save
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PCA(2).fit(X), Path(folder) / "map.eigenscape")
    ...     found = io.describe(Path(folder) / "map.eigenscape")
    >>> found["n_features"], found["n_components"]
    (3, 2)
    """
    with open_archive(path) as (_, header):
        described = {name: value for name, value in header.items() if name not in ("members", "type")}
    return {**described, "size": Path(path).expanduser().stat().st_size}
