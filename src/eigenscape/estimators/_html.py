"""HTML representation of fitted estimators: scikit-learn's, with the spectrum and its residuals below."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

#: Number of eigenvalues drawn, and the size of the drawing in pixels.
_MAX_BARS, _WIDTH, _HEIGHT = 40, 320, 90


def spectrum_block(model: Any) -> str:
    """Return the drawing and a sentence for a fitted model, or "" if it has no eigenvalues."""
    values, residuals = (_finite(vars(model).get(name)) for name in ("eigenvalues_", "residuals_"))
    if not len(values):
        return ""
    shown = ", ".join(f"{value:.4g}" for value in values[:5]) + (", …" if len(values) > 5 else "")
    lines = [f"{len(values)} eigenvalue{'s' * (len(values) > 1)}: {shown}"]
    if len(values) > _MAX_BARS:
        lines.append(f"the first {_MAX_BARS} are drawn")
    scale = float(np.abs(values).max())
    if len(residuals) and scale > 0:
        relative = float(np.abs(residuals).max()) / scale
        lines.append(f"largest residual {relative:.1e}, relative to the largest eigenvalue")
    solver = vars(model).get("solver_")
    lines += [f"solver {solver}"] if isinstance(solver, str) else []
    return (
        '<figure class="eigenscape-spectrum" style="margin:0.6em 0 0 0">'
        f"{_bars(values[:_MAX_BARS])}"
        f'<figcaption style="font-size:0.85em">{escape("; ".join(lines))}</figcaption></figure>'
    )


def _finite(values: Any) -> np.ndarray:
    """Return the finite numbers of an array, or of a list of arrays for several components or layers."""
    listed = values if isinstance(values, list) else [] if values is None else [values]
    numbers = np.concatenate([np.empty(0), *(np.ravel(np.asarray(one, dtype=np.float64)) for one in listed)])
    return numbers[np.isfinite(numbers)]


def _bars(values: np.ndarray) -> str:
    """Return eigenvalues as bars from zero in an SVG drawing."""
    top, bottom = max(0.0, float(values.max())), min(0.0, float(values.min()))
    scale = (_HEIGHT - 4) / (top - bottom) if top > bottom else 0.0
    step, zero = min(24.0, _WIDTH / len(values)), 2 + scale * top
    bars = [
        f'<rect x="{(i + 0.1) * step:.1f}" y="{zero - scale * max(value, 0.0):.1f}"'
        f' width="{0.8 * step:.1f}" height="{scale * abs(value):.1f}"'
        f' fill="{"#D55E00" if value < 0 else "#0072B2"}"><title>{i + 1}: {value:.6g}</title></rect>'
        for i, value in enumerate(values.tolist())
    ]
    axis = f'x2="{len(values) * step:.1f}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="currentColor"'
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="eigenvalues">{"".join(bars)}<line x1="0" {axis}/></svg>'
    )
