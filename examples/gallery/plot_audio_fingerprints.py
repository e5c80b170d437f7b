"""
Audio fingerprints
==================

Features that recognise a sequence after distortions: layers of oriented PCA, learnt from clean and distorted versions. The longer script
``examples/audio_fingerprints.py`` does the same with sounds, filters and lossy coding.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import DistortionDiscriminantAnalysis

rng = np.random.default_rng(0)


def clips(number, frames=160, bands=8):
    """Return clips as log energies (number, frames, bands): smooth random curves."""
    steps = rng.standard_normal((number, frames, bands))
    kernel = np.hanning(15) / np.hanning(15).sum()
    return np.apply_along_axis(np.convolve, 1, steps, kernel, mode="same") * 3


def distort(clip):
    """Return a clip with noise, a filter and a shift by one frame."""
    noise = 0.8 * rng.standard_normal(clip.shape)
    return np.roll(clip * rng.uniform(0.8, 1.2, clip.shape[-1]) + noise, rng.integers(-1, 2), axis=0)


training = np.concatenate(clips(20))
model = DistortionDiscriminantAnalysis(layers=[(8, 8, 4), (12, 8, 4)])
model.fit(training, distorted=[distort(training) for _ in range(4)])

stored = clips(60)
prints = np.array([model.transform(clip)[3] for clip in stored])  # one row for each clip
queries = np.array([model.transform(distort(clip))[3] for clip in stored])
distance = np.linalg.norm(prints[:, None] - queries[None], axis=2)
print(f"clips recognised: {np.mean(distance.argmin(axis=0) == np.arange(60)):.0%}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.imshow(distance)
left.set(title="distances of fingerprints", xlabel="distorted clip", ylabel="stored clip")
right.hist(distance[~np.eye(60, dtype=bool)], 40, density=True, alpha=0.6, label="different clips")
right.hist(np.diag(distance), 15, density=True, alpha=0.6, label="the same clip")
right.legend(frameon=False)
plt.show()
