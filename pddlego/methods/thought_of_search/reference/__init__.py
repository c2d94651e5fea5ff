"""Functions of ours for our search problems: text for a sandbox, which nothing of ours imports."""
