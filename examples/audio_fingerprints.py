"""Audio fingerprints that recognise a clip after noise, shifts, filters and lossy coding.

Clips are synthesised. Distortion discriminant analysis learns two layers of features from some clips and
their distorted versions. One fingerprint of each of the other clips is stored and searched for in distorted
recordings. The program prints the rates of false positives (another clip is accepted) and false negatives
(the stored clip is not found) at several thresholds.

Run it with ``python examples/audio_fingerprints.py``. It takes less than a minute and writes
``audio_fingerprints.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import signal

from eigenscape import DistortionDiscriminantAnalysis

RATE, FRAME, HOP, BANDS = 8000, 512, 200, 20
FIGURE = Path("audio_fingerprints.png")
LAYERS = ((12, 8, 4), (24, 16, 2))
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.6)


# --- audio --------------------------------------------------------------------------------------------------


def synthesise(rng: np.random.Generator, seconds: float) -> np.ndarray:
    """Return a clip of random notes with overtones and noise bursts, with a random timbre and tempo."""
    clip = 0.01 * rng.standard_normal(int(seconds * RATE))
    timbre = rng.random(6) * 0.7 ** np.arange(6)
    for voice in range(3):
        position = 0.0
        while position < seconds:
            length = rng.choice([0.15, 0.25, 0.4, 0.6])
            pitch = 110 * 2 ** (voice + rng.integers(0, 12) / 12)
            add(clip, position, note(pitch, length, timbre) * rng.uniform(0.3, 1))
            position += length * rng.choice([0.5, 1, 1.5])
    tempo = rng.uniform(0.2, 0.5)
    for beat in np.arange(0, seconds, tempo):
        burst = rng.standard_normal(600) * np.exp(-np.arange(600) / rng.uniform(50, 200))
        add(clip, beat, 0.5 * burst)
    return clip / clip.std()


def note(pitch: float, length: float, timbre: np.ndarray) -> np.ndarray:
    """Return the samples of a decaying note with overtones."""
    t = np.arange(int(length * RATE)) / RATE
    overtones = [(k, amount) for k, amount in enumerate(timbre, start=1) if k * pitch < RATE / 2]
    wave = sum(amount * np.sin(2 * np.pi * k * pitch * t) for k, amount in overtones)
    return np.asarray(wave * np.exp(-3 * t / length) * np.minimum(t / 0.01, 1))


def add(clip: np.ndarray, seconds: float, sound: np.ndarray) -> None:
    """Add a sound to a clip in place, cut off at its end."""
    start = int(seconds * RATE)
    section = clip[start : start + len(sound)]
    section += sound[: len(section)]


def log_spectrum(clip: np.ndarray) -> np.ndarray:
    """Return logarithmic energies (frames, bands) in bands whose width increases with frequency."""
    power = np.square(np.abs(spectrum(clip)))  # (frequencies, frames)
    edges = np.geomspace(2, FRAME // 2, BANDS + 1).astype(int)
    edges = np.maximum.accumulate(np.maximum(edges, edges[0] + np.arange(BANDS + 1)))  # no band is empty
    bands = np.add.reduceat(power[: edges[-1]], edges[:-1], axis=0)
    return np.log(bands.T + 1e-3)


def spectrum(clip: np.ndarray) -> np.ndarray:
    """Return the short-time Fourier transform (frequencies, frames)."""
    return signal.stft(clip, nperseg=FRAME, noverlap=FRAME - HOP, boundary=None, padded=False, scaling="psd")[
        2
    ] * np.sqrt(RATE)


# --- distortions --------------------------------------------------------------------------------------------


def noisy(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add white noise, 6 to 12 decibels below the signal."""
    return clip + rng.standard_normal(len(clip)) * clip.std() * 10 ** (-rng.uniform(6, 12) / 20)


