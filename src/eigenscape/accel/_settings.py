"""What is replaced in scikit-learn, and the number of points from which steps run in eigenscape."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Kinds of steps, the fields of :class:`Limits`.
Step = Literal["dense", "iterative", "compiled"]


class Limits(NamedTuple):
    """Numbers of points up to which steps are left to SciPy and scikit-learn, which are as fast there.

    Below the last limit a call saves less than the time in which compiled code is loaded, once in a process.
    """

    dense: int  # steps without compiled code, instead of dense decompositions, sorting or loops in Python
    iterative: int  # those without compiled code, instead of ARPACK
    compiled: int  # steps that need compiled code


class Replaced(NamedTuple):
    """A class or function of scikit-learn that has a replacement. Old versions have no ClassicalMDS."""

    package: str  # of scikit-learn
    name: str
    module: str  # of the replacement
    limits: Limits


REPLACED = (
    Replaced("sklearn.manifold", "Isomap", "_isomap", Limits(800, 2500, 2500)),  # compiled: shortest paths
    Replaced("sklearn.manifold", "LocallyLinearEmbedding", "_locally_linear", Limits(600, 600, 4000)),
    Replaced("sklearn.manifold", "locally_linear_embedding", "_locally_linear", Limits(600, 600, 4000)),
    Replaced("sklearn.manifold", "SpectralEmbedding", "_spectral_embedding", Limits(1000, 6000, 6000)),
    Replaced("sklearn.manifold", "spectral_embedding", "_spectral_embedding", Limits(1000, 6000, 6000)),
    Replaced("sklearn.manifold", "ClassicalMDS", "_classical_mds", Limits(500, 500, 3500)),
    Replaced("sklearn.manifold", "trustworthiness", "_trustworthiness", Limits(300, 300, 4000)),
    Replaced("sklearn.decomposition", "KernelPCA", "_kernel_pca", Limits(800, 2500, 3500)),
    Replaced("sklearn.cluster", "SpectralClustering", "_spectral_clustering", Limits(1000, 6000, 6000)),
    Replaced("sklearn.cluster", "spectral_clustering", "_spectral_clustering", Limits(1000, 6000, 6000)),
)
LIMITS = {each.name: each.limits for each in REPLACED}
#: For calls of other names: the largest of each.
OTHERS = Limits(*map(max, *LIMITS.values()))
#: The reason that is recorded.
FEW = "few points"

#: Number of points up to which calls avoid compiled code; None for the limit of each.
few_points: int | None = None
