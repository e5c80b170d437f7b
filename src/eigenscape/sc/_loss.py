"""``tl.loss``: how well the map of a reference describes other cells."""

from __future__ import annotations

from typing import Any

from eigenscape._threads import kept_threads
from eigenscape.quality.loss import kernel_loss
from eigenscape.sc._data import check_annotated
from eigenscape.sc._model import StoredMap
from eigenscape.sc._place import Reference
from eigenscape.sc._projection import new_rows


def loss(adata: Any, adata_ref: Any = None, *, basis: str = "diffmap", n_jobs: int | None = None) -> float:
    """Compute the mean squared error of a kernel's expansion in the eigenfunctions of a map (Bengio sec. 4).

    Parameters
    ----------
    adata : AnnData
        Held-out cells, as for :func:`place`; or the cells of the map itself if ``adata_ref`` is None. The
        time is proportional to the square of the number of held-out cells.
    adata_ref : AnnData or None, default=None
        Reference with the map.
    basis : str, default="diffmap"
        Name of the map, its ``key_added``.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    float
        Lower is better. The loss of the cells of the map decreases with every further component; the loss of
        held-out cells increases again where components describe noise. Losses of maps of different kernels or
        graphs are not comparable.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata)
    >>> sc.tl.diffmap(adata, n_comps=4)
    >>> bool(sc.tl.loss(adata) > 0)
    True
    """
    check_annotated(adata)
    reference = adata if adata_ref is None else check_annotated(adata_ref, "adata_ref")
    stored = StoredMap.of(reference, basis)
    if adata_ref is not None and adata.n_obs < 2:
        raise ValueError("the loss is a mean over pairs of cells and needs at least 2, got 1")
    with kept_threads(n_jobs):
        known = Reference.of(stored, False, None, n_jobs)
        embedding = stored.embedding(known.rows, known.affinity, n_jobs)
        if adata_ref is None:
            return kernel_loss(embedding)
        cells = known.cells(new_rows(adata, adata_ref, *stored.field()))
        return kernel_loss(embedding, cells.rows)
