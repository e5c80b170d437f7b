"""Hashes of rows."""

from __future__ import annotations

import numpy as np


def mix_bits(bits):
    """Mix the bits of a 64-bit integer; 0 remains 0."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def column_multipliers(multipliers):
    """Write an odd number for each column."""
    for j in range(len(multipliers)):
        multipliers[j] = mix_bits(np.uint64(j + 1)) | np.uint64(1)


def hash_dense(bits, multipliers, hashes):
    """Write to ``hashes`` the sums of the rows of ``bits`` (n, d), mixed and multiplied by column."""
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += mix_bits(mix_bits(bits[i, j]) * multipliers[j])
        hashes[i] = total


def hash_sparse(indptr, indices, bits, multipliers, hashes):
    """Write the same sums for the stored values of a sparse matrix."""
    for i in range(len(indptr) - 1):
        total = np.uint64(0)
        for place in range(indptr[i], indptr[i + 1]):
            total += mix_bits(mix_bits(bits[place]) * multipliers[indices[place]])
        hashes[i] = total
