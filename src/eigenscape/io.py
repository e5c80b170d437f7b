"""Reading and writing tables and models.

Public names of :mod:`eigenscape.app.io`.
"""

from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.io.models import describe, load, save
from eigenscape.app.io.onnx_export import export_onnx
from eigenscape.app.io.reading import read
from eigenscape.app.io.table import Table
from eigenscape.app.io.writing import write_table

__all__ = [
    "Table",
    "check_target",
    "describe",
    "export_onnx",
    "load",
    "read",
    "save",
    "whole_file",
    "write_table",
]
