"""``python -m eigenscape`` is the command line."""

from eigenscape.cli import main

if __name__ == "__main__":
    main()
