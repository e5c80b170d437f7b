"""Oriented PCA of rows on many machines: moments of the signal and of the noise, joined block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.pca import gather_moments
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.signs import block_signs
from eigenscape.methods.oriented_pca import Noise, Orientation, Signal, noise_moments

#: Of each group its name, its number of rows and their sum.
Groups = tuple[np.ndarray, np.ndarray, np.ndarray]


def gather_signal(blocks: Blocks) -> Signal:
    """Mean and covariance of all rows."""
    total = gather_moments(blocks)
    return Signal(total.mean, total.scatter / total.n_rows, total.n_rows)


def noise_of_vectors(blocks: Blocks) -> Noise:
    """From noise vectors themselves."""
    return reduce_blocks(_noise, blocks, Noise.joined)


def noise_of_versions(blocks: Blocks, versions: Sequence[Blocks]) -> Noise:
    """From distorted versions of the rows, partition by partition."""
    return reduce_blocks(_differences, blocks, Noise.joined, beside=versions)


def noise_of_groups(blocks: Blocks, labels: Blocks) -> Noise:
    """From what a row differs from the mean of its group: one pass for the means, one for the noise."""
    names, sizes, sums = reduce_blocks(_groups, blocks, _joined_groups, beside=[labels])
    if sizes.max() < 2:
        raise ValueError(
            f"y puts each of {int(sizes.sum())} rows into a group of its own: there is no noise in groups of one; repeat a label for the"
            " versions of one thing"
        )
    return reduce_blocks(_around_groups, blocks, Noise.joined, names, sums / sizes[:, None], beside=[labels])


def orientation_signs(blocks: Blocks, mean: np.ndarray, orientation: Orientation) -> np.ndarray:
    """Signs (r,) that make the largest coordinate of all rows positive."""
    return block_signs(_projected, blocks, mean, orientation.directions)


def _projected(X: np.ndarray, mean: np.ndarray, directions: np.ndarray) -> np.ndarray:
    return (X - mean) @ directions


def _noise(*vectors: np.ndarray) -> Noise:
    doubled = [each.astype(np.float64, copy=False) for each in vectors]
    return noise_moments(lambda: doubled, doubled[0].shape[1])


def _differences(X: np.ndarray, *versions: np.ndarray) -> Noise:
    return _noise(*(version.astype(np.float64) - X for version in versions))


def _groups(X: np.ndarray, labels: np.ndarray) -> Groups:
    return _summed(labels, np.ones(len(labels)), X.astype(np.float64, copy=False))


def _joined_groups(first: Groups, second: Groups) -> Groups:
    names, sizes, sums = (np.concatenate(pair) for pair in zip(first, second, strict=True))
    return _summed(names, sizes, sums)


def _summed(names: np.ndarray, sizes: np.ndarray, values: np.ndarray) -> Groups:
    """Equal names put together."""
    distinct, group = np.unique(names, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]))
    np.add.at(sums, group, values)
    return distinct, np.bincount(group, sizes), sums


def _around_groups(X: np.ndarray, labels: np.ndarray, names: np.ndarray, means: np.ndarray) -> Noise:
    return _noise(X - means[np.searchsorted(names, labels)])
