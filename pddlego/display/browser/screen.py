"""The base class of the screens of the browser."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen


class BrowserScreen(Screen[None]):
    """A screen on which Esc closes the help, else the input field, else the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Quit"),
        Binding("question_mark", "help", "Keys"),
    ]

    def close_input(self) -> bool:
        """Close the input field of the filter or the search. Returns whether it was open."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show or hide the list of keys."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        else:
            self.app.action_show_help_panel()

    def action_back(self) -> None:
        """Close the help, else the input field, else the screen; the last screen ends the browser."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif not self.close_input():
            if len(self.app.screen_stack) > 2:  # the first one is empty
                self.dismiss()
            else:
                self.app.exit()
