"""Folds and errors of kernel eigenmaps of a twisted roll.

Brand sec. 4, fig. 3 to 5: a 30 x 30 grid on a twisted roll, 12 neighbours, inverse distances. Maps by 64
kernels at random points: in all of 100 placements the reweighted and stochastic maps are best, while raw and
affine maps fold at the edges; the reweighted map folds less than the Laplacian eigenmap; mass on the
diagonal of W makes it more isometric.

With the posteriors of eq. 14 the constant is in the span of Z: an accurate solver finds it and the four
corrections agree, so that their printed order cannot be found. Three checks of settings that are not in the
paper show when they differ: with a plain Cholesky factor (eq. 9, QZ where there is none), for which the row
that the affine map adds makes Z D Z' singular; with kernels that are not divided by their sum; and with a
guarded denominator, p / (sum p + delta), for a scan of delta, which is an exploration.

The paper's kernels have sigma 1, in the units of a roll whose size is not given. All maps are computed with
sigma 1, as printed, and with sigma 2: the grid used here has a spacing of 0.9 and the distance between 64
kernels is about 3.3, so that kernels of sigma 1 hardly overlap if they are not divided by their sum. The
best map is the one with the lowest error of the parameters after affine regression; folds are triangles of
the grid with reversed orientation.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from eigenscape import KernelEigenmap, LaplacianEigenmaps
from eigenscape.datasets import twisted_roll
from eigenscape.exceptions import PoleWarning
from eigenscape.methods.graph_embedding import solve_transformation
from eigenscape.methods.kernel_eigenmap import KernelBasis
from eigenscape.methods.mixture import IsotropicKernels, kernel_weights
from eigenscape.options import KNNGraph, LocalKernels
from eigenscape.quality import linear_alignment, procrustes
from experiments._brand import accurate_maps, cholesky_maps, kernel_features, smallest_eigenvalue
from experiments._experiment import Claim, Context, Outcome
from experiments._roll import draw_grid, draw_roll, fold_fraction
from experiments._style import COLORS, new_figure
from experiments.brand_1 import CORRECTIONS

PAPER = "Brand 2003, fig. 3 to 5"
_SETTING: dict[str, Any] = {"n_kernels": 64, "n_neighbors": 12}
_SIGMAS = {1.0: "sigma 1, as printed", 2.0: "sigma 2"}
_DIVIDED, _REGULAR = "posteriors", "posteriors, W + I"
_KINDS: dict[str, dict[str, Any]] = {
    name: {"posterior": False, "correction": name} for name in CORRECTIONS
} | {
    _DIVIDED: {},
    _REGULAR: {"regularization": 1.0},
}


_OTHER_SETTING = "in all trials, with posteriors"
_FOLDED = 0.1  # fraction of the grid that is substantial


class _Cholesky(NamedTuple):
    """Results of a plain Cholesky factor with posteriors."""

    folds: dict[str, np.ndarray]  # (placements,) for each correction
    factor: dict[str, np.ndarray]  # (placements,) whether Z D Z' has a Cholesky factor
    smallest: dict[str, np.ndarray]  # (placements,) smallest eigenvalue of Z D Z', unit diagonal


class _Trials(NamedTuple):
    """Results of all placements of the kernels with one sigma."""

    measures: dict[str, np.ndarray]  # (placements, 3) for each kind
    divided: np.ndarray  # (placements, corrections): errors of the four with posteriors
    max_difference: float  # largest relative difference between these four maps
    first: dict[str, np.ndarray]  # maps of the first placement
    poles: float  # fraction of placements in which v_1'z(x), without posteriors, changes its sign
    cholesky: _Cholesky
    guarded: dict[float, dict[str, np.ndarray]]  # (few placements,) folds for each delta and correction


def run(context: Context) -> Outcome:
    """Compute all kinds of maps for all placements and both sigmas."""
    side = context.pick(full=30, quick=30, tiny=24)
    placements = context.pick(full=100, quick=12, tiny=2)
    X, parameters = twisted_roll(side, random_state=context.seed)
    exact = LaplacianEigenmaps(2, affinity=KNNGraph(12, weights="inverse")).fit_transform(X)
    reference = _measures(exact, parameters, side)
    deltas = context.pick(
        full=(1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0), quick=(1e-4, 1e-2, 1e-1, 1.0, 10.0), tiny=(1e-2, 1.0)
    )
    scan = deltas, context.pick(full=10, quick=4, tiny=2)
    trials = {
        sigma: _trials(X, parameters, side, sigma, context.seed + np.arange(placements), scan)
        for sigma in _SIGMAS
    }
    numbers = {
        "side": side,
        "placements": placements,
        "setting": _SETTING,
        "measures": ["error after affine regression", "share folded", "error after similarity"],
        "laplacian_eigenmap": reference,
        "sigma": {
            sigma: {
                "kernel_eigenmaps": one.measures,
                "errors_with_posteriors": dict(zip(CORRECTIONS, one.divided.T, strict=True)),
                "corrections_with_posteriors_apart": one.max_difference,
                "share_with_poles": one.poles,
                "folds_with_plain_cholesky": one.cholesky.folds,
                "has_cholesky_factor": one.cholesky.factor,
                "smallest_eigenvalue_of_ZDZ": one.cholesky.smallest,
                "folds_with_guarded_denominator": one.guarded,
            }
            for sigma, one in trials.items()
        },
    }
    claims = [claim for sigma, one in trials.items() for claim in claims_of(_SIGMAS[sigma], one, reference)]
    claims.append(guarded_claim({sigma: one.guarded for sigma, one in trials.items()}))
    return Outcome(claims, _figure(X, exact, trials, reference, side), numbers, "generated")


def _trials(
    X: np.ndarray,
    parameters: np.ndarray,
    side: int,
    sigma: float,
    seeds: np.ndarray,
    scan: tuple[tuple[float, ...], int],
) -> _Trials:
    """Compute all kinds of maps for each placement of the kernels; scan delta for the first few."""
    deltas, n_scanned = scan
    cholesky = _Cholesky(
        {name: np.empty(len(seeds)) for name in CORRECTIONS},
        {name: np.empty(len(seeds), dtype=bool) for name in CORRECTIONS},
        {name: np.empty(len(seeds)) for name in ("without the row", "with the row")},
    )
    guarded = {delta: {name: np.empty(n_scanned) for name in CORRECTIONS} for delta in deltas}
    measures = {name: np.empty((len(seeds), 3)) for name in _KINDS}
    divided = np.empty((len(seeds), len(CORRECTIONS)))
    first: dict[str, np.ndarray] = {}
    max_difference, poles = 0.0, 0
    for placement, seed in enumerate(seeds):
        for name, params in _KINDS.items():
            model, pole = _fit(X, random_state=int(seed), kernels=LocalKernels(sigma), **_SETTING, **params)
            poles += pole and name == "reweighted"
            measures[name][placement] = _measures(model.embedding_, parameters, side)
            first.setdefault(name, model.embedding_)
            if name == _DIVIDED:
                maps = _corrected(model, X)
                divided[placement] = [linear_alignment(Y, parameters).error for Y in maps]
                largest = max(float(np.abs(np.abs(Y) - np.abs(model.embedding_)).max()) for Y in maps)
                max_difference = max(max_difference, largest / float(np.abs(model.embedding_).max()))
                _add_cholesky(cholesky, placement, model, X, side)
                for delta in deltas if placement < n_scanned else ():
                    Z = kernel_features(X, model.centers_, model.sigma_, delta)
                    for correction, Y in accurate_maps(Z, model.graph_).items():
                        guarded[delta][correction][placement] = fold_fraction(Y, side)
    return _Trials(measures, divided, max_difference, first, poles / len(seeds), cholesky, guarded)


def _add_cholesky(
    results: _Cholesky, placement: int, model: KernelEigenmap, X: np.ndarray, side: int
) -> None:
    """Add the results of a plain Cholesky factor for one placement of the kernels."""
    Z = kernel_features(X, model.centers_, model.sigma_)
    for correction, plain in cholesky_maps(Z, model.graph_).items():
        results.folds[correction][placement] = fold_fraction(plain.Y, side)
        results.factor[correction][placement] = plain.factor
    augmented = np.column_stack([Z, np.ones(len(Z))])
    for name, features in (("without the row", Z), ("with the row", augmented)):
        results.smallest[name][placement] = smallest_eigenvalue(features, model.graph_)


def _fit(X: np.ndarray, **params: Any) -> tuple[KernelEigenmap, bool]:
    """Return a fitted estimator and whether its map has a pole; the warning about poles is suppressed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelEigenmap(2, **params).fit(X)
    for item in caught:
        if not issubclass(item.category, PoleWarning):
            warnings.warn(item.message, item.category, stacklevel=2)
    return model, any(issubclass(item.category, PoleWarning) for item in caught)


