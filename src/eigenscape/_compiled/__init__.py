"""Compiled loops: arrays in, arrays out, no classes. Compiled on first use, kept on disk afterwards."""
