"""`python -m msglog`: the command line."""

from msglog.cli import main

if __name__ == "__main__":
    main()
