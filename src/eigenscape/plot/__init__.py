"""Figures: maps, spectra, eigenfunctions, comparisons, stability. Every function returns the Axes or Figure
it drew on."""

from eigenscape.plot.comparison import compare
from eigenscape.plot.functions import eigenfunction
from eigenscape.plot.maps import scatter
from eigenscape.plot.movement import stability
from eigenscape.plot.spectra import spectrum

__all__ = ["compare", "eigenfunction", "scatter", "spectrum", "stability"]
