"""Generalized plans of our own for our domains: they play the part of the model where there is none.

Each is run in the sandbox like any other program, and never imported.
"""
