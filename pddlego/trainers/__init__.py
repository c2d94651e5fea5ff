"""Environments for trainers: OpenEnv, and what reads it, and TRL. Nothing of theirs is imported before it is used."""