def shifted(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Shift the clip by up to 50 milliseconds in either direction."""
    return np.roll(clip, int(rng.uniform(-0.05, 0.05) * RATE))


def filtered(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Apply a random smooth frequency response with gains of -10 to 10 decibels."""
    gains = 10 ** (rng.uniform(-10, 10, 8) / 20)
    return signal.lfilter(signal.firwin2(65, np.linspace(0, 1, 8), np.r_[gains[:-1], 0]), 1.0, clip)


def coded(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Round the amplitudes of the spectrum and drop masked ones, as lossy compression does."""
    frequencies = signal.stft(clip, nperseg=FRAME)[2]
    size = np.abs(frequencies)
    step = 10 ** (rng.uniform(4, 8) / 20)
    rounded = step ** np.round(np.log(np.maximum(size, 1e-9)) / np.log(step))
    loud = signal.convolve(size, np.ones((15, 1)) / 15, mode="same")
    kept = np.where(size > rng.uniform(0.2, 0.5) * loud, rounded, 0.0)
    return signal.istft(kept * np.exp(1j * np.angle(frequencies)), nperseg=FRAME)[1][: len(clip)]


DISTORTIONS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "noise": noisy,
    "shift": shifted,
    "filter": filtered,
    "coding": coded,
    "all": lambda clip, rng: coded(noisy(filtered(shifted(clip, rng), rng), rng), rng),
}


# --- the experiment -----------------------------------------------------------------------------------------


class Result(NamedTuple):
    """Fitted model and distances between stored clips and recordings."""

    model: DistortionDiscriminantAnalysis
    own: dict[str, np.ndarray]  # for each distortion, distances of stored clips to their own recordings
    other: np.ndarray  # distances of stored clips to recordings of other clips
    seconds: float

    def false_positives(self, threshold: float) -> float:
        """Return the rate of other clips that are accepted."""
        return float(np.mean(self.other <= threshold))

    def false_negatives(self, threshold: float, distortion: str | None = None) -> float:
        """Return the rate of stored clips that are not found, for one distortion or for all."""
        distances = self.own[distortion] if distortion else np.concatenate(list(self.own.values()))
        return float(np.mean(distances > threshold))


def experiment(n_train: int = 120, n_test: int = 100, seconds: float = 6.0, seed: int = 0) -> Result:
    """Fit the model to some clips, then search others in distorted recordings."""
    started = time.perf_counter()
    rng = np.random.default_rng(seed)
    train, test = ([synthesise(rng, seconds) for _ in range(n)] for n in (n_train, n_test))
    model = learn(train, rng)
    background = np.concatenate(model.transform([log_spectrum(clip) for clip in train]))
    stored = np.array([middle(model.transform(log_spectrum(clip))) for clip in test])
    # Distances are scaled so that the mean distance to another clip is 1.
    scale = np.linalg.norm(stored[:, None] - background, axis=2).mean(axis=1)
    own, other = {}, []
    for name, distort in DISTORTIONS.items():
        recordings = [model.transform(log_spectrum(distort(clip, rng))) for clip in test]
        nearest = np.array(
            [np.linalg.norm(stored[:, None] - recording, axis=2).min(axis=1) for recording in recordings]
        ).T
        nearest /= scale[:, None]  # (stored clip, recording)
        own[name] = np.diagonal(nearest).copy()
        other.append(nearest[~np.eye(n_test, dtype=bool)])
    return Result(model, own, np.concatenate(other), time.perf_counter() - started)


def learn(clips: list[np.ndarray], rng: np.random.Generator) -> DistortionDiscriminantAnalysis:
    """Fit the model to clips and their distorted versions."""
    clean = [log_spectrum(clip) for clip in clips]
    distorted = [[log_spectrum(distort(clip, rng)) for clip in clips] for distort in DISTORTIONS.values()]
    return DistortionDiscriminantAnalysis(layers=LAYERS).fit(clean, distorted=distorted)


def middle(outputs: np.ndarray) -> np.ndarray:
    """Return the output at the middle of a clip."""
    return outputs[len(outputs) // 2]


# --- report -------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the experiment, print the rates and draw the distances."""
    result = experiment()
    model = result.model
    span = model.receptive_field_ * HOP / RATE
    n_own, n_other = sum(map(len, result.own.values())), len(result.other)
    print(
        f"One fingerprint of {LAYERS[-1][0]} numbers per clip, for {span:.1f} s of sound; computed in"
        f" {result.seconds:.0f} s."
    )
    print(
        "signal-to-noise ratio:",
        ", ".join(f"layer {i} {q[0]:.3g} to {q[-1]:.3g}" for i, q in enumerate(model.eigenvalues_, start=1)),
    )
    print(f"\nfalse positives of {n_other} pairs, false negatives of {n_own} recordings:\n")
    print(
        f"{'threshold':>9} {'false pos.':>11} {'false neg.':>11}   "
        + " ".join(f"{name:>7}" for name in DISTORTIONS)
    )
    for threshold in THRESHOLDS:
        missed = " ".join(f"{result.false_negatives(threshold, name):>7.1%}" for name in DISTORTIONS)
        print(
            f"{threshold:>9.2f} {result.false_positives(threshold):>11.3%}"
            f" {result.false_negatives(threshold):>11.2%}   {missed}"
        )
    draw(result)
    print(f"\nwrote {FIGURE}")


def draw(result: Result) -> None:
    """Draw histograms of the distances."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
    bins = np.linspace(0, max(1.0, float(result.other.max())), 80)
    axis.hist(result.other, bins, density=True, color="0.7", label="other clips")
    for name, distances in result.own.items():
        axis.hist(distances, bins, density=True, histtype="step", label=f"same clip: {name}")
    axis.set(xlabel="distance to the stored fingerprint (1: mean distance to other clips)", ylabel="density")
    axis.set_title("Fingerprints by distortion discriminant analysis")
    axis.legend(frameon=False)
    figure.savefig(FIGURE, dpi=120)


if __name__ == "__main__":
    main()
