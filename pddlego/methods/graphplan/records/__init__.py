"""The figures that papers about Graphplan print."""
