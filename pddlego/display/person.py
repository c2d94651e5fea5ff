"""A person at the terminal: is asked about edits, plans and commands, or plays."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Protocol

from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.editor import edit_text
from pddlego.display.glyphs import Glyphs
from pddlego.display.keys import MOVES, Keyboard
from pddlego.display.rows import wrapped
from pddlego.display.show import keys_line
from pddlego.errors import UsageError
from pddlego.events import Event
from pddlego.refine.approval import ACCEPTED, Question, Verdict
from pddlego.util.text import clean

KEYS = (("a", "accept"), ("r", "reject with a hint"), ("e", "edit"), ("ctrl-c", "stop"))

SCROLL_KEY = ("↑↓", "scroll")

ROWS = 9
"""Rows of what is about to take effect that are shown at once."""

SCROLLS = {**MOVES, "pagedown": ROWS, "pageup": -ROWS}


class Stage(Protocol):
    """Where questions are shown."""

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Show a question below everything else, which is shown as the `preview` makes it; None takes it away."""

    def aside(self) -> AbstractContextManager[None]:
        """The terminal is somebody else's until the block ends."""


class AskingOverseer:
    """Shows what is about to take effect and waits for a key. Ctrl-C raises `KeyboardInterrupt`."""

    def __init__(self, stage: Stage, whats: Collection[str], glyphs: Glyphs, width: Callable[[], int]) -> None:
        self._stage, self._whats, self._glyphs, self._width = stage, whats, glyphs, width
        self._remark = ""
        self._scroll = 0

    def wants(self, what: str) -> bool:
        return what in self._whats

    def judge(self, question: Question) -> Verdict:
        self._remark, self._scroll = "", 0
        with Keyboard() as keyboard:
            keyboard.forget()  # what was typed before the question was seen is no answer to it
        try:
            while (verdict := self._answer(question)) is None:
                pass
            return verdict
        finally:
            self._stage.ask(None)

    def _answer(self, question: Question) -> Verdict | None:
        """What the next key means; None if it is no answer."""
        try:
            with Keyboard() as keyboard:
                panel = question_panel(question, self._width(), self._glyphs, self._remark, self._scroll)
                self._stage.ask(panel, question.preview)
                key = keyboard.one()
        except EOFError:
            raise KeyboardInterrupt from None
        if key == "c-c":
            raise KeyboardInterrupt
        if key == "a":
            return ACCEPTED
        if key == "r":
            return self._rejection()
        if key in SCROLLS:
            last = max(0, len(question_rows(question, self._width(), self._glyphs)) - ROWS)
            self._scroll = max(0, min(last, self._scroll + SCROLLS[key]))
        return self._edited(question) if key == "e" else None

    def _rejection(self) -> Verdict | None:
        from prompt_toolkit import prompt

        with self._stage.aside():
            try:
                return Verdict("rejected", prompt("A hint for the model (Enter: none, Ctrl-D: back): ").strip())
            except EOFError:
                return None

    def _edited(self, question: Question) -> Verdict | None:
        self._remark = ""
        try:
            with self._stage.aside():
                text = edit_text(question.text, question.faults, suffix=question.suffix)
        except UsageError as error:
            self._remark = f"{error.what}: {error.why}"
            return None
        if text is None:
            self._remark = "Nothing was changed."
            return None
        return Verdict("replaced", text if question.changes else text.strip())


def question_rows(question: Question, width: int, glyphs: Glyphs) -> list[Text]:
    """What is about to take effect, in rows."""
    if question.changes:
        lines = [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in question.renamed]
        lines += [Text(f"{glyphs.added} {clean(each)}", "green") for each in question.added]
        lines += [Text(f"{glyphs.removed} {clean(each)}", "red") for each in question.removed]
        lines = lines or [Text("nothing changes", "dim")]
    else:
        lines = [Text(clean(each)) for each in question.text.split("\n")]
    return wrapped(lines, width - 4)


def question_panel(question: Question, width: int, glyphs: Glyphs, remark: str = "", scroll: int = 0) -> Panel:
    """What is about to take effect from row `scroll` on, with the keys that answer, and a remark on the last answer."""
    rows = question_rows(question, width, glyphs)
    shown = rows[scroll : scroll + ROWS]
    part = None if len(shown) == len(rows) else Text(f"{scroll + 1}-{scroll + len(shown)} of {len(rows)}")
    keys = KEYS if part is None else (*KEYS[:-1], SCROLL_KEY, KEYS[-1])
    title = question.title + (f" for '{clean(question.reason)}'" if question.reason else "")
    remarks = [Text(line, "red") for line in textwrap.wrap(clean(remark), width - 4)[:2]]
    body = Text("\n").join([*shown, *remarks, keys_line(keys, glyphs)])
    return Panel(body, title=Text(clean(title)), subtitle=part, width=width, border_style="bold yellow")


def _completed(typed: str, possible: tuple[str, ...]) -> str:
    """What was meant: a beginning that only one command has stands for it, as it does after Tab."""
    found = [each for each in possible if typed and each.lower().startswith(typed.lower())]
    return found[0] if len(found) == 1 else typed


class TypingPerson:
    """Types commands, with completion of what the game says is possible; from a pipe they are read line by line."""

    def __init__(self) -> None:
        self._session: object = None

    def __call__(self, possible: tuple[str, ...]) -> str:
        typed = ""
        while not typed:  # an empty line is no command
            try:
                typed = self._typed(possible)
            except EOFError:
                raise KeyboardInterrupt from None
        return typed

    def _typed(self, commands: tuple[str, ...]) -> str:
        if sys.stdin is None:  # it was closed
            raise EOFError
        if not sys.stdin.isatty():
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            return line.strip()
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter

        if self._session is None:
            self._session = PromptSession()
        assert isinstance(self._session, PromptSession)
        completer = WordCompleter(sorted(commands), sentence=True, ignore_case=True)
        toolbar = f" tab: {len(commands)} possible commands   ↑: earlier ones   ctrl-d: stop "
        typed = self._session.prompt("> ", completer=completer, complete_while_typing=False, bottom_toolbar=toolbar)
        return _completed(str(typed).strip(), commands)
