"""Figures of time and memory against n, on logarithmic axes, with fitted exponents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.ratios import draw_ratios

COLOURS = ("#1b6ca8", "#d1701f", "#7a7a7a")  # eigenscape first


def draw(rows: list[dict[str, Any]], out: Path) -> list[tuple[str, str]]:
    """Write the figures and return names of files and titles, that of real rows first."""
    first = draw_ratios(rows, out / "ratios.png")
    growth = [row for row in rows if row["kind"] == "growth"]
    if not growth:
        return first
    figures = {
        "time.png": ("time_s", "time_exponent", 1.0, "seconds"),
        "memory.png": ("peak_bytes", "memory_exponent", 1e6, "MB above the baseline"),
    }
    for name, (field, exponent, unit, label) in figures.items():
        _draw(growth, out / name, field, exponent, unit, label)
    return [*first, *((name, f"{name.removesuffix('.png')} against n") for name in figures)]


def _draw(
    growth: list[dict[str, Any]], file: Path, field: str, exponent: str, unit: float, label: str
) -> None:
    """Write one figure with a panel per row."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, len(growth), figsize=(4.8 * len(growth), 3.9), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, row in zip(axes[0], growth, strict=True):
        for number, series in enumerate(row["series"]):
            slope = f"  n^{series[exponent]:.2f}" if exponent in series else ""
            values = [value / unit for value in series[field]]
            axis.loglog(
                series["n"],
                values,
                marker="os^"[number % 3],
                color=COLOURS[number % 3],
                label=series["name"] + slope,
            )
        axis.set_title(row["title"].split(", n =")[0], fontsize=10)
        axis.set_xlabel("n")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(frameon=False, fontsize=9, loc="upper left")
        axis.spines[["top", "right"]].set_visible(False)
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(low, high * 4)  # room for the legends
    axes[0, 0].set_ylabel(label)
    figure.savefig(file, dpi=110)
    plt.close(figure)
