"""Applications of the library: command line, files and reports."""
