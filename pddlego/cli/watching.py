"""Plays one episode with a live display, and with a user who approves proposals or types commands."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego.cli import exits
from pddlego.cli.exits import ignore_interrupts, is_typed_at
from pddlego.display.console import Console, glyphs_for
from pddlego.display.lines import Display, LineDisplay, LiveDisplay, make_display
from pddlego.episode.approval import Approver
from pddlego.episode.events import Ended, Event, Outcome
from pddlego.errors import PddlegoError, UsageError
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.playing import play
from pddlego.evaluation.setup import Setup, one_cell
from pddlego.methods.base import Mode
from pddlego.methods.registry import modes, package_that_plays, parse_mode
from pddlego.runs.cells import Cell
from pddlego.runs.folders import CARRIED, CONFIRMED, EPISODES, fresh_folder
from pddlego.runs.journal import Listener, follow
from pddlego.runs.store import Recorder
from pddlego.util.unexpected import explained


@dataclass(frozen=True)
class LiveEpisode:
    """An episode that is ready to be played, its display, and the approver of the `kinds` of proposals, if any."""

    console: Console
    cell: Cell
    display: Display
    approver: Approver | None
    kinds: tuple[str, ...]
    json_lines: bool

    def play(self, setup: Setup, folder: Path, name: str, about: Mapping[str, Any]) -> int:
        """Play the episode in a new run folder with this name, and return the exit code.

        `about` is added to the manifest. If an error prevents the first event, the run folder is removed.
        """
        path = fresh_folder(folder, name)
        confirmed = {CONFIRMED: self.kinds} if self.kinds else {}
        mode, person = parse_mode(self.cell.mode).mode, None
        if mode.needs_person and not mode.confirms:
            from pddlego.display.person import TypingPerson

            person = TypingPerson()
        try:
            with self.display.reading_keys(), evaluating(setup, path, {**about, **confirmed}) as running:
                events = play(self.cell, setup, running.planner, running.limiter, approver=self.approver, person=person)
                recorder = Recorder(self.cell, running.store)
                ended = _play_watched(events, recorder, self.display, package_that_plays(*self.cell.configuration[:2]))
                recorder.record()
        finally:
            if not any((path / EPISODES).glob("*")):  # without any event
                shutil.rmtree(path, ignore_errors=True)
                with contextlib.suppress(OSError):  # it contains other runs
                    path.parent.rmdir()
        if not self.json_lines:
            tab = f", tab {mode.carries.kind}" if any((path / CARRIED).glob("*")) else ""
            saved, back = f"Saved in {path}", f": pddlego show latest{tab}"
            has_room = self.console.is_terminal and len(saved + back) < self.console.width  # a line more would scroll
            self.console.print(saved + back * has_room, style="dim", soft_wrap=True)
        return exit_code(ended)


def prepare(console: Console, setup: Setup, confirm: str, pace: float, json_lines: bool = False) -> LiveEpisode:
    """Prepare the only episode of a setup. `confirm` lists the kinds of proposals that the user approves, with commas.

    Raises `UsageError` if such proposals cannot be approved.
    """
    kinds = _parse_kinds(confirm)
    cell = one_cell(setup)
    mode, played = parse_mode(cell.mode).mode, setup.played_in(cell)
    for note in setup.notes:
        Console(stderr=json_lines).print(note, style="dim", soft_wrap=True)
    checker = played.method.measuring.checker
    approved = mode.confirms if mode.needs_person else kinds
    display = make_display(
        console,
        pace,
        played.method.screen,
        json_lines=json_lines,
        lines=mode.needs_person,
        checker=None if checker is None else lambda trace: checker(trace, played.setting, played.options),
        reads_keys=not approved,  # else all keys are answers
    )
    if mode.needs_person and kinds:
        raise UsageError("There is nothing to confirm", "The mode asks you anyway.", "Leave --confirm out.")
    return LiveEpisode(console, cell, display, _make_approver(console, display, approved, mode), kinds, json_lines)


def _make_approver(console: Console, display: Display, kinds: tuple[str, ...], mode: Mode) -> Approver | None:
    """The user as approver; None without `kinds`.

    Raises `UsageError` if the mode has no such proposals, or without a terminal.
    """
    if not kinds:
        return None
    if set(kinds) - set(mode.confirms):
        has = " and ".join(mode.confirms)
        reason = f"Mode {mode.name} has only {has}." if has else f"Mode {mode.name} has nothing to confirm."
        advice = f"Use --confirm {','.join(mode.confirms)}." if has else "Leave --confirm out."
        raise UsageError(f"There is nothing to confirm: {', '.join(kinds)}", reason, advice)
    if not isinstance(display, (LiveDisplay, LineDisplay)) or not (console.is_terminal and is_typed_at()):
        reason = "Input or output is not a terminal, or --json was used."
        if mode.needs_person:
            raise UsageError(f"Mode {mode.name} needs a terminal", reason, "Play in a terminal.")
        raise UsageError("--confirm needs a terminal", reason, "Leave it out, or play in a terminal.")
    from pddlego.display.person import AskingApprover

    return AskingApprover(display, kinds, glyphs_for(console.encoding), lambda: console.width)


def _parse_kinds(text: str) -> tuple[str, ...]:
    """The kinds of proposals in a text such as `edits,plans`. Raises `UsageError` for an unknown kind."""
    named = [part.strip() for part in text.split(",") if part.strip()]
    known = tuple(dict.fromkeys(kind for mode in modes() for kind in mode.confirms))
    unknown = [kind for kind in named if kind not in known]
    if unknown:
        reason = f"It may be: {', '.join(known)}, several with commas."
        raise UsageError(f"--confirm {unknown[0]} is not possible", reason, "Choose one.")
    return tuple(kind for kind in known if kind in named)


def _play_watched(events: Iterator[Event], recorder: Recorder, display: Display, package: str | None) -> Ended:
    """Play to the end, and record and show every event. A bug of the method ends the episode as `crashed`.

    Raises `PddlegoError` for errors before the first event, and if events cannot be written.
    """
    try:
        with display:
            show = _until_output_closes(display)
            try:
                return follow(events, [_ignore_interrupts_at_end, recorder.keep, show])
            except (PddlegoError, OSError, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 -- as in a worker of an evaluation
                ended = Ended(Outcome.CRASHED, explained(error, package), 0.0)
                recorder.keep(ended, 0.0)
                show(ended, 0.0)
                return ended
    finally:
        recorder.close()


def _ignore_interrupts_at_end(event: Event, seconds: float) -> None:
    """Ignore interrupts from the last event on, so that files are closed properly."""
    if isinstance(event, Ended):
        ignore_interrupts()


def _until_output_closes(display: Display) -> Listener:
    """A listener that shows events. When the output is a closed pipe, it interrupts the episode and shows no more."""
    is_closed = False

    def show(event: Event, seconds: float) -> None:
        nonlocal is_closed
        if is_closed:
            return
        try:
            display.show(event, seconds)
        except BrokenPipeError:
            is_closed = True
            exits.silence_output()
            raise KeyboardInterrupt from None

    return show


def exit_code(ended: Ended) -> int:
    """0 won, 1 played and not won, 3 model or engine error, 130 interrupted."""
    if ended.outcome is Outcome.WON:
        return exits.WON
    if ended.outcome in (Outcome.MODEL_ERROR, Outcome.CRASHED):
        return exits.BROKEN
    return exits.INTERRUPTED if ended.outcome is Outcome.INTERRUPTED else exits.NOT_WON
