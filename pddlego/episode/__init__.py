"""Asking a model, checking what it answers, and asking again: the loop that every method uses, with its limits."""
