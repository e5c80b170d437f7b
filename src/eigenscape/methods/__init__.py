"""The methods: a few lines of mathematics each, composed from kernels, normalisations, operators and
solvers."""
