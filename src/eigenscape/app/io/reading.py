"""Reading tables: into memory (``io``), or as dask collections that stay where they are (``distributed``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eigenscape.app.io import tables
from eigenscape.app.io.table import Table


def read(
    path: str | Path,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,  # noqa: A002
    dask: bool = False,
    **how: Any,
) -> Table:
    """Read a table: numbers, labels and names of its rows.

    Parameters
    ----------
    path : str or Path
        The file or folder; its suffix says the format.
    columns : sequence of str, optional
        The columns that make the array, in this order. Default: all numbers that are neither label nor name.
    label : str, optional
        The column of labels. Default: the column ``label``, or the first column of text.
    id : str, optional
        The column that names the rows. Default: the column ``id``, or the first where it alone has no name
        (as pandas and R write it).
    dask : bool, default=False
        Leave the numbers where they are: the array is a dask array, as :func:`eigenscape.distributed.read`
        makes it of parquet files and folders of them, zarr and npy.
    **how
        ``size``, ``kind``, ``missing`` and ``stream``, as for :func:`eigenscape.app.io.read`; none of them
        goes with ``dask``.

    Returns
    -------
    Table
        ``X, labels, ids = read(path)`` unpacks it; ``names``, ``extra``, ``kind``, ``image_shape`` and
        ``source`` are attributes.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from eigenscape import PCA, read
    >>> file = tempfile.mkdtemp() + "/rows.npy"
    >>> np.save(file, np.random.default_rng(0).random((1000, 3)))
    >>> X, _, _ = read(file, dask=True)
    >>> PCA(n_components=2).fit(X).embedding_
    dask.array<eigenscape-transform, shape=(1000, 2), dtype=float64, chunksize=(1000, 2),
    chunktype=numpy.ndarray>"""
    if not dask:
        return tables.read(path, columns=columns, label=label, id=id, **how)
    if how:
        raise TypeError(
            f"{', '.join(how)} and dask=True do not go together: partitions are read as they are; leave out one of them"
        )
    from eigenscape import distributed

    return distributed.read(path, columns=columns, label=label, id=id)
