"""A stepping environment: `reset` begins an episode, and `step` takes the model's next answer.

It plays what `pddlego play` plays, in any mode in which a model answers: commands in `act`, edits in `edit`, files in
`gen`, domains in `full`, programs in `program`, functions in `tos`, plans in `plan-by-model`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pddlego.api.play import arguments_named, episode_setup, episode_so_far, first_seed
from pddlego.api.splits import Split, check_split, check_split_name, seeds_of
from pddlego.episode.events import Accepted, Ended, Event, Outcome, Rejected, Response
from pddlego.episode.session import PushedAnswers, Session
from pddlego.episode.trace import Call
from pddlego.errors import PddlegoError, UsageError
from pddlego.evaluation.resources import make_planners
from pddlego.methods.base import Tools, check_seed
from pddlego.methods.registry import first_mode, parse_mode
from pddlego.runs.cells import Cell
from pddlego.util.closing import Closeable
from pddlego.util.text import is_whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import EpisodeOptions
    from pddlego.api.results import Episode
    from pddlego.evaluation.setup import Setup
    from pddlego.methods.base import Referee, Setting
    from pddlego.models.base import Message, Request


@dataclass(frozen=True)
class StepResult:
    """What the environment returns: the next question to the model, and the verdict on its last answer.

    `messages` is the whole request that pddlego sends to a model; `text` is the part of it that the last request did
    not have, or how the episode ended. `valid_commands` are those that the question lists. `accepted` is None if the
    mode does not judge single answers. `reasons` say why the answer was rejected, and what lowered its reward. The sum
    of all rewards is the `score` of the game, from 0 to 1, or less in modes with proved facts (see `Environment`).

    `system_error` says why the system and not the model ended the episode: the game engine or the planner failed, or
    the time was up. Then `reward` is None, and the rewards before it are no measure of the episode.
    """

    text: str
    messages: tuple[Message, ...] = ()
    valid_commands: tuple[str, ...] = ()
    done: bool = False
    reward: float | None = 0.0
    accepted: bool | None = None
    reasons: tuple[str, ...] = ()
    won: bool = False
    score: float = 0.0
    system_error: str = ""


class Environment(Closeable):
    """Episodes of a game in a mode, answer by answer. `options` are those of `play`.

    With a `split`, only its seeds are played; without one, `reset` plays the next seed of `train`, or any seed that is
    named and is not in `test`.

    In `edit` and `gen`, if the true facts of the game are known, the sum of the rewards is the score multiplied by the
    mean honesty of all answers. The honesty of an answer is the harmonic mean of precision and recall of the facts
    after it (see `AnsweredProblem.faults`); it is 0 if the answer is rejected or is not in its strict form.

    All environments of a process with the same game, mode and options share one planner, and all games one engine.
    Methods may be called from any thread; `close` waits for a running `step`. Raises `UsageError` for a game, a mode or
    a split that does not exist, and for a mode in which no model answers.
    """

    def __init__(
        self, game: str, mode: str | None = None, *, split: Split | None = None, **options: Unpack[EpisodeOptions]
    ) -> None:
        self.split = split
        self._arguments = game, mode, dict(options)
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._shared: _Shared | None = _shared(*self._arguments)
        self.game, self.mode = game, self._shared.mode
        self._seeds: Iterator[int] | None = None
        self._cell = Cell(game, self.mode, PushedAnswers.name, 0)
        self._verdicts = _Verdicts()
        if split is not None:
            check_split_name(self._shared.setting, split)

    @property
    def setting(self) -> Setting:
        """The setting, with its splits and its limit of steps."""
        return self._open().setting

    def reset(self, seed: int | None = None) -> StepResult:
        """Begin an episode, and end the one that is open. Without a `seed`, the next one of the split is played.

        Raises `UsageError` for a seed that is not in the environment's split, and `EngineError` if the game cannot be
        started.
        """
        with self._lock, arguments_named():
            shared = self._open()
            if seed is not None and (isinstance(seed, bool) or not is_whole(seed)):
                raise UsageError(f"seed = {seed!r} is invalid", "A seed is a whole number.", "Pass one, or none.")
            if seed is None:
                self._seeds = self._seeds or itertools.cycle(seeds_of(shared.setting, self.split or "train"))
                seed = next(self._seeds)
            check_seed(shared.setting, seed)
            check_split(shared.setting, seed, self.split)
            self._end()
            self._cell = Cell(self.game, self.mode, PushedAnswers.name, seed)
            self._verdicts = _Verdicts(shared.played.method.judges_each_answer, shared.referee(seed))
            self._session = Session(lambda model: shared.played.play(self._cell, shared.tools(model)))
            return self._observe(self._session)

    def step(self, answer: str) -> StepResult:
        """Answer the open question. Raises `UsageError` if no question is open, or if the answer is not a text."""
        if not isinstance(answer, str):
            raise UsageError(f"An answer is {type(answer).__name__}", "A model answers with a str.", "Pass its text.")
        with self._lock:
            session, request = self._opened()
            seen, truth = len(session.trace), self._verdicts.truth
            fault = truth.fault_of(answer, request) if truth else ""
            session.answer(answer)
            return self._observe(session, seen, request.messages, fault)

    def expert(self) -> str:
        """The answer of the built-in model to the open question: an oracle, for tests and for warm-up data.

        Raises `UsageError` if no question is open, and if the built-in model cannot play the game in this mode.
        """
        with self._lock:
            _, request = self._opened()
            return self._open().played.method.expert(self._cell, self.setting).complete(request).text

    async def reset_async(self, seed: int | None = None) -> StepResult:
        """`reset` without blocking the event loop."""
        return await asyncio.to_thread(self.reset, seed)

    async def step_async(self, answer: str) -> StepResult:
        """`step` without blocking the event loop."""
        return await asyncio.to_thread(self.step, answer)

    def close(self) -> None:
        """End the episode. The planner is closed with its last environment; `reset` opens it again."""
        with self._lock:
            self._end()
            self._shared = None

    @property
    def episode(self) -> Episode:
        """The episode so far. Raises `UsageError` before the first `reset` and after `close`."""
        if self._session is None:
            raise UsageError("There is no episode", "None has begun, or it was closed.", "Call reset.")
        return episode_so_far(self._open().setup, self._cell, self._session.trace)

    def _open(self) -> _Shared:
        self._shared = self._shared or _shared(*self._arguments)
        return self._shared

    def _opened(self) -> tuple[Session, Request]:
        if self._session is None or self._session.request is None:
            raise UsageError("No question is open", "The episode has ended, or none has begun.", "Call reset.")
        return self._session, self._session.request

    def _end(self) -> None:
        if self._session is not None:
            self._session.close()
        if self._verdicts.truth is not None:
            self._verdicts.truth.close()
        self._session, self._verdicts = None, _Verdicts()

    def _observe(
        self, session: Session, seen: int = 0, before: tuple[Message, ...] = (), fault: str = ""
    ) -> StepResult:
        """The observation of the events from number `seen` on, after the request with the messages `before`."""
        new, request, verdicts = session.trace.events[seen:], session.request, self._verdicts
        reward: float | None = verdicts.take(new, [call for call in session.trace.calls if call.place >= seen], fault)
        messages = request.messages if request else ()
        ended = next((event for event in new if isinstance(event, Ended)), None)
        text = _end_of(new, ended) if ended else _news(messages, before)
        system_error = verdicts.unknown or (_system_error(session.trace.events, ended) if ended else "")
        return StepResult(
            text,
            messages,
            getattr(request.context, "valid_commands", ()) if request else (),
            done=request is None or bool(system_error),
            reward=None if system_error else reward,
            accepted=verdicts.accepted,
            reasons=verdicts.reasons,
            won=ended is not None and ended.outcome is Outcome.WON,
            score=verdicts.score,
            system_error=system_error,
        )


class _Shared:
    """What environments with the same game, mode and options share: the setup and the planner."""

    def __init__(self, setup: Setup) -> None:
        (self.mode,) = setup.matrix.modes
        (self.played,) = setup.played.values()
        self.setup = setup
        self.setting: Setting = self.played.setting
        self._planner = make_planners(setup)
        weakref.finalize(self, self._planner.close)

    def referee(self, seed: int) -> Referee | None:
        """The referee of an episode; None if the mode has none, or if the truth cannot be known."""
        rewarded = parse_mode(self.mode).mode.rewarded
        return self.played.method.referee(self.setting, self.mode, seed) if rewarded else None

    def tools(self, model: Any) -> Tools:
        """The tools of an episode with this model."""
        return Tools(model, self._planner, self.setup.limits, self.setup.config.limits.retries)


_ALL_SHARED: weakref.WeakValueDictionary[str, _Shared] = weakref.WeakValueDictionary()
_SHARING = threading.Lock()


def _shared(game: str, mode: str | None, options: dict[str, Any]) -> _Shared:
    """The shared part of an environment, which is made when its first environment is."""
    key = json.dumps([game, mode or first_mode(game), options], sort_keys=True, default=repr)
    with _SHARING, arguments_named():
        shared = _ALL_SHARED.get(key)
        if shared is None:
            seed = first_seed(game, mode, options)
            setup = episode_setup(game, mode, seed, PushedAnswers(), options)
            (name,) = setup.matrix.modes
            chosen = parse_mode(name).mode
            if not chosen.asks_model or chosen.needs_person or chosen.advises:
                reason = f"In mode {name} no model answers question by question."
                raise UsageError(f"Mode {name} has no environment", reason, "Choose another mode, such as act.")
            shared = _ALL_SHARED[key] = _Shared(setup)
        return shared


class _Verdicts:
    """Judges answers by the events that follow them. `accepted` and `reasons` are about the last answer.

    If the truth is known, the value of an episode is its score times the mean honesty of its answers; otherwise it is
    the score. `unknown` says why the truth, and so the value, could not be found out.
    """

    def __init__(self, judged: bool = False, truth: Referee | None = None) -> None:
        self.judged, self.truth = judged, truth
        self._honesty: list[float] = []
        self.accepted: bool | None = None
        self.reasons: tuple[str, ...] = ()
        self.score = self._value = 0.0
        self.unknown = ""

    def take(self, events: Sequence[Event], calls: Sequence[Call], fault: str = "") -> float:
        """Judge the events since the last answer, whose form has a `fault`; returns the increase of the value."""
        verdict, self.reasons = calls[-1].verdict if calls else None, ()
        is_verdict = self.judged or isinstance(verdict, (Accepted, Rejected))
        self.accepted = calls[-1].accepted if calls and is_verdict else None
        for event in events:
            if isinstance(event, Rejected):
                self.reasons = (event.feedback.message, *event.feedback.evidence)
                self._honesty.append(0.0)
            elif isinstance(event, Accepted):
                self._take_accepted(event, fault)
            elif isinstance(event, Response):
                self.reasons = ("the game refused the command",) if event is verdict and event.refused else self.reasons
                self._take_response(event)
            if isinstance(event, (Response, Ended)):
                self.score = event.score
        honesty = sum(self._honesty) / len(self._honesty) if self.truth and self._honesty else 1.0
        last_value, self._value = self._value, self.score * honesty
        return self._value - last_value

    def _take_response(self, event: Response) -> None:
        if self.truth is not None and not self.unknown:
            try:
                self.truth.read(event)
            except PddlegoError as error:
                self.unknown = error.sentence

    def _take_accepted(self, event: Accepted, fault: str) -> None:
        """Judge an accepted answer. A plan may also have changed the problem, without an answer."""
        if self.truth is None or self.unknown or event.kind != "problem":
            return
        honesty, faults = self.truth.judge(event)
        if event.source == "model":
            self.reasons = (fault, *faults) if fault else faults
            self._honesty.append(0.0 if fault else honesty)


def _system_error(events: Sequence[Event], ended: Ended) -> str:
    """Why the system ended an episode; empty if the model has won or lost it.

    If the planner gave up on one of the last answers, since which none was accepted, another outcome was possible.
    """
    if ended.outcome in (Outcome.CRASHED, Outcome.MODEL_ERROR) or ended.cause in ("seconds", "evaluation"):
        return ended.message
    last = itertools.takewhile(lambda event: not isinstance(event, Accepted), reversed(events))
    gave_up = next((event.gave_up for event in last if event.gave_up), "")
    return f"the planner gave up {gave_up}" if gave_up and ended.outcome is Outcome.NO_PLAN else ""


def _news(messages: Sequence[Message], before: Sequence[Message]) -> str:
    """The messages of a request that the last one did not begin with, without the model's own.

    A message also counts as known if it is the beginning of the earlier one: only the last lists valid commands.
    """
    pairs = zip(messages, before, strict=False)
    same = len(list(itertools.takewhile(lambda pair: pair[1].content.startswith(pair[0].content), pairs)))
    new = messages[min(same, len(messages) - 1) :]
    return "\n\n".join(message.content for message in new if message.role != "assistant")


def _end_of(events: Sequence[Event], ended: Ended) -> str:
    """The last responses of the game, and how the episode ended."""
    observed = (event for event in events if isinstance(event, Response))
    responses = (f"> {event.command}\n{event.text}" if event.command else event.text for event in observed)
    end = f"The episode is over: {ended.outcome.value}" + (f" ({ended.message})" if ended.message else "")
    return "\n\n".join((*responses, f"{end}."))