def _measures(Y: np.ndarray, parameters: np.ndarray, side: int) -> tuple[float, float, float]:
    """Return the error after affine regression, the fraction folded, and the error after a similarity."""
    return linear_alignment(Y, parameters).error, fold_fraction(Y, side), procrustes(Y, parameters).error


def _corrected(model: KernelEigenmap, X: np.ndarray) -> list[np.ndarray]:
    """Return the four corrected maps with posteriors, without using that the constant is in the span."""
    kernels = IsotropicKernels(model.centers_, model.sigma_)
    basis = KernelBasis(X, kernels, kernel_weights(kernels, X))
    degree = np.asarray(model.graph_.sum(axis=1)).ravel()
    maps = []
    for correction in CORRECTIONS:
        solution = solve_transformation(basis, model.graph_, degree, 2, correction)  # type: ignore[arg-type]
        values = basis.apply(solution.coefficients)
        values = values if solution.uniform is None else values / basis.apply(solution.uniform[:, None])
        maps.append(values + solution.constant)
    return maps


def share_in_order(errors: dict[str, np.ndarray]) -> float:
    """Return the fraction of placements in which the reweighted and the stochastic map are both better.

    Better than the raw and the affine map, by more than a relative difference of 1e-3.
    """
    worse, better = (
        np.minimum(errors["raw"], errors["affine"]),
        np.maximum(errors["reweighted"], errors["stochastic"]),
    )
    return float(np.mean(better < (1 - 1e-3) * worse))


