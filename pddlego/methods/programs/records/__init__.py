"""Files of other projects about programs and heuristics, and the figures that papers print."""
