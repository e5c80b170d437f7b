"""Reading data: so far, in chunks."""
