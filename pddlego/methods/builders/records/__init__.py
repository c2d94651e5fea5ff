"""Files of other projects that build PDDL."""
