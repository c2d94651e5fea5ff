"""Input of the user: approval of proposals, commands, and texts that are edited in an editor."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from rich.panel import Panel
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.keyboard import MOVES, Keyboard, check_keyboard, keys_line
from pddlego.display.lines import LineDisplay, LiveDisplay
from pddlego.display.rows import wrapped
from pddlego.episode.approval import ACCEPTED, Decision, Question
from pddlego.errors import UsageError
from pddlego.util.children import for_children
from pddlego.util.files import read_run_file
from pddlego.util.text import clean, count

FindFaults = Callable[[str], tuple[str, ...]]
"""A function that returns the faults of a text; none if the text can be used."""

MAX_EDITS = 20
"""The maximum number of times that an editor is opened for one text: a script as editor may never correct it."""


def edit_text(text: str, faults: FindFaults, about: Iterable[str] = (), suffix: str = ".pddl") -> str | None:
    """Let the user edit a text in `$VISUAL`, `$EDITOR` or vi until it has no faults, and return it.

    The lines of `about` and the faults are comments above the text. Returns None if nothing was changed or the file was
    emptied. Raises `UsageError` if the editor fails, and if the text has faults and was not changed in the last edit,
    or after `MAX_EDITS` edits.
    """
    head = tuple(about)
    messages = faults(text)
    draft, edits = text, 0
    while True:
        edits += 1
        before = "".join(f"; {part}\n" for line in (*head, *messages) for part in line.splitlines()) + draft
        after = _run_editor(before, suffix)
        changed = "".join(line for line in after.splitlines(keepends=True) if not line.lstrip().startswith(";"))
        if not changed.strip() or (changed.strip() == text.strip() and after == before):
            return None
        messages = faults(changed)
        if not messages:
            return None if changed.strip() == text.strip() else changed
        if changed == draft or edits == MAX_EDITS:
            more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
            what = f"The edited text cannot be used after {count(edits, 'edit')}"
            advice = f"Fix that and try again. Your text is in {_saved(changed, suffix)}."
            raise UsageError(what, f"{messages[0]}{more}", advice)
        messages = ("This cannot be used yet; empty the file to give up:", *messages)
        draft = changed


def _saved(text: str, suffix: str) -> str:
    """Write a text to a file that is not deleted, and return the name of the file."""
    number, name = tempfile.mkstemp(suffix, "pddlego-edit-")
    os.close(number)
    Path(name).write_text(text, encoding="utf-8")
    return name


def _run_editor(text: str, suffix: str) -> str:
    """Open the editor on a text, and return the edited text; empty if the user removed the file."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pddlego-") as folder:
        path = Path(folder) / f"edit{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            with _restored_terminal():
                code = subprocess.run([*shlex.split(editor), str(path)], env=for_children(), check=False).returncode
        except (OSError, ValueError) as error:
            reason = f"'{editor}': {getattr(error, 'strerror', None) or error}."
            raise UsageError("The editor cannot be started", reason, "Set EDITOR to one, such as nano.") from error
        if code != 0:
            raise UsageError("The editor failed", f"'{editor}' ended with code {code}.", "Nothing was changed.")
        try:
            return read_run_file(path).decode("utf-8", errors="replace")
        except FileNotFoundError:
            return ""  # removing the file means the same as emptying it
        except OSError as error:
            raise UsageError("The edited text cannot be read", f"{error.strerror}.", "Use another EDITOR.") from error


@contextlib.contextmanager
def _restored_terminal() -> Iterator[None]:
    """Restore the modes of the terminal at the end, if standard input is a terminal."""
    try:
        import termios
    except ImportError:  # Windows
        yield
        return
    try:
        modes = termios.tcgetattr(sys.stdin.fileno())
    except (OSError, ValueError, termios.error):
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, modes)


KEYS = (("a", "accept"), ("r", "reject with a hint"), ("e", "edit"), ("ctrl-c", "stop"))

_ROWS = 9
"""The number of rows of a proposal that are shown at once."""

_SCROLLS = {**MOVES, "pagedown": _ROWS, "pageup": -_ROWS}


