"""Benchmarks of eigenscape and other libraries: time, peak memory and accuracy.

See ``python -m benchmarks run --help``. The cases are listed in ``cases``. ``worker`` is the process of one
measurement, with the data sets of ``data`` and the error measures of ``errors``; ``runner`` starts the
workers and repeats measurements; ``report`` and ``figures`` write the results.
"""
