"""Neighbouring frames in a map of speech belong to the same class of sounds.

Belkin and Niyogi sec. 6.4, fig. 5: log spectra of 685 frames of one sentence. The two spokes of the Laplacian
eigenmap correspond predominantly to fricatives and to closures, its central portion mostly to periodic sounds
(vowels, nasals and semivowels); regions are homogeneous. Measured by the fraction of a frame's 10 nearest
neighbours in the map that belong to its class, by the classes of the frames at the tips, and by the classes
of the half of all frames nearest to the median of the map.

A tip consists of the outermost frames of speech, as many as there are frames of its class; silence before and
after the sentence is in the map but is not counted. The sentence used here (684 frames) is not the one of the
paper. The paper does not state the number of neighbours.
"""

from __future__ import annotations

import numpy as np

from eigenscape.estimators import PCA, LaplacianEigenmaps
from eigenscape.options import KNNGraph
from eigenscape.quality import neighbor_purity
from experiments._classes import digits, scatter_classes
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import new_figure

PAPER = "Belkin and Niyogi 2003, fig. 5"
FILES = ("timit_sa1_stft",)
NEIGHBORS = 14
FORMER_TIP = 0.1  # a tip was this fraction of all frames before
CLASSES = ["vowel", "fricative", "silence", "closure", "semivowel/glide", "nasal", "stop"]
SPOKES = {"fricatives": "fricative", "closures": "closure"}
PERIODIC = ["vowel", "nasal", "semivowel/glide"]


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
        "eigenmap": LaplacianEigenmaps(2, affinity=KNNGraph(NEIGHBORS, weights="binary")).fit_transform(X),
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
    if arrays is not None:
        spokes, tips = _spokes(maps["eigenmap"], labels)
        central, share = centre(maps["eigenmap"], labels)
        claims += [*spokes, central]
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
    }
    if arrays is not None:
        numbers |= {"tips": tips, "periodic_in_the_centre": share}
    return Outcome(claims, figure, numbers, data)


def _spokes(Y: np.ndarray, labels: np.ndarray) -> tuple[list[Claim], dict[str, dict[str, float]]]:
    """Return the claims on the tips of the spokes, and the fractions of classes at each tip."""
    claims, tips = [], {}
    for name, kind in SPOKES.items():
        shares = tips[name] = tip(Y, labels, [kind], speech=True)
        before = tip(Y, labels, [kind])
        count = round(sum(labels == kind))
        claims.append(
            Claim(
                f"the tip of one spoke is {name}",
                "predominantly",
                f"of the outermost {count} frames of speech {_shares(shares)}",
                shares[kind] > 0.5,
                criterion="more than half of as many frames of speech as there are frames of the class",
                why="" if shares[kind] > 0.5 else _position(Y, labels, kind),
                previous=f"of the outermost {FORMER_TIP:.0%} of all frames, silence counted,"
                f" {kind} {before.get(kind, 0):.0%}",
            )
        )
    both = tips["closures or silence"] = tip(Y, labels, ["closure", "silence"])
    share = both.get("closure", 0) + both.get("silence", 0)
    claims.append(
        Claim(
            "the tip of one spoke is closures or silence",
            NOT_PRINTED,
            f"of the outermost {FORMER_TIP:.0%} of all frames {_shares(both)}",
            share > 0.5,
            criterion="more than half",
            kind="check",
        )
    )
    return claims, tips


def tip(Y: np.ndarray, labels: np.ndarray, kinds: list[str], speech: bool = False) -> dict[str, float]:
    """Return the fractions of classes among the frames at one end of a coordinate.

    Of the four ends the one with the largest fraction of ``kinds``. If ``speech`` is True, a tip has as many
    frames as there are of ``kinds``, and silence is not counted; else it is a fixed fraction of all frames.
    """
    if speech:
        count = int(np.isin(labels, kinds).sum())
        Y, labels = Y[labels != "silence"], labels[labels != "silence"]
    else:
        count = round(FORMER_TIP * len(Y))
    ends = [labels[np.argsort(sign * Y[:, column])[-count:]] for column in (0, 1) for sign in (1, -1)]
    best = max(ends, key=lambda end: np.isin(end, kinds).mean())
    names, counts = np.unique(best, return_counts=True)
    return {str(name): float(n / count) for name, n in zip(names, counts, strict=True)}


def _shares(shares: dict[str, float]) -> str:
    """Return fractions of classes as text, the largest first."""
    return ", ".join(
        f"{kind} {share:.0%}" for kind, share in sorted(shares.items(), key=lambda item: -item[1])
    )


def centre(Y: np.ndarray, labels: np.ndarray) -> tuple[Claim, float]:
    """Return the claim that the centre of the map is mostly periodic sounds, and their fraction there."""
    distance = np.linalg.norm((Y - np.median(Y, axis=0)) / Y.std(axis=0), axis=1)
    periodic = np.isin(labels, PERIODIC)
    share = float(periodic[np.argsort(distance, kind="stable")[: len(Y) // 2]].mean())
    claim = Claim(
        "the centre of the map is periodic sounds",
        "mostly",
        f"{share:.0%} of the half of all frames nearest to the median, {periodic.mean():.0%} of all frames",
        share > max(0.5, periodic.mean()),
        criterion="more than half, and more than their fraction of all frames",
    )
    return claim, share


def _position(Y: np.ndarray, labels: np.ndarray, kind: str) -> str:
    """Describe where frames of a class lie: their median rank along the coordinate where it is highest."""
    ranks = {
        (column, sign): np.argsort(np.argsort(sign * Y[:, column])) / (len(Y) - 1)
        for column in (0, 1)
        for sign in (1, -1)
    }
    middle = {where: float(np.median(rank[labels == kind])) for where, rank in ranks.items()}
    column, sign = max(middle, key=lambda where: middle[where])
    return (
        f"Along the {'first' if column == 0 else 'second'} coordinate, where they are farthest from the"
        f" centre, the median {kind} frame lies beyond {middle[column, sign]:.0%} of all frames."
    )
