"""The display of episodes: panes on a terminal (live, browser, pictures), an HTML page, and lines on a pipe."""
