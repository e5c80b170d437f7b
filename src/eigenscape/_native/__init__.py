"""Loops over points in C, compiled when the package is built: arrays in, arrays out.

``loops`` is the extension module; ``loops.pyi`` lists its functions. See docs/decisions/native-loops.md.
"""
