"""Draw the pictures of the guide and of the method pages before Sphinx reads its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def draw(app: Sphinx, config: Any) -> None:
    """Draw the pictures that are missing or older than the scripts."""
    import figure_tools
    import guide_figures
    import method_figures
    import method_figures_distances
    import method_figures_graphs

    scripts = (figure_tools, guide_figures, method_figures, method_figures_distances, method_figures_graphs)
    newest = max(Path(str(module.__file__)).stat().st_mtime for module in scripts)
    figure_tools.draw_all(Path(app.srcdir) / "figures", newest)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hook."""
    app.connect("config-inited", draw)
    return {"parallel_read_safe": True}
