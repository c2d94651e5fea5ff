"""`check` against planners on many variants of a few tasks: what has no errors can be read by each of them."""
