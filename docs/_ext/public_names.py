"""The public names of the package, and the groups in which the reference lists them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: Title, one sentence, names of ``eigenscape``. Names in no group are listed under "Others".
GROUPS: dict[str, tuple[str, list[str]]] = {
    "Maps from neighbourhood graphs": (
        "For rows near a curved surface or in clusters. All of them place new points.",
        [
            "LaplacianEigenmaps",
            "DiffusionMap",
            "Isomap",
            "LocallyLinearEmbedding",
            "KernelEigenmap",
            "LocalityPreservingProjection",
            "graph_embedding",
        ],
    ),
    "Maps that line up": (
        "Several tables in common coordinates, and next week's map turned onto this week's.",
        ["AlignedSpectralMaps", "align"],
    ),
    "Pictures": (
        "Two coordinates that show more than two eigenfunctions. Both place new points on the fixed map.",
        ["NeighborEmbedding", "PotentialMap"],
    ),
    "Maps from distances": (
        "For objects of which distances are known.",
        ["ClassicalMDS", "LandmarkMDS", "FastMap", "MetricMap", "OrdinalMDS"],
    ),
    "Maps from kernels and dictionaries": (
        "For any positive similarity, and for many rows.",
        ["KernelPCA", "GreedySpectralEmbedding"],
    ),
    "Linear and probabilistic maps": (
        "Projections, some with a likelihood, missing values or a model of the noise.",
        [
            "PCA",
            "ProbabilisticPCA",
            "FactorAnalysis",
            "MixturePPCA",
            "OrientedPCA",
            "DistortionDiscriminantAnalysis",
            "ProjectionPursuit",
        ],
    ),
    "Clusters": ("Groups of rows, also of new ones.", ["SpectralClustering"]),
    "Prediction and densities": (
        "Labels and values from few labelled rows, and densities along the data.",
        [
            "EigenfunctionClassifier",
            "EigenfunctionRegressor",
            "ProjectionPursuitRegressor",
            "ManifoldParzen",
            "EigenspaceDensity",
            "ProjectionPursuitDensity",
        ],
    ),
    "Explorer, files and settings": (
        "The browser; models and tables on disk; maps without training rows; shared neighbour searches.",
        ["explore", "save", "load", "read", "ParametricMap"],
    ),
}

#: Title and introduction of the module pages.
MODULES: dict[str, tuple[str, str]] = {
    "quality": ("Quality measures", "Is the map right, and which parameters should it have?"),
    "kernels": ("Kernels", "Similarities of two points, for every estimator with ``kernel=``."),
    "plot": ("Figures", "Needs the extra ``plot`` (matplotlib)."),
    "datasets": ("Data sets", "Generators of the data of the papers."),
    "io": ("Tables and model files", "Reading, writing, saving and exporting."),
    "report": ("Reports", "One self-contained HTML page about a map. Needs the extra ``plot``."),
    "nystrom": ("Nyström formula for matrices", "Approximate eigenvectors and completed kernel matrices."),
    "accel": ("Drop-in for scikit-learn", "scikit-learn's classes computed by eigenscape."),
    "sc.pp": ("Single cells: preprocessing", "Needs the extra ``anndata``."),
    "sc.tl": ("Single cells: tools", "Needs the extra ``anndata``."),
    "exceptions": ("Errors and warnings", "Classes that a caller may want to catch."),
}

#: Rooms that are importable but not described name by name; the guide has their use.
INTERNAL = {"distributed"}


def module_names(module: ModuleType) -> list[str]:
    """Return the public names of a module that are no modules."""
    return [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]


def top_level() -> dict[str, tuple[str, list[str]]]:
    """Return the groups of ``eigenscape``, with all remaining names in a last one."""
    names = module_names(import_module("eigenscape"))
    groups = {title: (text, [n for n in listed if n in names]) for title, (text, listed) in GROUPS.items()}
    listed = {name for _, group in groups.values() for name in group}
    others = [name for name in names if name not in listed]
    return {**groups, "Others": ("", others)} if others else groups


def modules() -> dict[str, tuple[str, str]]:
    """Return the modules that have a page; public modules unknown here are added."""
    package = import_module("eigenscape")
    public = [name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)]
    known = {name.split(".")[0] for name in MODULES} | INTERNAL
    return {**MODULES, **{name: (f"eigenscape.{name}", "") for name in public if name not in known}}


def all_names() -> list[str]:
    """Return the full names of everything that the reference describes."""
    names = [f"eigenscape.{name}" for _, group in top_level().values() for name in group]
    for module in modules():
        full = f"eigenscape.{module}"
        names += [f"{full}.{name}" for name in module_names(import_module(full))]
    return names
