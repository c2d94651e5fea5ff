"""Environments for trainers: OpenEnv, Gymnasium and TRL. A module imports its own of them only."""
