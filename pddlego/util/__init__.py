"""Small helpers without a subject of their own: text, files, TOML, the environment."""