def _order_claim(text: str, errors: dict[str, np.ndarray], also: str, why: str, kind: str) -> Claim:
    """Return the claim on the order of the errors of the four corrections."""
    share = share_in_order(errors)
    shown = ", ".join(
        f"{name} {np.median(errors[name]):.3f}" for name in ("stochastic", "reweighted", "affine", "raw")
    )
    return Claim(
        f"{text}: reweighted and stochastic maps are better than raw and affine ones",
        "in all trials" if kind == "paper" else _OTHER_SETTING,
        f"median errors {shown}; in this order in {100 * share:.0f} % of placements{also}",
        share >= 0.95,
        criterion="both better than both others by more than 0.1 % in at least 95 % of placements",
        why="" if share >= 0.95 else why,
        kind=kind,
    )


def claims_of(sigma: str, one: _Trials, reference: tuple[float, float, float]) -> list[Claim]:
    """Return the claims for one sigma of the kernels."""
    measures = one.measures
    errors, folds, similarity = ({name: values[:, k] for name, values in measures.items()} for k in range(3))
    median = {name: float(np.median(values)) for name, values in folds.items()}
    first = {name: float(np.mean(errors[name] < errors["affine"])) for name in ("reweighted", "stochastic")}
    less = np.maximum(folds["reweighted"], folds["stochastic"]) < np.minimum(folds["raw"], folds["affine"])
    isometric = float(np.mean(similarity[_REGULAR] < similarity[_DIVIDED]))
    fold = (
        min(median["raw"], median["affine"]) > 0.1 and max(median["reweighted"], median["stochastic"]) < 0.01
    )
    smoother = median[_DIVIDED] < reference[1]
    return [
        _order_claim(
            f"{sigma}, posteriors",
            dict(zip(CORRECTIONS, one.divided.T, strict=True)),
            f"; the four maps agree to {one.max_difference:.0e}",
            "With eq. 14 the constant is in the span of Z, and an accurate solver finds it, so that the four"
            " corrections agree: this order cannot hold. They differ with a solver that is not accurate, or"
            " if the kernels are not divided by their sum (see the checks).",
            "paper",
        ),
        _cholesky_claim(sigma, one.cholesky, median[_DIVIDED]),
        _order_claim(
            f"{sigma}, kernels not divided by their sum",
            errors,
            "",
            "Placements in which the map is better than the affine map: "
            + ", ".join(f"{name} {100 * share:.0f} %" for name, share in first.items())
            + f". In {100 * one.poles:.0f} % of placements v_1'z(x) changes its sign, and the quotients have"
            " a pole there.",
            "check",
        ),
        Claim(
            f"{sigma}, kernels not divided: raw and affine maps fold, reweighted and stochastic ones do not",
            "substantial folding compared with best reconstructions, with posteriors",
            "median fraction folded "
            + ", ".join(f"{name} {100 * median[name]:.1f} %" for name in CORRECTIONS),
            fold,
            criterion="raw and affine above 10 %, reweighted and stochastic below 1 %",
            kind="check",
            why=""
            if fold
            else "Reweighted and stochastic maps also fold, but less than raw and affine ones in"
            f" {100 * less.mean():.0f} % of placements.",
        ),
        Claim(
            f"{sigma}, posteriors: the reweighted kernel eigenmap folds less than the Laplacian eigenmap",
            "less folding",
            f"median {100 * median[_DIVIDED]:.2f} % compared with {100 * reference[1]:.2f} %",
            smoother,
            criterion="a smaller fraction folded",
            why=""
            if smoother
            else "The Laplacian eigenmap of this roll, whose width equals its length, has very few folds:"
            f" {100 * reference[1]:.2f} %. It also folded less than the median kernel eigenmap with sigma 2"
            " for noise of 0.2 and 0.4, twists of 2 and 3 and widths of 1 and 2.",
        ),
        Claim(
            f"{sigma}, posteriors: mass on the diagonal of W makes the map more isometric",
            "more isometric (picture)",
            f"median error after the best similarity {np.median(similarity[_REGULAR]):.4f} compared with"
            f" {np.median(similarity[_DIVIDED]):.4f}; smaller in {100 * isometric:.0f} % of placements",
            isometric > 0.9,
            criterion="smaller in more than 90 % of placements",
            why=""
            if isometric > 0.9
            else f"The error is not smaller in {100 - 100 * isometric:.0f} % of placements.",
        ),
    ]


