"""Descriptions of parameters that several functions share; see :mod:`eigenscape._docstrings`."""

from __future__ import annotations

from eigenscape._docstrings import documented_by, parse_entries

ENTRIES = parse_entries("""
adata/graph : AnnData
    With a neighbour graph, computed by :func:`eigenscape.sc.pp.neighbors` or scanpy.
n_comps : int
    Number of coordinates.
use_rep : str or None
    Representation of the cells: "X" or a key of ``obsm``. None: "X_pca" if there are more than 50 genes, else
    "X".
n_pcs : int or None
    Number of columns of the representation. None: all of them; 0: use ``X``.
basis : str
    Name of the map, its ``key_added``.
neighbors_key : str or None
    Key of ``uns`` with the neighbour graph; None: "neighbors".
random_state : int, RandomState or None
    Seed of the eigensolver.
key_added : str
    Name of the results.
n_jobs : int or None
    Number of threads.
copy : bool
    Whether to return a copy with the results; ``adata`` is not changed then.
""")

#: Decorator of functions with names of these entries in their docstrings.
documented = documented_by(ENTRIES)
