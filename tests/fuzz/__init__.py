"""Texts that nobody would write, for everything that reads text: `python -m tests.fuzz --seconds 60`."""