def _cholesky_claim(sigma: str, cholesky: _Cholesky, accurate: float) -> Claim:
    """Return the check that a plain Cholesky factor fails for the affine map only."""
    n = len(cholesky.folds["raw"])
    missing = {name: int((~values).sum()) for name, values in cholesky.factor.items()}
    folded = {name: int((values > _FOLDED).sum()) for name, values in cholesky.folds.items()}
    bad = {
        name: int((~cholesky.factor[name] | (cholesky.folds[name] > _FOLDED)).sum()) for name in CORRECTIONS
    }
    holds = 2 * bad["affine"] > n and 2 * max(bad[name] for name in CORRECTIONS if name != "affine") <= n
    smallest = {name: float(np.median(np.abs(values))) for name, values in cholesky.smallest.items()}
    return Claim(
        f"{sigma}, posteriors, plain Cholesky factor: the affine map fails, the others do not",
        "raw and affine maps fold",
        f"in {n} placements without a factor, and with more than 10 % folded: "
        + ", ".join(f"{name} {missing[name]} and {folded[name]}" for name in CORRECTIONS)
        + f"; smallest eigenvalue of Z D Z' {smallest['without the row']:.0e}, {smallest['with the row']:.0e}"
        " with the row of ones",
        bool(holds),
        criterion="the affine map has no factor or folds in most placements, each other map in at most half",
        why="The row of ones is in the span of the posteriors, so that Z D Z' is singular and the last pivot"
        " is a rounding error. If it is negative there is no factor, and the QZ algorithm is used. The"
        " additional eigenvalue is 0/0: if rounding makes it large, its eigenvector becomes a coordinate and"
        " the map folds. The raw map does not fold: its median is"
        f" {100 * accurate:.1f} % with either solver.",
        kind="check",
    )


def guarded_claim(guarded: dict[float, dict[float, dict[str, np.ndarray]]]) -> Claim:
    """Return the exploration of a guarded denominator: in how many placements the maps fold as printed."""
    counts = {
        (sigma, delta): int(
            (
                np.maximum(folds["reweighted"], folds["stochastic"])
                < np.minimum(folds["raw"], folds["affine"])
            ).sum()
        )
        for sigma, scan in guarded.items()
        for delta, folds in scan.items()
    }
    n = len(next(iter(next(iter(guarded.values())).values()))["raw"])
    found = [f"sigma {sigma:g} and delta {delta:g}" for (sigma, delta), count in counts.items() if count == n]
    return Claim(
        "guarded denominator p / (sum p + delta): reweighted and stochastic maps fold less than raw and"
        " affine ones",
        _OTHER_SETTING,
        "; ".join(
            f"sigma {sigma:g}: "
            + ", ".join(f"{counts[sigma, delta]} of {n} with delta = {delta:g}" for delta in scan)
            for sigma, scan in guarded.items()
        ),
        bool(found),
        criterion="in all placements for at least one pair of the scan",
        why=f"In all placements: {', '.join(found) or 'for no pair'}. Chosen after looking at the scan.",
        kind="exploration",
    )


