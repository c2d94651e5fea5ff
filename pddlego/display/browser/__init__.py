"""The browser in the terminal (Textual): run folders, the episodes of a run, and an episode step by step."""
