"""Opening an explorer: for arrays and models in Python, or for tables that the command line has read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._omitted import OmittedArray
from eigenscape._typing import is_sparse
from eigenscape.app.errors import CommandError
from eigenscape.app.explore.annotations import Annotations
from eigenscape.app.explore.data import Dataset, dataset_of_table
from eigenscape.app.explore.origin import Origin
from eigenscape.app.explore.server import Explorer
from eigenscape.app.explore.session import Session
from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.models import split_scaler
from eigenscape.app.io.table import Table
from eigenscape.app.methods import method_name

#: Methods whose first coordinates do not depend on the others.
_NESTED: tuple[str, ...] = ("pca", "kernel-pca", "classical-mds", "isomap", "locally-linear-embedding")
_NESTED += ("laplacian-eigenmaps", "diffusion-map", "landmark-mds", "greedy")
#: Map that is fitted if no method is named: the fastest.
_FIRST = "pca"


def explore(
    model_or_X: Any,
    X: Any = None,
    *,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    images: Sequence[int] | None = None,
    method: str | Sequence[str] | None = None,
    annotations: str | Path | None = None,
    port: int = 0,
    open_browser: bool = True,
    block: bool = True,
) -> Explorer:
    """Open an explorer of maps in the browser, on this machine only.

    Maps are fitted live in a process of their own, compared, and asked: which row would be here, where does
    this new row belong, which columns set a selection apart.

    Parameters
    ----------
    model_or_X : estimator, array-like or Table
        A fitted model, or a pipeline of a ``StandardScaler`` and one; or rows (n_samples, n_features), images
        (n_samples, height, width) or the result of :func:`eigenscape.read`.
    X : array-like of shape (n_samples, n_features), optional
        Rows of a model that does not contain its training rows, such as probabilistic PCA.
    labels : array-like of shape (n_samples,), optional
        Labels, by which points are coloured.
    ids : array-like of shape (n_samples,), optional
        Names of the rows.
    columns : sequence of str, optional
        Names of the features.
    images : (height, width) or (height, width, 3), optional
        Shape of the image in each row.
    method : str or sequence of str, optional
        Methods that are fitted first, by the names of ``eigenscape methods``. If None, PCA, or no method for
        a model.
    annotations : str or Path, optional
        CSV file in which named selections are kept. If None, they are lost when the explorer is closed, but
        for ``annotations`` of the returned object.
    port : int, default=0
        Port of the server. If 0, a free one.
    open_browser : bool, default=True
        Whether to open the address in the browser.
    block : bool, default=True
        Whether to return only after Ctrl-C.

    Returns
    -------
    Explorer
        With ``url``, ``annotations`` and ``close()``.

    Examples
    --------
    >>> import eigenscape
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> explorer = eigenscape.explore(iris.data, labels=iris.target, block=False, open_browser=False)
    >>> explorer.url.startswith("http://127.0.0.1:")
    True
    >>> explorer.close()
    """
    model = model_or_X if hasattr(model_or_X, "get_params") else None
    if model is None and X is not None:
        raise TypeError("X is used with a model only; pass rows as the first argument, without X")
    rows = model_or_X if model is None else (rows_of_model(model) if X is None else X)
    if not isinstance(rows, Table):
        features = getattr(rows, "columns", ()) if columns is None else columns
        if not is_sparse(rows):
            rows = np.asarray(rows)
            if rows.ndim in (3, 4):
                images = rows.shape[1:] if images is None else images
                rows = rows.reshape(len(rows), -1)
        rows = Table(rows, names=tuple(map(str, features)))
    named = (("labels", labels), ("ids", ids))
    given: dict[str, Any] = {key: np.asarray(value) for key, value in named if value is not None}
    data = dataset_of_table(replace(rows, **given), Origin(), images)
    names = [method] if isinstance(method, str) else list(method or ([] if model is not None else [_FIRST]))
    methods: dict[str, Any] = {method_name(name): {} for name in names}
    session = open_session(data, methods, model, annotations=annotations)
    explorer = Explorer(session, port=port)
    if not block:
        explorer.start(open_browser)
        return explorer
    print(f"exploring at {explorer.url} (Ctrl-C ends it)")
    explorer.run(open_browser)
    return explorer


def open_session(
    data: Dataset,
    methods: Mapping[str, Mapping[str, Any]],
    model: Any = None,
    *,
    standardize: bool = False,
    annotations: str | Path | None = None,
) -> Session:
    """Return a session whose first jobs are started: methods with their parameters, and a model.

    Maps have up to six coordinates where the first ones stay the same.
    """
    session = Session(data, Annotations(data, annotations))
    try:
        session.write_rows()
        for name, parameters in methods.items():
            limit = min(TUNING.n_components, data.n - 2, data.d if name in ("pca", "kernel-pca") else data.n)
            nested = {"n_components": max(1, limit)} if name in _NESTED and limit != 2 else {}
            session.fit(name, {**nested, **parameters}, standardize)
        session.suggest()
        if model is not None:
            session.add_model(model)
    except BaseException:
        session.close()
        raise
    return session


def rows_of_model(model: Any) -> Any:
    """Return the training rows that a model contains; raise if it does not contain all of them."""
    scaler, estimator = split_scaler(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = getattr(getattr(estimator, "kernel_", None), "X", None)
    embedding = vars(estimator).get("embedding_")
    shape: tuple[int, ...] = () if isinstance(rows, OmittedArray) else getattr(rows, "shape", ())
    if embedding is None or len(shape) != 2 or shape[0] != len(embedding):
        raise CommandError(
            f"the model ({type(estimator).__name__}) does not contain its training rows; pass them, too"
        )
    return rows if scaler is None else scaler.inverse_transform(rows)
