"""Learns what actions need and change from transitions: states, what was tried there, and what came of it."""
