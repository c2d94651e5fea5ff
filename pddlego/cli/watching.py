"""Playing an episode with a live display, and with a person who approves or types."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pddlego.cli import exits
from pddlego.cli.exits import ignore_interrupts, is_typed_at
from pddlego.display.console import Console, glyphs_for
from pddlego.display.lines import Display, LineDisplay, LiveDisplay
from pddlego.episode.approval import Approver
from pddlego.episode.events import Ended, Event, Outcome
from pddlego.errors import PddlegoError, UsageError, explained
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.playing import Person, make_tools
from pddlego.evaluation.setup import Setup
from pddlego.methods.base import Mode, Tools
from pddlego.methods.registry import modes
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import Listener, follow
from pddlego.runs.store import Recorder


def watched(events: Iterator[Event], recorder: Recorder, display: Display) -> Ended:
    """Play to the end, recorded and displayed. A bug of the method ends the episode as `crashed`.

    Raises `PddlegoError` for what goes wrong before the first event, and where the disk does not take what happens.
    """
    try:
        with display:
            shown = _until_nobody_looks(display)
            try:
                return follow(events, [_calm_at_the_end, recorder.keep, shown])
            except (PddlegoError, OSError, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 -- the episode's border, as of an evaluation's worker
                ended = Ended(Outcome.CRASHED, explained(error), 0.0)
                recorder.keep(ended, 0.0)
                shown(ended, 0.0)
                return ended
    finally:
        recorder.close()


def make_approver(console: Console, display: Display, kinds: tuple[str, ...], mode: Mode) -> Approver | None:
    """The person who approves actions. Raises `UsageError` without a terminal."""
    if not kinds:
        return None
    if mode.needs_person:
        raise UsageError("There is nothing to confirm", "You type the commands yourself.", "Leave --confirm out.")
    if set(kinds) - set(mode.confirms):
        has = " and ".join(mode.confirms)
        reason = f"Mode {mode.name} has only {has}." if has else f"Mode {mode.name} has nothing to confirm."
        advice = f"Use --confirm {','.join(mode.confirms)}." if has else "Leave --confirm out."
        raise UsageError(f"There is nothing to confirm: {', '.join(kinds)}", reason, advice)
    if not isinstance(display, (LiveDisplay, LineDisplay)) or not (console.is_terminal and is_typed_at()):
        reason = "Input or output is not a terminal, or --json was used."
        raise UsageError("--confirm needs a terminal", reason, "Leave it out, or play in a terminal.")
    from pddlego.display.person import AskingApprover

    return AskingApprover(display, kinds, glyphs_for(console.encoding), lambda: console.width)


def make_person(mode: Mode) -> Person | None:
    """The person who plays, if the mode needs one."""
    if not mode.needs_person:
        return None
    from pddlego.display.person import TypingPerson

    return TypingPerson()


def parse_whats(text: str) -> tuple[str, ...]:
    """`edits,plans` as what to confirm. Raises `UsageError`."""
    asked = [part.strip() for part in text.split(",") if part.strip()]
    known = tuple(dict.fromkeys(what for mode in modes() for what in mode.confirms))
    unknown = [part for part in asked if part not in known]
    if unknown:
        reason = f"It may be: {', '.join(known)}, several with commas."
        raise UsageError(f"--confirm {unknown[0]} is not possible", reason, "Choose one.")
    return tuple(what for what in known if what in asked)


def _calm_at_the_end(event: Event, seconds: float) -> None:
    """Ignore interrupts after the last event, so that files are closed properly."""
    if isinstance(event, Ended):
        ignore_interrupts()


def _until_nobody_looks(display: Display) -> Listener:
    """Shows events; when the reader of our pipe is gone, that is an interrupt, and nothing more is shown."""
    gone = False

    def show(event: Event, seconds: float) -> None:
        nonlocal gone
        if gone:
            return
        try:
            display.show(event, seconds)
        except BrokenPipeError:
            gone = True
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


def play_watched(
    setup: Setup,
    path: Path,
    about: Mapping[str, Any],
    display: Display,
    *,
    approver: Approver | None,
    person: Person | None,
    begin: Callable[[Tools], Iterator[Event]] | None = None,
) -> Ended:
    """Play the one cell of an evaluation in a new folder; `begin` begins elsewhere than at the beginning.

    Raises `PddlegoError`; then nothing of it is left.
    """
    (cell,) = setup.cells()
    played = setup.played_in(cell)
    try:
        with evaluating(setup, path, about) as running:
            tools = make_tools(cell, setup, running.planner, running.limiter, approver=approver, person=person)
            events = begin(tools) if begin else played.method.run(cell, played.setting, played.options, tools)
            recorder = Recorder(cell, running.store)
            ended = watched(events, recorder, display)
            recorder.record()
    finally:
        if not any((path / EPISODES).glob("*")):  # nothing was played
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):  # other runs are in it
                path.parent.rmdir()
    return ended
