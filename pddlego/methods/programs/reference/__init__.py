"""Our own generalized plans for the bundled domains: they replace the model where none is used.

Each is run in the sandbox like any other program, and never imported.
"""
