"""Records of episodes: cells, journals, results, ledgers and the run folders that contain them."""
