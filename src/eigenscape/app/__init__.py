"""The application floor: command line, files, reports."""
