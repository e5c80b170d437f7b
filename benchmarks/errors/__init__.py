"""Error measures, computed independently of the estimators from matrix and embedding of each method.

``residual``
    Largest residual of an eigenvector relative to its eigenvalue; ``floor`` is the part that rounding may
    cause, and ``excess`` is the largest residual relative to the largest accepted one.
``r2``
    Squared correlations of the known coordinates with their regression on the embedding.
``agreement``
    Adjusted Rand index with the true clusters.
``aligned``
    Error of held-out points compared with exact kernel PCA after linear regression.
``of_means``
    Error of imputed values relative to that of column means.
``left_out``
    Part of new rows that is not in the span of a dictionary.
``distortion``
    Distortion of the edges of the graph (Brand eq. 5).
``recall``
    Part of the true nearest neighbours that are neighbours in the graph of a model.
``accuracy``
    Part of new rows whose class is that of most of their ten nearest training rows in the embedding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.data import Data
from benchmarks.errors import graphs, kernels, neighbors
from benchmarks.errors.shared import coefficient, is_right, known_coordinates, no_measure

__all__ = ["MEASURES", "is_right", "out_of_sample"]


def out_of_sample(model: Any, train: Data, new: Data, coordinates: np.ndarray) -> dict[str, Any]:
    """Return the error of embedded new points.

    It is r^2 with the known coordinates; for kernel PCA with a Gaussian kernel the relative error of the
    coordinates compared with an independent implementation of the projection; for graphs the recall of their
    neighbours; and if the rows have classes, the accuracy in the embedding.
    """
    if new.coordinates is not None:
        return {"r2": coefficient(coordinates, new.coordinates)}
    if type(model).__name__ == "KernelPCA":
        return kernels.projection(model, train, new, coordinates) if model.kernel == "rbf" else {}
    error: dict[str, Any] = {}
    if new.labels is not None and hasattr(model, "embedding_"):
        nearest = KNeighborsClassifier(10).fit(model.embedding_, train.labels)
        error["accuracy"] = float((nearest.predict(coordinates) == new.labels).mean())
    found = neighbors.of_model(model, train.X, new.X)
    return error if found is None else {**error, "recall": found}


MEASURES = {
    "laplacian": graphs.laplacian,
    "distortion": graphs.distortion,
    "alignment": graphs.alignment,
    "clustering": graphs.clustering,
    "kernel_pca": kernels.kernel_pca,
    "classical_mds": kernels.classical_mds,
    "isomap": graphs.isomap,
    "aligned": kernels.aligned,
    "components": kernels.components,
    "imputation": kernels.imputation,
    "dask_components": kernels.dask_components,
    "left_out": kernels.left_out,
    "diffusion": graphs.diffusion,
    "graph_only": graphs.graph_only,
    "cosine_pca": kernels.cosine_pca,
    "coordinates": known_coordinates,
    "none": no_measure,
}
