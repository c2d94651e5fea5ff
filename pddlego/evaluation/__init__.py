"""Many episodes: cells, workers, budgets, what is kept of them, and the numbers that they give."""
