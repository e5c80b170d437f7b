"""Write small files for examples of the command line.

The files are flowers.csv, new-flowers.csv, few-labels.csv, distances.csv, graph.edges and a folder
of images, digits. Run ``python examples/tables.py [FOLDER]``.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph


def write_flowers(path: Path, rows: np.ndarray, n_labels: int | None = None) -> None:
    """Write rows of the iris data to a CSV file; only the first ``n_labels`` have a species, if given."""
    flowers = load_iris()
    header = ",".join(
        [
            "flower",
            *(name.removesuffix(" (cm)").replace(" ", "_") for name in flowers.feature_names),
            "species",
        ]
    )
    lines = [
        ",".join(
            [
                f"f{row}",
                *(f"{value:g}" for value in flowers.data[row]),
                flowers.target_names[flowers.target[row]] if n_labels is None or place < n_labels else "",
            ]
        )
        for place, row in enumerate(rows)
    ]
    path.write_text("\n".join([header, *lines]) + "\n")


def main(folder: Path) -> None:
    """Write all files to a folder."""
    (folder / "digits").mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng(0).permutation(150)
    write_flowers(folder / "flowers.csv", order[:120])
    write_flowers(folder / "new-flowers.csv", order[120:])
    write_flowers(folder / "few-labels.csv", order[:120], 15)
    X = load_iris().data[order[:60]]
    np.savetxt(folder / "distances.csv", pairwise_distances(X), delimiter=",", fmt="%.6g")
    connected = load_iris().data[order[load_iris().target[order] > 0]][:60]  # two species that overlap
    graph = kneighbors_graph(connected, 8).tocoo()
    (folder / "graph.edges").write_text(
        "".join(f"{i} {j}\n" for i, j in zip(graph.row, graph.col, strict=True))
    )
    for number, (image, digit) in enumerate(
        zip(load_digits().images[:60], load_digits().target, strict=False)
    ):
        Image.fromarray((image * 15.9).astype(np.uint8)).save(folder / "digits" / f"{number:02d}-{digit}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
