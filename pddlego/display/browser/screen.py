"""The base class of the screens of the browser."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen


class BrowserScreen(Screen[None]):
    """A screen on which Esc closes the list of keys, else the input field, else the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Quit"),
        Binding("question_mark", "help", "Keys"),
    ]

    shows_keys = False

    def close_input(self) -> bool:
        """Close the input field of the filter or the search. Returns whether it was open."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show the keys of this screen, or close them."""
        self.app.clear_notifications()
        if self.shows_keys:
            self.shows_keys = False
            return
        keys = {
            active.binding.description: self.app.get_key_display(active.binding)
            for active in reversed(self.active_bindings.values())
            if not active.binding.key.isdecimal()
        }
        lines = [f"{key:<14} {description}" for description, key in keys.items()]
        self.shows_keys = True
        self.notify("\n".join(lines), title="Keys", timeout=_HELP_SECONDS, markup=False)

    def action_back(self) -> None:
        """Close the list of keys, else the input field, else the screen; the last screen ends the browser."""
        if self.shows_keys:
            self.shows_keys = False
            self.app.clear_notifications()
        elif not self.close_input():
            if len(self.app.screen_stack) > 2:  # the first one is empty
                self.dismiss()
            else:
                self.app.exit()


_HELP_SECONDS = 20.0
"""Seconds that the keys are shown."""
