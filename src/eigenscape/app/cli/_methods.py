"""The methods by the names that a shell likes, without importing them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from eigenscape.app.cli._errors import WrongCommandError

#: Name on the command line: the class.
METHODS = {
    "pca": "PCA",
    "kernel-pca": "KernelPCA",
    "classical-mds": "ClassicalMDS",
    "isomap": "Isomap",
    "locally-linear-embedding": "LocallyLinearEmbedding",
    "laplacian-eigenmaps": "LaplacianEigenmaps",
    "diffusion-map": "DiffusionMap",
    "spectral-clustering": "SpectralClustering",
    "greedy": "GreedySpectralEmbedding",
    "landmark-mds": "LandmarkMDS",
    "fastmap": "FastMap",
    "metric-map": "MetricMap",
    "ordinal-mds": "OrdinalMDS",
    "kernel-eigenmap": "KernelEigenmap",
    "locality-preserving-projection": "LocalityPreservingProjection",
    "oriented-pca": "OrientedPCA",
    "probabilistic-pca": "ProbabilisticPCA",
    "mixture-ppca": "MixturePPCA",
    "projection-pursuit": "ProjectionPursuit",
}

#: Other names that people know them by. Names of classes are understood too.
ALIASES = {
    "kpca": "kernel-pca",
    "mds": "classical-mds",
    "cmds": "classical-mds",
    "pcoa": "classical-mds",
    "lle": "locally-linear-embedding",
    "le": "laplacian-eigenmaps",
    "laplacian": "laplacian-eigenmaps",
    "diffusion": "diffusion-map",
    "dmap": "diffusion-map",
    "spectral": "spectral-clustering",
    "greedy-spectral-embedding": "greedy",
    "lmds": "landmark-mds",
    "nonmetric-mds": "ordinal-mds",
    "nmds": "ordinal-mds",
    "lpp": "locality-preserving-projection",
    "opca": "oriented-pca",
    "ppca": "probabilistic-pca",
    "mppca": "mixture-ppca",
    "pursuit": "projection-pursuit",
}

#: Methods that `cluster` takes.
CLUSTERING = ("spectral-clustering", "mixture-ppca")

#: Methods that are not fitted with `--dask`: they need all rows together, or their labels.
IN_MEMORY = ("ordinal-mds", "oriented-pca", "projection-pursuit")


def canonical(name: str) -> str:
    """The name of a method, from any name it is known by."""
    wanted = name.strip().lower().replace("_", "-")
    by_class = {class_name.lower(): method for method, class_name in METHODS.items()}
    found = wanted if wanted in METHODS else ALIASES.get(wanted) or by_class.get(wanted.replace("-", ""))
    if found:
        return found
    close = get_close_matches(wanted, [*METHODS, *ALIASES], n=3, cutoff=0.5)
    meant = f"did you mean {' or '.join(close)}?" if close else f"take one of {', '.join(METHODS)}"
    raise WrongCommandError(f"no such method: {name}; {meant} (`eigenscape methods` lists them)")


def estimator_class(name: str) -> Any:
    """The class behind a name. Imports the library."""
    import eigenscape

    return getattr(eigenscape, METHODS[canonical(name)])


def aliases_of(name: str) -> list[str]:
    """The other names of a method."""
    return [alias for alias, method in ALIASES.items() if method == name]


def method_named(class_name: str) -> str:
    """The name of a class's method."""
    return next((name for name, known in METHODS.items() if known == class_name), class_name)


def method_of(estimator: Any) -> str:
    """The name of an estimator's method."""
    return method_named(type(estimator).__name__)
