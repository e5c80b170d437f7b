"""Choice of the default ``reg`` of LLE: ``python -m benchmarks.lle_regularization [--data DIR] [--quick]``.

The local Gram matrix of a point and its ``k`` neighbours is singular if ``k`` exceeds the number of features
or the dimension of the manifold, so a ridge is added to its diagonal. Two conventions are in use: a multiple
of the trace, ``reg * trace`` (scikit-learn), and of the mean eigenvalue, ``reg * trace / k`` (Saul and Roweis
2003). They differ in how the ridge changes with ``k``, so each value is measured at several ``k``:

* recovery: part of the variance of the known coordinates that is not a linear function of the map (rolls:
  arc length and height; faces: pan, tilt and light). LLE scales its coordinates to unit variance, so linear
  functions are the most that it can recover. For digits, the share of points with another label than most of
  their 10 neighbours on the map.
* movement: root mean square movement of the remaining points, relative to the spread of the map, if a fifth
  of the points is left out and the map fitted again and aligned by a rigid motion.
* placement: the same for the points left out, placed by ``transform`` of the second map.

The summary compares constants: for each convention and value, the geometric mean over all problems of each
measure relative to the best value of ``reg`` for that problem. 1 is the best choice for every problem. A map
that lost a coordinate is more stable than one that has both, so recovery is compared first: of the values
whose recovery is within 5 % of the best, the one with the least movement is chosen.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from eigenscape import LocallyLinearEmbedding
from eigenscape.datasets import swiss_roll
from eigenscape.exceptions import NotConvergedError

#: Ridges as shares of the trace.
SHARES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
NEIGHBORS = (6, 12, 24)
MEASURES = ("recovery", "movement", "placement")
#: Differences below this are not counted: a map that moves by 0.1 % of its spread is as good as one at rest.
FLOOR = 1e-3


@dataclass(frozen=True)
class Problem:
    """Rows, their known coordinates or labels (or None), and the dimension of the map."""

    name: str
    X: np.ndarray
    truth: np.ndarray | None
    n_components: int


def problems(data: Path | None, quick: bool) -> Iterator[Problem]:
    """Yield rolls of several sizes, digits, and the faces in the data folder."""
    for n in (400, 800) if quick else (400, 800, 1600, 3200):
        for noise in (0.0, 0.4):
            for seed in range(2 if quick else 4):
                X, parameters = swiss_roll(n, noise=noise, random_state=seed)
                yield Problem(f"roll n={n} noise={noise:g} seed={seed}", X, parameters, 2)
    digits = load_digits()
    yield Problem("digits", digits.data, digits.target, 5)
    if data is not None:
        faces = np.load(data / "isomap_faces_32x32.npz")
        pose = np.column_stack([faces[key] for key in ("pan_z", "tilt_z", "light_z")])
        yield Problem("faces", faces["X"].astype(np.float64), pose, 3)
        frey = np.load(data / "frey_faces.npz")
        yield Problem("frey", frey["X"].astype(np.float64), None, 2)


def measure(problem: Problem, k: int, share: float, seed: int = 0) -> tuple[float, float, float]:
    """Return recovery (NaN if there is no truth), movement and placement; 1 if the solver refuses the map."""
    try:
        return _measure(problem, k, share, seed)
    except NotConvergedError:  # the eigenvalues are at rounding level, and the vectors arbitrary
        return (1.0 if problem.truth is not None else np.nan), 1.0, 1.0


def _measure(problem: Problem, k: int, share: float, seed: int) -> tuple[float, float, float]:
    X, model = problem.X, LocallyLinearEmbedding(problem.n_components, n_neighbors=k, reg=share)
    order = np.random.default_rng(seed).permutation(len(X))
    rest, left_out = order[len(X) // 5 :], order[: len(X) // 5]
    whole = model.fit_transform(X)
    part = model.fit(X[rest])
    shift, target = part.embedding_.mean(axis=0), whole[rest].mean(axis=0)
    u, _, vt = np.linalg.svd((part.embedding_ - shift).T @ (whole[rest] - target))
    spread = _size(whole[rest] - target)
    movement, placement = (
        _size((Y - shift) @ u @ vt + target - whole[which]) / spread
        for Y, which in ((part.embedding_, rest), (part.transform(X[left_out]), left_out))
    )
    return recovery(problem, whole), movement, placement


def _size(differences: np.ndarray) -> float:
    """Return the root mean square length of the rows."""
    return float(np.sqrt(np.square(differences).sum(axis=1).mean()))


def recovery(problem: Problem, Y: np.ndarray) -> float:
    """Return the part of the truth that the map does not contain."""
    if problem.truth is None:
        return np.nan
    if problem.truth.ndim == 1:
        predicted = cross_val_predict(KNeighborsClassifier(10), Y, problem.truth, cv=5)
        return float(np.mean(predicted != problem.truth))
    truth = problem.truth - problem.truth.mean(axis=0)
    design = np.column_stack([np.ones(len(Y)), Y])
    rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return float(np.mean(rest.var(axis=0) / truth.var(axis=0)))


def main() -> None:
    """Measure all problems, print the mean of each group of problems and the summary."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with isomap_faces_32x32.npz and frey_faces.npz")
    parser.add_argument("--quick", action="store_true", help="two sizes and two seeds of the rolls")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # graphs of few neighbours have several components, which are connected
    values: dict[tuple[str, int], np.ndarray] = {}  # (shares, measures) of each problem and k
    for problem in problems(options.data, options.quick):
        for k in NEIGHBORS:
            values[problem.name, k] = np.array([measure(problem, k, share) for share in SHARES])
    groups: dict[tuple[str, int], list[np.ndarray]] = defaultdict(list)
    for (name, k), table in values.items():
        groups[name.rsplit(" seed", 1)[0], k].append(table)
    print("median over seeds, by ridge / trace")
    print(f"{'problem':24} {'k':>2} {'measure':9}", *(f"{share:8.0e}" for share in SHARES))
    for (name, k), tables in groups.items():
        for number, label in enumerate(MEASURES):
            row = np.median([table[:, number] for table in tables], axis=0)
            if np.isfinite(row).all():
                print(f"{name:24} {k:2} {label:9}", *(f"{value:8.4f}" for value in row))
    print("\nrelative to the best value of each problem (geometric mean)")
    for title, scale in (("reg * trace", False), ("reg * trace / k", True)):
        print(f"{title:18} {'recovery':>9} {'movement':>9} {'placement':>9}")
        means = {}
        for reg in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1):
            factors = [regret(table, reg / k if scale else reg) for (_, k), table in values.items()]
            means[reg] = np.exp(np.nanmean(np.log(factors), axis=0))
            print(f"reg = {reg:<12g}", *(f"{value:9.2f}" for value in means[reg]))
        limit = 1.05 * min(mean[0] for mean in means.values())
        chosen = min((reg for reg in means if means[reg][0] <= limit), key=lambda reg: means[reg][1])
        print(f"chosen: reg = {chosen:g}\n")


def regret(table: np.ndarray, share: float) -> np.ndarray:
    """Return each measure at a ridge, interpolated between those measured, relative to the best one."""
    logs = np.log(np.maximum(table, FLOOR))
    at = [np.interp(np.log(share), np.log(SHARES), column) for column in logs.T]
    return np.exp(np.array(at) - logs.min(axis=0))


if __name__ == "__main__":
    main()
