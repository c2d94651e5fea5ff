"""The browser for runs in the terminal: run folders, the episodes of one, and an episode step by step (Textual)."""
