"""Editor support for PDDL: documents with the positions of their names, and a language server."""
