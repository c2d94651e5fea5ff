"""Reading as data: rules say what a sentence of a game makes true, in settings' files and in answers of models."""