def _figure(
    X: np.ndarray, exact: np.ndarray, trials: dict[float, _Trials], reference: Any, side: int
) -> Figure:
    """Draw the roll, maps of the first placement, and the measures of all placements."""
    figure = new_figure("A twisted roll and its kernel eigenmaps", 17, 12)
    draw_roll(figure.add_subplot(4, 6, 1, projection="3d"), X, side)
    draw_grid(figure.add_subplot(4, 6, 2), exact, side, "Laplacian eigenmap")
    for row, (sigma, one) in enumerate(trials.items()):
        for panel, (kind, name) in enumerate(
            ((_DIVIDED, "posteriors"), (_REGULAR, "the same, W + I")), start=3 + 2 * row
        ):
            draw_grid(
                figure.add_subplot(4, 6, panel), one.first[kind], side, rf"{name}, $\sigma$ = {sigma:g}"
            )
        for panel, name in enumerate(("raw", "affine", "reweighted", "stochastic"), start=7 + 6 * row):
            draw_grid(
                figure.add_subplot(4, 6, panel),
                one.first[name],
                side,
                rf"not divided, $\sigma$ = {sigma:g}: {name}",
            )
        _boxes(figure, 11 + 6 * row, one.measures, reference, rf", $\sigma$ = {sigma:g}")
    grid = figure.axes[0].get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    for column, (sigma, one) in enumerate(trials.items()):
        _draw_scan(figure.add_subplot(grid[3, 3 * column : 3 * column + 3]), sigma, one)
    return figure


def _draw_scan(axes: Any, sigma: float, one: _Trials) -> None:
    """Draw the folds against delta, with the posteriors (delta = 0) on the left."""
    deltas = np.array(list(one.guarded))
    zero = deltas.min() / 10
    for name, color in zip(("raw", "affine", "reweighted", "stochastic"), COLORS, strict=False):
        medians = [100 * np.median(folds[name]) for folds in one.guarded.values()]
        at_zero = 100 * np.median(one.measures[_DIVIDED][:, 1])
        axes.plot([zero, *deltas], [at_zero, *medians], color=color, marker="o", markersize=4, label=name)
    n = len(next(iter(one.guarded.values()))["raw"])
    axes.set_xscale("log")
    axes.set_xticks([zero, *deltas], ["0", *(f"{delta:g}" for delta in deltas)])
    axes.minorticks_off()
    axes.set(
        title=rf"exploration: p / ($\Sigma$p + $\delta$), $\sigma$ = {sigma:g}, {n} placements",
        xlabel=r"$\delta$ (0: posteriors, all corrections agree)",
        ylabel="median folded (%)",
    )
    axes.legend(fontsize=8)


def _boxes(figure: Figure, panel: int, measures: dict[str, np.ndarray], reference: Any, suffix: str) -> None:
    """Draw box plots of error and folds for each kind of map."""
    names = ["raw", "affine", "reweighted", "stochastic", _DIVIDED]
    for k, label in enumerate(("error against the parameters", "fraction of the grid folded")):
        axes = figure.add_subplot(4, 6, panel + k)
        boxes = axes.boxplot(
            [measures[name][:, k] for name in names],
            widths=0.6,
            patch_artist=True,
            flierprops={"markersize": 3},
        )
        for box, color in zip(boxes["boxes"], COLORS, strict=False):
            box.set(facecolor=color, alpha=0.6)
        axes.axhline(reference[k], color="#777777", linestyle="--", linewidth=1)
        axes.set_xticks(range(1, 6), names, rotation=35, ha="right", fontsize=8)
        axes.set_title(f"{label}{suffix}\n({len(measures['raw'])} placements; dashed: Laplacian)", fontsize=9)
