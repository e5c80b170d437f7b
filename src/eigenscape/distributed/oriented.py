"""Oriented PCA of a dask collection: moments of the signal and of the noise, merged over the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape.distributed._presence import is_collection
from eigenscape.distributed.blocks import Blocks, as_blocks, label_blocks
from eigenscape.distributed.dispatch import validate_blocks
from eigenscape.distributed.pca import gather_moments
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.signs import projection_signs
from eigenscape.methods.oriented_pca import NoiseMoments, directions_of, noise_moments

#: Labels (g,), numbers of rows (g,) and sums of rows (g, d) of groups.
Groups = tuple[np.ndarray, np.ndarray, np.ndarray]


def fit(estimator: Any, _: str, X: Any, y: Any = None, *, noise: Any = None, distorted: Any = None) -> None:
    """Fit oriented PCA to a collection by the moments of signal and noise; no rows are stored."""
    versions = estimator._versions(y, noise, distorted)
    blocks = validate_blocks(estimator, X, reset=True)
    signal, d = gather_moments(blocks), blocks.n_features
    estimator._check_rank(signal.n_rows, d)
    if noise is not None and not is_collection(noise):
        moments = noise_moments([estimator._check_noise(noise, d)], d)
    else:
        moments = gather_noise(blocks, y, noise, versions)
    orientation = directions_of(
        signal, moments, estimator.n_components, estimator.regularization, estimator.criterion
    )
    signs = projection_signs(blocks, signal.mean, orientation.directions)
    estimator._set_moments(signal, orientation.with_signs(signs))
    estimator.embedding_ = estimator.transform(X)


def gather_noise(blocks: Blocks, y: Any, noise: Any, versions: Sequence[Any] | None) -> NoiseMoments:
    """Return the moments of noise.

    They are the moments of the differences between distorted ``versions`` and the rows, of the vectors
    ``noise``, or of the differences between rows and the mean of their group ``y``.
    """
    if versions is not None:
        aligned = [_further_blocks(blocks, f"distorted[{k}]", each) for k, each in enumerate(versions)]
        return reduce_blocks(_differences, blocks, aligned=aligned)
    if noise is not None:
        return reduce_blocks(_noise, _further_blocks(blocks, "noise", noise))
    if y is None or not is_collection(y) or np.ndim(y) != 1:
        raise TypeError(
            f"X is a dask collection, and y is a {type(y).__name__}; pass a dask array of group"
            " numbers or names with the row chunks of X"
        )
    return _noise_of_groups(blocks, label_blocks(y))


def _further_blocks(blocks: Blocks, name: str, value: Any) -> Blocks:
    """Return the blocks of a further collection with the columns of the rows."""
    if not is_collection(value) or value.ndim != 2 or value.shape[1] != blocks.n_features:
        raise ValueError(
            f"X is a dask collection, so {name} must be one too, with the same {blocks.n_features}"
            " columns and row chunks"
        )
    return as_blocks(value, name=name, dense=True)


def _noise_of_groups(blocks: Blocks, labels: Blocks) -> NoiseMoments:
    """Return the moments of the differences between rows and the mean of their group, in two passes."""
    names, sizes, sums = reduce_blocks(_groups, blocks, combine=_merge_groups, aligned=[labels])
    if sizes.max() < 2:
        raise ValueError(
            f"y has a different label for each of the {int(sizes.sum())} rows, so there is no noise within"
            " groups; give versions of the same sample the same label"
        )
    return reduce_blocks(_noise_around_means, blocks, names, sums / sizes[:, None], aligned=[labels])


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
