"""The mathematics of the methods, composed from kernels, normalisations, operators and solvers."""
