"""Neighbouring frames in a map of speech belong to the same class of sounds.

Belkin and Niyogi sec. 6.4, fig. 5: log spectra of 685 frames of one sentence. The Laplacian eigenmap has two
spokes, fricatives on one and closures (with silence) on the other, and vowels, nasals and semivowels in the
middle; regions are homogeneous. Measured by the fraction of a frame's 10 nearest neighbours in the map that
belong to its class, and by the classes of the frames at the tips.

The sentence used here (684 frames) is not the one of the paper. The paper does not state the number of
neighbours.
"""

from __future__ import annotations

import numpy as np

from eigenscape.estimators import PCA, LaplacianEigenmaps
from eigenscape.quality import neighbor_purity
from experiments._classes import digits, scatter_classes
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import new_figure

PAPER = "Belkin and Niyogi 2003, fig. 5"
FILES = ("timit_sa1_stft",)
NEIGHBORS = 14
TIP = 0.1  # fraction of the frames that form a tip
CLASSES = ["vowel", "fricative", "silence", "closure", "semivowel/glide", "nasal", "stop"]
SPOKES = {"fricatives": ["fricative"], "closures": ["closure"], "closures or silence": ["closure", "silence"]}


def run(context: Context) -> Outcome:
    """Embed the frames by Laplacian eigenmaps and by PCA."""
    arrays = context.load("timit_sa1_stft")
    if arrays is None:
        X, labels = digits(context.pick(684, 684, 300))
        names, data = sorted(set(labels)), "stand-in: digits"
    else:
        X, labels = arrays["X"].astype(np.float64), arrays["phone_class"]
        names, data = CLASSES, "TIMIT, sentence SA1"
    maps = {
        "eigenmap": LaplacianEigenmaps(2, n_neighbors=NEIGHBORS, weights="binary").fit_transform(X),
        "PCA": PCA(2).fit_transform(X),
    }
    purity = {name: neighbor_purity(Y, labels) for name, Y in maps.items()}
    value, value_pca = (one.value for one in purity.values())
    by_class, by_class_pca = (one.per_class for one in purity.values())
    claims = [
        Claim(
            "regions of the map are homogeneous",
            "phonetic homogeneity (picture)",
            f"{value:.3f} of 10 neighbours in the same class, {purity['PCA'].chance:.3f} by chance",
            value > 2 * purity["PCA"].chance,
            criterion="more than twice the value by chance",
            why="By class, PCA in brackets: "
            + ", ".join(f"{name} {by_class[name]:.2f} ({by_class_pca[name]:.2f})" for name in names)
            + ".",
        ),
        Claim(
            "they are more homogeneous than those of PCA",
            NOT_PRINTED,
            f"{value:.3f} compared with {value_pca:.3f}",
            value > value_pca,
            criterion="higher than PCA",
            kind="check",
        ),
    ]
    tips = {} if arrays is None else _tips(maps["eigenmap"], labels)
    claims += [_tip_claim(name, shares, maps["eigenmap"], labels) for name, shares in tips.items()]
    figure = new_figure(
        "684 frames of a spoken sentence"
        if arrays is not None
        else "Digits as a stand-in for a spoken sentence",
        13,
        5.4,
    )
    for axes, (name, Y) in zip(figure.subplots(1, 2), maps.items(), strict=True):
        scatter_classes(axes, Y, labels, names)
        axes.set(title=f"{name}: {purity[name].value:.0%} of the nearest frames are of the same class")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", markerscale=1.6)
    numbers = {
        "frames": len(X),
        "n_neighbors": NEIGHBORS,
        "purity": {name: one._asdict() for name, one in purity.items()},
        "tips": tips,
    }
    return Outcome(claims, figure, numbers, data)


def _tip_claim(name: str, shares: dict[str, float], Y: np.ndarray, labels: np.ndarray) -> Claim:
    """Return the claim that a tip of the map consists of given classes."""
    parts = ", ".join(f"{kind} {share:.0%}" for kind, share in shares.items())
    held, kinds = sum(shares.values()) > 0.5, list(shares)
    return Claim(
        f"the tip of one spoke is {name}",
        "predominantly",
        f"of the outermost {TIP:.0%} of frames: {parts}",
        held,
        criterion="more than half",
        why="" if held else _position(Y, labels, kinds[0]),
    )


def _position(Y: np.ndarray, labels: np.ndarray, kind: str) -> str:
    """Describe where frames of a class lie: their median rank along the coordinate where it is highest."""
    ranks = {
        (column, sign): np.argsort(np.argsort(sign * Y[:, column])) / (len(Y) - 1)
        for column in (0, 1)
        for sign in (1, -1)
    }
    middle = {where: float(np.median(rank[labels == kind])) for where, rank in ranks.items()}
    column, sign = max(middle, key=lambda where: middle[where])
    count = round(TIP * len(Y))
    names, counts = np.unique(labels[np.argsort(sign * Y[:, column])[-count:]], return_counts=True)
    return (
        f"Along the {'first' if column == 0 else 'second'} coordinate, where they are farthest from the"
        f" centre, the median {kind} frame lies beyond {middle[column, sign]:.0%} of all frames; most frames"
        f" of the tip are {names[counts.argmax()]} ({counts.max() / count:.0%})."
    )


def _tips(Y: np.ndarray, labels: np.ndarray) -> dict[str, dict[str, float]]:
    """Return the fractions of classes at the tip of each spoke.

    A tip consists of the frames at one end of a coordinate; for each spoke the end with the largest fraction
    of its classes is used.
    """
    count = round(TIP * len(Y))
    ends = [np.argsort(sign * Y[:, column])[-count:] for column in (0, 1) for sign in (1, -1)]
    tips = {}
    for name, kinds in SPOKES.items():
        shares = [{kind: float(np.mean(labels[end] == kind)) for kind in kinds} for end in ends]
        tips[name] = max(shares, key=lambda share: sum(share.values()))
    return tips
