"""What all screens of the browser have in common."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen


class BrowserScreen(Screen[None]):
    """A screen that Esc leaves, after what is open on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Quit"),
        Binding("question_mark", "help", "Keys"),
    ]

    def close_input(self) -> bool:
        """Close the filter or the search. Whether one was open."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show the keys, or hide them."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.app.action_show_help_panel()

    def action_back(self) -> None:
        """Close what is open, else leave the screen."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif not self.close_input():
            if len(self.app.screen_stack) > 2:  # the first one is empty
                self.dismiss()
            else:
                self.app.exit()
