"""A game of pddlego as an OpenEnv environment: the folder of a Space."""
