"""Oriented PCA of a dask collection: moments of the signal and of the noise, merged over the blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.methods.oriented_pca import NoiseMoments, noise_moments

#: Labels (g,), numbers of rows (g,) and sums of rows (g, d) of groups.
Groups = tuple[np.ndarray, np.ndarray, np.ndarray]


def noise_of_vectors(blocks: Blocks) -> NoiseMoments:
    """Return the moments of given noise vectors."""
    return reduce_blocks(_noise, blocks, NoiseMoments.merge)


def noise_of_versions(blocks: Blocks, versions: Sequence[Blocks]) -> NoiseMoments:
    """Return the moments of the differences between distorted versions and the rows."""
    return reduce_blocks(_differences, blocks, NoiseMoments.merge, aligned=versions)


def noise_of_groups(blocks: Blocks, labels: Blocks) -> NoiseMoments:
    """Return the moments of the differences between rows and the mean of their group, in two passes."""
    names, sizes, sums = reduce_blocks(_groups, blocks, _merge_groups, aligned=[labels])
    if sizes.max() < 2:
        raise ValueError(
            f"y has a different label for each of the {int(sizes.sum())} rows, so there is no noise within"
            " groups; give versions of the same sample the same label"
        )
    return reduce_blocks(
        _noise_around_means, blocks, NoiseMoments.merge, names, sums / sizes[:, None], aligned=[labels]
    )


def _noise(*vectors: np.ndarray) -> NoiseMoments:
    doubled = [each.astype(np.float64, copy=False) for each in vectors]
    return noise_moments(doubled, doubled[0].shape[1])


def _differences(X: np.ndarray, *versions: np.ndarray) -> NoiseMoments:
    return _noise(*(version.astype(np.float64) - X for version in versions))


def _groups(X: np.ndarray, labels: np.ndarray) -> Groups:
    return _sum_by_label(labels, np.ones(len(labels)), X.astype(np.float64, copy=False))


def _merge_groups(first: Groups, second: Groups) -> Groups:
    names, sizes, sums = (np.concatenate(pair) for pair in zip(first, second, strict=True))
    return _sum_by_label(names, sizes, sums)


def _sum_by_label(names: np.ndarray, sizes: np.ndarray, values: np.ndarray) -> Groups:
    """Sum the values of equal labels."""
    distinct, group = np.unique(names, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]))
    np.add.at(sums, group, values)
    return distinct, np.bincount(group, sizes), sums


def _noise_around_means(
    X: np.ndarray, labels: np.ndarray, names: np.ndarray, means: np.ndarray
) -> NoiseMoments:
    """Return the moments of the rows minus the ``means`` (g, d) of their groups ``names`` (g,)."""
    return _noise(X - means[np.searchsorted(names, labels)])
