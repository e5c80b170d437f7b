"""Ours against the peers: time, peak memory and proof of the answer. ``python -m benchmarks run --help`` says
how.

``works`` lists what is measured, ``worker`` is the fresh process of one measurement, ``data`` and ``errors``
are what it works on and how it is judged, ``runner`` interleaves and repeats, ``report`` and ``figures``
write the results down."""
