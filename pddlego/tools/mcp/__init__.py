"""The tool server for agents (Model Context Protocol)."""
