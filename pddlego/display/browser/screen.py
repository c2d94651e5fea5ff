"""The base class of the screens of the browser."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer
from textual.widgets._footer import FooterKey


class KeysFooter(Footer):
    """The keys of a screen, first those that every screen has. The last ones are left out if they do not fit."""

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        keys.sort(key=lambda key: key.key not in _COMMON)
        width = 0
        for key in keys:
            width += cell_len(key.key_display + key.description) + _PADDING
            if width <= self.app.size.width:
                yield key

    def on_resize(self) -> None:
        self.refresh(recompose=True)


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
            if not (active.binding.key.isdecimal() or active.binding.action.startswith(_TEXTUAL))
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


_COMMON = ("question_mark", "escape", "q")

_PADDING = 3
"""Blank columns around a key and its description."""

_TEXTUAL = ("app.focus", "cursor_", "page_", "screen.", "scroll_", "select")
"""The beginnings of actions that Textual binds to keys."""

_HELP_SECONDS = 20.0
"""Seconds that the keys are shown."""
