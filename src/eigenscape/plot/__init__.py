"""Figures of embeddings, spectra, eigenfunctions and stability. Needs the extra ``plot`` (matplotlib)."""

from eigenscape.plot.comparison import compare
from eigenscape.plot.diagnostics import spectrum, stability
from eigenscape.plot.eigenfunctions import eigenfunction
from eigenscape.plot.maps import scatter

__all__ = ["compare", "eigenfunction", "scatter", "spectrum", "stability"]
