"""Benchmarks of eigenscape and other libraries: time, processor time, peak memory and accuracy.

See ``python -m benchmarks run --help``. The cases are listed in ``cases``. ``worker`` is a process that
measures, with the data sets of ``data`` and ``real_data`` and the error measures of ``errors``;
``processes`` starts the workers, ``runner`` repeats measurements; ``goals`` judges them; ``report``,
``tables``, ``figures`` and ``ratios`` write the results. ``install`` installs the libraries to compare with.
"""
