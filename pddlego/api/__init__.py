"""The Python interface, whose names are those of the package `pddlego` itself."""
