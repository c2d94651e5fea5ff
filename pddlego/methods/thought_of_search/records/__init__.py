"""Files of other projects about search spaces."""
