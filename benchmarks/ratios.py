"""Figure of real rows: how many times faster than scikit-learn and UMAP, over n, for fit and transform."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from benchmarks.goals import peer_of

#: Name, colour (Okabe and Ito, safe for colour-blind readers) and line of each method.
METHODS = {
    "le": ("Laplacian eigenmaps", "#0072B2", "-"),
    "clustering": ("Spectral clustering", "#56B4E9", "-"),
    "lle": ("LLE", "#009E73", "-"),
    "isomap": ("Isomap", "#E69F00", "-"),
    "kpca2": ("Kernel PCA, 2", "#D55E00", "-"),
    "kpca10": ("Kernel PCA, 10", "#D55E00", "--"),
    "mds": ("Classical MDS", "#CC79A7", "-"),
}
#: Panels: title, step, and whether the peer is UMAP.
PANELS = (
    ("Fit: times faster than scikit-learn", "fit", False),
    ("Fit: times faster than UMAP", "fit", True),
    ("Placing new rows: times faster than scikit-learn", "transform", False),
    ("Placing new rows: times faster than UMAP", "transform", True),
)

Points = dict[str, dict[int, list[float]]]


def points(rows: list[dict[str, Any]], step: str, umap: bool) -> Points:
    """Return the ratios of times (peer / eigenscape) by method and n, one for each data set.

    Results of eigenscape that are inaccurate and inaccurate peers are left out. A peer that was stopped
    gives a lower bound.
    """
    found: Points = {}
    for row in rows:
        parts = row["key"].split("-")
        if parts[0] != "real" or len(parts) != 4 or parts[3] not in METHODS or "ours" not in row:
            continue
        peer = next(iter(row.get("references", ())), None) if umap else _scikit_learn(row)
        value = _ratio(row["ours"], peer, step) if peer else None
        if value is not None:
            found.setdefault(parts[3], {}).setdefault(int(parts[2]), []).append(value)
    return found


def _scikit_learn(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fastest correct solver of scikit-learn, which is the peer of the row unless tapkee is."""
    peer = peer_of(row)
    if peer and peer["name"].startswith("scikit-learn"):
        return peer
    others = [p for p in row["peers"] if p["name"].startswith("scikit-learn") and p["status"] == "ok"]
    return min(others, key=lambda p: p["time_s"]["median"], default=None)


def _ratio(ours: dict[str, Any], peer: dict[str, Any], step: str) -> float | None:
    """Return the ratio of the times of a step, or None if it was not measured or is inaccurate."""
    if ours["status"] != "ok" or peer["status"] not in ("ok", "over") or peer.get("ratio") is None:
        return None
    if step == "transform":
        return peer["ratio"].get("transform")
    return peer["ratio"]["at_least"] if "at_least" in peer["ratio"] else peer["ratio"]["speed"]["median"]


def draw_ratios(rows: list[dict[str, Any]], file: Path) -> list[tuple[str, str]]:
    """Write the figure and return its name and title; nothing if there are no real rows."""
    panels = [(title, points(rows, step, umap)) for title, step, umap in PANELS]
    if not any(found for _, found in panels):
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for axis, (title, found) in zip(axes.ravel(), panels, strict=True):
        _panel(axis, title, found)
    figure.savefig(file, dpi=110)
    plt.close(figure)
    title = "Real rows: how many times faster than scikit-learn and UMAP, fit and transform, over n"
    return [(file.name, title)]


def _panel(axis: Any, title: str, found: Points) -> None:
    """Draw the medians over the data sets as lines, the data sets as dots, and labels at the end of lines."""
    axis.set_title(title, fontsize=11, loc="left")
    if not found:
        axis.text(0.5, 0.5, "not measured", ha="center", transform=axis.transAxes)
        axis.set_axis_off()
        return
    axis.set_xscale("log")
    axis.set_yscale("log")
    ends = []
    for key, (name, colour, style) in METHODS.items():
        ratios = dict(sorted(found.get(key, {}).items()))
        if not ratios:
            continue
        medians = [statistics.median(values) for values in ratios.values()]
        axis.plot(list(ratios), medians, style, color=colour, marker="o", markersize=4)
        for n, values in ratios.items():
            axis.plot([n] * len(values), values, ".", color=colour, alpha=0.35, markersize=4)
        ends.append((medians[-1], list(ratios)[-1], name, colour))
    axis.axhline(1, color="black", linewidth=1.2)
    axis.text(0.01, 1, "same speed", transform=axis.get_yaxis_transform(), va="bottom", fontsize=8)
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, 0.5), high)
    axis.axhspan(min(low, 0.5), 1, color="black", alpha=0.06, linewidth=0)
    _labels(axis, ends)
    sizes = sorted({n for ratios in found.values() for n in ratios})
    axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axis.minorticks_off()
    axis.set_xlim(sizes[0] / 1.25, sizes[-1] * (sizes[-1] / sizes[0]) ** 0.45 * 1.3)
    axis.set_yticks(
        [v for v in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if min(low, 0.5) <= v <= high]
    )
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axis.set_xlabel("rows")
    axis.grid(True, axis="y", alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _labels(axis: Any, ends: list[tuple[float, int, str, str]]) -> None:
    """Write the names of the methods beside the ends of their lines, moved apart where they would overlap."""
    low, high = axis.get_ylim()
    right = max(n for _, n, _, _ in ends)
    ends = sorted(ends)
    places = _spread([end[0] for end in ends], low, high)
    for place, (value, n, name, colour) in zip(places, ends, strict=True):
        axis.annotate(
            name,
            (n, value),
            (right * 1.15, place),
            color=colour,
            fontsize=9,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5},
        )


def _spread(values: list[float], low: float, high: float) -> list[float]:
    """Return ascending values moved apart on a logarithmic axis, within its limits."""
    gap = (high / low) ** 0.055
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] * gap if places else low))
    limit = high
    for i in reversed(range(len(places))):
        places[i] = min(places[i], limit)
        limit = places[i] / gap
    return places
