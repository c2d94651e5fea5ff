"""The base class of the screens of the browser."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.keys import format_key
from textual.screen import Screen


class BrowserScreen(Screen[None]):
    """A screen on which Esc closes the input field, else the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Quit"),
        Binding("question_mark", "help", "Keys"),
    ]

    def close_input(self) -> bool:
        """Close the input field of the filter or the search. Returns whether it was open."""
        raise NotImplementedError

    def action_help(self) -> None:
        """Show the keys of this screen."""
        bindings = [
            binding
            for binding in self.BINDINGS + BrowserScreen.BINDINGS
            if isinstance(binding, Binding) and not binding.key.isdecimal()
        ]
        keys = {
            binding.description: binding.key_display or " or ".join(map(format_key, binding.key.split(",")))
            for binding in bindings
        }
        lines = [f"{key:<14} {description}" for description, key in keys.items()]
        self.notify("\n".join(lines), title="Keys", timeout=_HELP_SECONDS, markup=False)

    def action_back(self) -> None:
        """Close the input field, else the screen; the last screen ends the browser."""
        if not self.close_input():
            if len(self.app.screen_stack) > 2:  # the first one is empty
                self.dismiss()
            else:
                self.app.exit()


_HELP_SECONDS = 20.0
"""Seconds that the keys are shown."""
