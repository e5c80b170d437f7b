"""Figures of embeddings, spectra, eigenfunctions and stability. Needs the extra ``plot`` (matplotlib)."""

from eigenscape.plot.comparison import compare
from eigenscape.plot.eigenfunctions import eigenfunction
from eigenscape.plot.maps import scatter
from eigenscape.plot.spectra import spectrum
from eigenscape.plot.stability_figure import stability

__all__ = ["compare", "eigenfunction", "scatter", "spectrum", "stability"]
