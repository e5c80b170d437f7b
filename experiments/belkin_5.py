"""Frames of speech lie beside frames of the same kind of sound.

Belkin and Niyogi sec. 6.4, fig. 5: log spectra of 685 frames of one sentence. The Laplacian eigenmap has two
spokes, fricatives on one and closures (with silence) on the other, and vowels, nasals and semivowels in the
middle; regions are homogeneous. Measured by the share of a frame's 10 nearest on the map that are of its
class, and by what the tips consist of.

Our sentence is another than theirs (684 frames); the paper does not state the number of neighbours.
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
TIP = 0.1  # share of the frames that are a tip
CLASSES = ["vowel", "fricative", "silence", "closure", "semivowel/glide", "nasal", "stop"]
SPOKES = {"fricatives": ["fricative"], "closures": ["closure"], "closures or silence": ["closure", "silence"]}


def run(context: Context) -> Outcome:
    """Map the frames both ways."""
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
    ours, theirs = (one.value for one in purity.values())
    a, b = (one.per_class for one in purity.values())
    claims = [
        Claim(
            "regions of the map are homogeneous",
            "phonetic homogeneity (picture)",
            f"{ours:.3f} of 10 neighbours alike, {purity['PCA'].chance:.3f} by chance",
            ours > 2 * purity["PCA"].chance,
            criterion="more than twice chance",
            why="By class, against PCA: "
            + ", ".join(f"{name} {a[name]:.2f} ({b[name]:.2f})" for name in names)
            + ".",
        ),
        Claim(
            "more so than in PCA's",
            NOT_PRINTED,
            f"{ours:.3f} against {theirs:.3f}",
            ours > theirs,
            criterion="more",
        ),
    ]
    tips = {} if arrays is None else _tips(maps["eigenmap"], labels)
    claims += [_tip_claim(name, shares, maps["eigenmap"], labels) for name, shares in tips.items()]
    figure = new_figure(
        "684 frames of a spoken sentence"
        if arrays is not None
        else "Digits in the place of a spoken sentence",
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
    parts = ", ".join(f"{kind} {share:.0%}" for kind, share in shares.items())
    held, kinds = sum(shares.values()) > 0.5, list(shares)
    return Claim(
        f"the tip of one spoke is {name}",
        "predominantly",
        f"of the outermost {TIP:.0%} of frames: {parts}",
        held,
        criterion="more than half",
        why="" if held else _along(Y, labels, kinds[0]),
    )


def _along(Y: np.ndarray, labels: np.ndarray, kind: str) -> str:
    """Where frames of a kind lie instead: their middle place along the spoke on which most of them are."""
    places = {
        (column, sign): np.argsort(np.argsort(sign * Y[:, column])) / (len(Y) - 1)
        for column in (0, 1)
        for sign in (1, -1)
    }
    middle = {where: float(np.median(place[labels == kind])) for where, place in places.items()}
    column, sign = max(middle, key=lambda where: middle[where])
    count = round(TIP * len(Y))
    names, counts = np.unique(labels[np.argsort(sign * Y[:, column])[-count:]], return_counts=True)
    return (
        f"Along the {'first' if column == 0 else 'second'} coordinate, where they go farthest out, the"
        f" middle {kind} lies beyond"
        f" {middle[column, sign]:.0%} of all frames; the tip itself is {names[counts.argmax()]}"
        f" ({counts.max() / count:.0%})."
    )


def _tips(Y: np.ndarray, labels: np.ndarray) -> dict[str, dict[str, float]]:
    """What the tip of each spoke consists of: frames farthest out along a coordinate, at the end where its
    kinds have most."""
    count = round(TIP * len(Y))
    ends = [np.argsort(sign * Y[:, column])[-count:] for column in (0, 1) for sign in (1, -1)]
    found = {}
    for name, kinds in SPOKES.items():
        shares = [{kind: float(np.mean(labels[end] == kind)) for kind in kinds} for end in ends]
        found[name] = max(shares, key=lambda share: sum(share.values()))
    return found
