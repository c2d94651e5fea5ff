"""Evaluations: configuration, setup, workers, cluster, replay, statistics and tables of many episodes."""
