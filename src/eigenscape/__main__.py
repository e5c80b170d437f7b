"""Entry point of ``python -m eigenscape``, the command line."""

from eigenscape.app.cli import main

if __name__ == "__main__":
    main()
