"""Reading and writing tables and models, whole or in chunks of rows."""
