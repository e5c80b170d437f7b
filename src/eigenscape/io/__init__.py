"""Files: tables in and out, chunks of tables larger than memory, models on disk."""

from eigenscape.io._table import Table
from eigenscape.io.models import describe, load
from eigenscape.io.tables import read
from eigenscape.io.whole import check_target, whole_file
from eigenscape.io.writing import write_table

__all__ = ["Table", "check_target", "describe", "load", "read", "whole_file", "write_table"]
