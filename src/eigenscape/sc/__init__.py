"""Functions for single-cell data in AnnData objects, in the conventions of scanpy.

``pp`` has the neighbour graph, ``tl`` embeddings, clustering, pseudotime and the mapping of new cells. They
read and write the fields of an AnnData object that scanpy's functions of the same names do; see
docs/single-cell.md. Plotting is left to scanpy.
"""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__all__ = ["pp", "tl"]

if TYPE_CHECKING:
    from eigenscape.sc import pp, tl

__getattr__, __dir__ = attach(__name__, {name: f"{__name__}.{name}" for name in __all__})
