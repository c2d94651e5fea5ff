"""``python -m pddlego`` is the command ``pddlego``."""

from pddlego.cli import main

if __name__ == "__main__":
    main()
