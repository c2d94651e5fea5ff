"""An episode as the browser and HTML pages show it: its steps, its tabs, and why it ended as it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.rows import cleaned
from pddlego.display.screens import Screen, ScreenOf, Tab, result_line
from pddlego.display.steps import answer_lines, derived_lines, is_refused, is_rejected, is_surprise, tabs_of
from pddlego.episode.events import Event, Outcome
from pddlego.episode.trace import Step, TimedEvent, Trace
from pddlego.errors import JournalError, PddlegoError
from pddlego.runs.journal import Codec, JournalTail
from pddlego.runs.summary import LastingError, assesses

OVERVIEW, WHY = "overview", "why"
"""The tabs that every episode has: the screen of `play` at a step, and what explains the end of the episode."""


@dataclass(frozen=True)
class Explanation:
    """An ended episode with checks of the model's facts: its events, its cause, and all lasting errors.

    `cause` is None for a won episode, for one that does not assess the method, and for one without a known error, or
    whose cause depends on episodes of the run that have not been checked.
    """

    timed: Sequence[TimedEvent]
    cause: LastingError | None = None
    errors: Sequence[LastingError] = ()


@dataclass(frozen=True)
class Sources:
    """How the browser and live pages read and draw episodes.

    `explain` checks the facts of an ended episode; `saved_cause` returns its cause if it was checked before. `causes`
    returns the cause of each lost episode of a run folder, by the name of its journal; it calls a function with the
    numbers of checked episodes and of all, or without a function checks nothing and uses only known errors. `checker`
    returns the checks of a running episode, event by event.
    """

    codec: Codec
    screen_of: ScreenOf
    glyphs: Glyphs
    explain: Callable[[Path], Explanation]
    saved_cause: Callable[[Path], LastingError | None]
    causes: Callable[[Path, Callable[[int, int], None] | None], Mapping[str, LastingError]]
    checker: Callable[[Path], Callable[[Event], Iterable[Event]]]


@dataclass(frozen=True)
class Why:
    """The text of the tab `why`: the outcome, the cause and the other lasting errors; the answer; the truth beside it.

    The answer and the truth begin with a title. Both are empty before the episode has ended.
    """

    head: Sequence[Text]
    answer: Sequence[Text] = ()
    truth: Sequence[Text] = ()


_CHECKING = "the facts of the model are still being checked"
_OTHERS = "not known until the other episodes of the run are checked ('pddlego truth')"


class ShownEpisode:
    """An episode with the tabs of its steps. `is_being_checked` while its facts are, and its cause may be missing."""

    def __init__(self, explanation: Explanation, screen_of: ScreenOf, glyphs: Glyphs) -> None:
        self._screen_of, self._glyphs = screen_of, glyphs
        self.use_checked(explanation)

    def use_checked(self, explanation: Explanation) -> None:
        """Replace the events by those with checks of facts."""
        self.is_being_checked = False
        self.explanation = explanation
        self._load(explanation.timed)

    def _load(self, timed: Iterable[TimedEvent]) -> None:
        self.trace = Trace((cleaned(event), seconds) for event, seconds in timed)
        started = self.trace.started
        self.screen: Screen = self._screen_of(started.played_by if started is not None else "")
        self.steps: Sequence[Step] = self.trace.steps

    @property
    def is_lost(self) -> bool:
        """Whether the episode has ended and was not won."""
        return self.trace.ended is not None and self.trace.ended.outcome is not Outcome.WON

    @property
    def decisive_index(self) -> int:
        """The index of the step after which the episode was lost: that of its cause, else the last failure."""
        cause, last = self.explanation.cause, max(0, len(self.steps) - 1)
        numbers = [step.number for step in self.steps]
        if cause is not None and cause.step in numbers:
            return numbers.index(cause.step)
        return next((index for index in range(last, -1, -1) if self.is_failure(self.steps[index])), last)

    def is_failure(self, step: Step) -> bool:
        """Whether an answer was rejected in a step, the game surprised the plan, or a lasting error began."""
        begins = any(error.step == step.number for error in self.explanation.errors)
        return begins or is_rejected(step) or is_surprise(step)

    def why(self, step: Step) -> Why:
        """Why the episode ended as it did, with the answer of `step` if it is a failure, else of the decisive step.

        Without checks of facts, the answer is beside the request before any retries, which names what is possible. If
        the game refused the model's command or was lost by it, the answer is the one with this command.
        """
        if self.trace.ended is None:
            return Why([Text("The episode has not ended yet.")])
        step = step if self.is_failure(step) else self.steps[self.decisive_index]
        cause, errors = self.explanation.cause, self.explanation.errors
        head = [result_line(self.trace)]
        if self.is_lost:
            unknown = _OTHERS if errors else "no lasting error of the model is known"
            unknown = _CHECKING if self.is_being_checked else unknown
            has_cause = cause is not None or assesses(self.trace.ended)
            shown = f"cause: {cause or unknown}" if has_cause else f"no cause: {self.trace.ended.outcome.value}"
            head.append(Text(shown, "bold magenta"))
        head += [Text(f"{'also' if cause else 'error'}: {error}", "magenta") for error in errors if error is not cause]
        call = step.after.call_before(step.done) if step.done is not None and is_refused(step) else None
        verdict = "refused"
        if getattr(step.done, "lost", False) and step.after.calls:
            call, verdict = step.after.calls[-1], "fatal"  # even where the verdict is an earlier command of the answer
        if call is not None:
            answer = _titled(f"answer {call.number}: {verdict} in step {step.number}", call.completion.text)
        else:
            answer = [Text(f"answer after step {step.number}", "bold"), *answer_lines(step, self._glyphs)]
            truth = [Text(_CHECKING, "dim")] if self.is_being_checked else derived_lines(step, self._glyphs)
            if truth or not step.calls:
                unchecked = Text("no facts were checked in this step", "dim")
                return Why(head, answer, [Text("truth", "bold"), *(truth or [unchecked])])
            call = step.calls[-1]
        first = [one for one in step.after.calls if one.attempt == 0 and one.number <= call.number] or [call]
        return Why(head, answer, _titled("asked", first[-1].messages[-1].content))

    def tabs(self) -> list[Tab]:
        """The tabs of each step between `OVERVIEW` and `WHY`."""
        return tabs_of(self.screen, self.trace)


def _titled(title: str, text: str) -> list[Text]:
    return [Text(title, "bold"), *map(Text, text.splitlines())]


class OpenEpisode(ShownEpisode):
    """The episode of a journal, which is read again while the episode is being played."""

    def __init__(self, path: Path, sources: Sources) -> None:
        self.path, self.sources = path, sources
        self.fault = ""
        self.checks: Callable[[Event], Iterable[Event]] | None = None
        super().__init__(Explanation(()), sources.screen_of, sources.glyphs)
        self._tail = JournalTail(path, sources.codec)
        self._read_at = time.monotonic()
        self.poll()
        if self.is_lost:
            self.explanation = replace(self.explanation, cause=sources.saved_cause(path))

    @property
    def wait_seconds(self) -> float:
        """The seconds since the last event was read if a request is open, else 0."""
        return time.monotonic() - self._read_at if self.trace.request is not None else 0.0

    def check(self, checks: Callable[[Event], Iterable[Event]] | None) -> None:
        """Read the episode again, with these checks in place of recorded ones; None: as it was recorded."""
        self.checks = checks
        self._tail = JournalTail(self.path, self.sources.codec)
        self._load(())
        self.poll()

    def _checked(self, timed: TimedEvent) -> Iterator[TimedEvent]:
        """An event and its checks, which end when the reference cannot answer."""
        event, seconds = timed
        if self.checks is None or not event.derived:
            yield timed
        if self.checks is not None and not event.derived:
            try:
                yield from ((more, seconds) for more in self.checks(event))
            except PddlegoError:
                self.checks = None

    def poll(self) -> bool:
        """Read new events. Returns whether there is a new event or a damaged line, which ends the reading."""
        if self.fault or self.trace.ended is not None:
            return False
        events: list[TimedEvent] = []
        try:
            for timed in self._tail.poll():
                events += self._checked(timed)
        except JournalError as error:
            self.fault = error.sentence
        if not events:
            return bool(self.fault)
        self._read_at = time.monotonic()
        if not self.steps:
            self._load(events)
        else:
            for event, seconds in events:
                self.trace.add(cleaned(event), seconds)
            self.steps = self.trace.steps
        return True
