"""Functions of arrays compiled by numba on first use; the compiled code is cached on disk."""
