"""The number of clusters: ``SpectralClustering("auto")``, the eigengap alone, and the silhouette.

``python -m benchmarks.cluster_counts`` prints a table, and writes it to docs/benchmarks/clusters.md with
``--write``. All three rules choose among 2 to 15 for the same graph and the same clusters of each number.
Blobs are Gaussians of standard deviation 1 in five dimensions, whose centres are uniform in a cube of side
``20 / overlap``; uneven ones have sizes from a Dirichlet distribution.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, euclidean_distances, silhouette_score
from sklearn.preprocessing import normalize

from benchmarks.real_data import absence, load
from eigenscape import SpectralClustering
from eigenscape.exceptions import DisconnectedGraphWarning, WeakEvidenceWarning

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "clusters.md"
RULES = ("auto", "eigengap", "silhouette")


class Data(NamedTuple):
    """A data set, drawn for each seed; real rows are half of all, drawn for each seed."""

    name: str
    truth: int
    draw: object


def blobs(k: int, overlap: float, uneven: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 600 rows of Gaussian blobs and their labels."""
    rng = np.random.default_rng(100 + seed)
    sizes = np.full(k, 600 // k)
    if uneven:
        sizes = (480 * rng.dirichlet(np.full(k, 2.0)) + 120 / k).astype(int)
    centers = rng.uniform(-10, 10, (k, 5)) / overlap
    labels = np.repeat(np.arange(k), sizes)
    return centers[labels] + rng.standard_normal((len(labels), 5)), labels


def half(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return half of the rows of a real data set, at most 1500, and their classes."""
    X, classes = load(name)
    some = np.random.default_rng(seed).permutation(len(X))[: min(len(X) // 2, 1500)]
    return X[some].astype(np.float64), classes[some]


def data() -> Iterator[Data]:
    """Yield what is clustered."""
    for k in (3, 8):
        for overlap in (1.0, 2.0, 3.0):
            for uneven in (False, True):
                sizes = "uneven" if uneven else "even"
                yield Data(
                    f"blobs, {sizes}, overlap {overlap:g}",
                    k,
                    lambda seed, k=k, overlap=overlap, uneven=uneven: blobs(k, overlap, uneven, seed),
                )
    yield Data("moons", 2, lambda seed: make_moons(500, noise=0.08, random_state=seed))
    yield Data("circles", 2, lambda seed: make_circles(500, noise=0.05, factor=0.5, random_state=seed))
    for name, title, k in (("digits", "digits", 10), ("pbmc", "pbmc3k", 8), ("paul15", "paul15", 0)):
        if not absence(name):
            truth = k or len(np.unique(load(name)[1]))
            yield Data(title, truth, lambda seed, name=name: half(name, seed))
    rng = np.random.default_rng
    yield Data("uniform square", 1, lambda seed: (rng(seed).random((600, 2)), np.zeros(600)))
    yield Data(
        "one Gaussian, 5 features", 1, lambda seed: (rng(seed).standard_normal((600, 5)), np.zeros(600))
    )


def compare(X: np.ndarray, y: np.ndarray) -> tuple[dict[str, int], dict[str, float], bool]:
    """Return the number that each rule chooses, the agreement of its clusters with ``y``, and any warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SpectralClustering("auto").fit(X)
    weak = any(issubclass(warning.category, WeakEvidenceWarning) for warning in caught)
    evidence, counts = model.cluster_evidence_, model.cluster_evidence_["n_clusters"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        functions = SpectralClustering(int(counts[-1]), n_init=1).fit(X).eigenfunctions(X)
    labels = {
        int(k): KMeans(k, n_init=4, random_state=0).fit_predict(normalize(functions[:, :k])) for k in counts
    }
    distances = euclidean_distances(X)
    np.fill_diagonal(distances, 0)
    silhouettes = [silhouette_score(distances, labels[int(k)], metric="precomputed") for k in counts]
    chosen = {
        "auto": model.n_clusters_,
        "eigengap": int(counts[np.argmax(evidence["eigengap"])]),
        "silhouette": int(counts[np.argmax(silhouettes)]),
    }
    agreement = {rule: adjusted_rand_score(y, labels[k]) for rule, k in chosen.items()}
    return chosen, agreement, weak


def lines(n_seeds: int) -> Iterator[str]:
    """Yield the lines of the table, and of its summary."""
    yield "| data | clusters | " + " | ".join(f"{rule}: chosen | agreement" for rule in RULES) + " | warned |"
    yield "| --- " * (3 + 2 * len(RULES)) + "|"
    right = dict.fromkeys(RULES, 0)
    total = 0
    for name, truth, draw in data():
        found = [compare(*draw(seed)) for seed in range(n_seeds)]
        cells = []
        for rule in RULES:
            numbers = [chosen[rule] for chosen, _, _ in found]
            agreement = np.array([agreement[rule] for _, agreement, _ in found])
            interval = 2 * agreement.std(ddof=1) / np.sqrt(n_seeds)
            cells.append(f"{', '.join(map(str, numbers))} | {agreement.mean():.2f} ± {interval:.2f}")
            if truth > 1:
                right[rule] += sum(number == truth for number in numbers)
        total += n_seeds if truth > 1 else 0
        warned = sum(weak for _, _, weak in found)
        yield f"| {name} | {truth} | {' | '.join(cells)} | {warned} of {n_seeds} |"
    yield ""
    counts = ", ".join(f"{rule} {right[rule]}" for rule in RULES)
    yield f"The number of classes was found in, of {total} cases: {counts}."


def main() -> None:
    """Print the comparison, and write its page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    table = []
    for line in lines(options.seeds):
        print(line, flush=True)
        table.append(line)
    if options.write:
        head = (
            '# The number of clusters\n\n`SpectralClustering("auto")` takes the largest eigengap among the'
            " numbers of clusters that are stable under reweighting; *eigengap* takes the largest of all, and"
            " *silhouette* the largest mean silhouette. All choose among 2 to 15, from the same graph and"
            f" clusters; {options.seeds} draws of each data set (real rows: halves of at most 1500)."
            " Agreement is the adjusted Rand index with the classes, mean and twice the standard error;"
            " *warned* counts the draws in which auto reported weak evidence. Made by"
            " `python -m benchmarks.cluster_counts --write`.\n\n"
        )
        PAGE.write_text(head + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