class AskingApprover:
    """Shows each proposal to the user and reads the decision as a key. Ctrl-C raises `KeyboardInterrupt`.

    Making one raises `UsageError` on a system whose terminals cannot be read by keys.
    """

    def __init__(
        self, display: LiveDisplay | LineDisplay, kinds: Collection[str], glyphs: Glyphs, width: Callable[[], int]
    ) -> None:
        check_keyboard()
        self._display, self._kinds, self._glyphs, self._width = display, kinds, glyphs, width
        self._message = ""
        self._scroll = 0

    def wants(self, what: str) -> bool:
        return what in self._kinds

    def decide(self, question: Question) -> Decision:
        self._message, self._scroll = "", 0
        with Keyboard() as keyboard:
            keyboard.discard()  # keys typed before the question was shown do not answer it
        try:
            while (decision := self._answer(question)) is None:
                pass
            return decision
        finally:
            self._display.show_question(None)

    def _answer(self, question: Question) -> Decision | None:
        """The decision that the next key means; None if the key does not decide."""
        try:
            with Keyboard() as keyboard:
                panel = question_panel(question, self._width(), self._glyphs, self._message, self._scroll)
                self._display.show_question(panel, question.preview)
                key = keyboard.read_first({"c-c", "a", "r", "e", *_SCROLLS})
        except EOFError:
            raise KeyboardInterrupt from None
        if key == "c-c":
            raise KeyboardInterrupt
        if key == "a":
            return ACCEPTED
        if key == "r":
            return self._rejection()
        if key in _SCROLLS:
            last = max(0, len(_question_rows(question, self._width(), self._glyphs)) - _ROWS)
            self._scroll = max(0, min(last, self._scroll + _SCROLLS[key]))
        return self._replacement(question) if key == "e" else None

    def _rejection(self) -> Decision | None:
        from prompt_toolkit import prompt

        with self._display.suspended():
            try:
                return Decision("rejected", prompt("A hint for the model (Enter: none, Ctrl-D: back): ").strip())
            except EOFError:
                return None

    def _replacement(self, question: Question) -> Decision | None:
        self._message = ""
        try:
            with self._display.suspended():
                text = edit_text(question.text, question.faults, suffix=question.suffix)
        except UsageError as error:
            self._message = f"{error.what}: {error.reason}"
            return None
        if text is None:
            self._message = "Nothing was changed."
            return None
        return Decision("replaced", text if question.changes else text.strip())


def _question_rows(question: Question, width: int, glyphs: Glyphs) -> list[Text]:
    """The rows of a proposal: its text, or its changes if `question.changes`."""
    if question.changes:
        lines = [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in question.renamed]
        lines += [Text(f"{glyphs.added} {clean(fact)}", "green") for fact in question.added]
        lines += [Text(f"{glyphs.removed} {clean(fact)}", "red") for fact in question.removed]
        lines = lines or [Text("nothing changes", "dim")]
    else:
        lines = [Text(clean(line)) for line in question.text.split("\n")]
    return wrapped(lines, width - 4)


def question_panel(question: Question, width: int, glyphs: Glyphs, message: str = "", scroll: int = 0) -> Panel:
    """A panel with the rows of the proposal from row `scroll` on, a message about the last key, and the keys."""
    rows = _question_rows(question, width, glyphs)
    visible = rows[scroll : scroll + _ROWS]
    position = None if len(visible) == len(rows) else Text(f"{scroll + 1}-{scroll + len(visible)} of {len(rows)}")
    keys = KEYS if position is None else (*KEYS[:-1], ("↑↓", "scroll"), KEYS[-1])
    title = question.title + (f" for '{clean(question.reason)}'" if question.reason else "")
    message_lines = [Text(line, "red") for line in textwrap.wrap(clean(message), width - 4)[:2]]
    body = Text("\n").join([*visible, *message_lines, keys_line(keys, glyphs)])
    return Panel(body, title=Text(clean(title)), subtitle=position, width=width, border_style="bold yellow")


def _completed(typed: str, possible: tuple[str, ...]) -> str:
    """The only possible command that begins with the typed text; otherwise the typed text."""
    matches = [command for command in possible if typed and command.lower().startswith(typed.lower())]
    return matches[0] if len(matches) == 1 else typed


class TypingPerson:
    """Reads commands of the user: from a terminal with completion of the `possible` commands, else line by line."""

    def __init__(self) -> None:
        self._session: object = None

    def __call__(self, possible: tuple[str, ...]) -> str:
        command = ""
        while not command:  # an empty line is not a command
            try:
                command = self._read(possible)
            except EOFError:
                raise KeyboardInterrupt from None
        return command

    def _read(self, commands: tuple[str, ...]) -> str:
        if sys.stdin is None:  # standard input was closed
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
