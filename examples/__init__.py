"""Programs that use pddlego as a library."""
