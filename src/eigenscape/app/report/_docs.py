"""Descriptions of parameters that both reports share; see :mod:`eigenscape._docstrings`."""

from __future__ import annotations

from eigenscape._docstrings import documented_by, parse_entries

ENTRIES = parse_entries("""
path : str or Path
    The HTML file to write. It is written atomically.
table_or_X : Table, array-like, sparse array, list of objects, or stream
    The training data: the result of :func:`eigenscape.read`, or data in the form that ``fit`` accepts.
held_out : Table, array-like or None
    New points in the form that ``transform`` accepts. They are drawn as diamonds and used for the held-out
    loss. If None, the held-out loss is that of a further fit to four fifths of the points.
labels : array-like of shape (n_samples,) or None
    Labels of the points. If None, those of the table.
ids : array-like of shape (n_samples,) or None
    Identifiers of the points. If None, those of the table.
images : array-like of shape (n_samples, height, width[, 3]) or None
    Images of the samples, shown beside the cursor; numbers of any range. If None, those of a table of images.
    They are reduced to at most 3 MB together.
seed : int
    Seed of the samples and the further fits.
force : bool
    Whether to replace an existing file.
""")

#: Decorator of functions with names of these entries in their docstrings.
documented = documented_by(ENTRIES)
