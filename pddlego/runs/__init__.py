"""What is kept of episodes: cells, journals, results, ledgers and the folders that hold them."""
