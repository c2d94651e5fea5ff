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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pddlego.api.play import arguments_named, episode_setup, episode_so_far, first_seed
from pddlego.api.rewards import REWARDED, agreement, faults_of, idle_parts
from pddlego.api.splits import Split, refuse_test_seeds, seeds_of
from pddlego.episode.events import Accepted, Answered, Ended, Event, Outcome, Rejected
from pddlego.episode.session import PushedAnswers, Session
from pddlego.errors import UsageError
from pddlego.evaluation.setup import make_planners
from pddlego.methods.base import BUILT_IN_MODEL, Tools, base_mode, check_seed
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.events import FactsChecked, Observed
from pddlego.methods.textgames.formalize import Situation
from pddlego.methods.textgames.formalize.form import surplus_of
from pddlego.methods.textgames.reader import can_read
from pddlego.methods.textgames.settings import ClaimRule, GameSetting
from pddlego.pddl import Problem, parse_problem
from pddlego.runs.cells import Cell

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import EpisodeOptions
    from pddlego.api.results import Episode
    from pddlego.evaluation.setup import Setup
    from pddlego.methods.base import Setting
    from pddlego.models.base import Message, Request


@dataclass(frozen=True)
class Observation:
    """What the environment returns: the next question to the model, and the verdict on its last answer.

    `messages` is the whole request that pddlego sends to a model; `text` is the part of it that the last request did
    not have, or how the episode ended. `valid_commands` are those that the game accepts now. `accepted` is None
    if the mode does not judge single answers. `reasons` say why the answer was rejected, and what its reward lost by.
    The sum of all rewards is the `score` of the game, from 0 to 1; see `Environment` for modes with proved facts.
    """

    text: str
    messages: tuple[Message, ...] = ()
    valid_commands: tuple[str, ...] = ()
    done: bool = False
    reward: float = 0.0
    accepted: bool | None = None
    reasons: tuple[str, ...] = ()
    won: bool = False
    score: float = 0.0


class Environment:
    """Episodes of a game in a mode, answer by answer. `options` are those of `play`.

    In `edit` and `gen`, if the true facts of the game are known, the sum of the rewards is the score multiplied by the
    mean honesty of all answers: the harmonic mean of precision and recall of the facts of the problem after the answer.
    It is 0 for an answer that is rejected or has anything besides one edit or one file; lines without an effect and
    objects without facts count as wrong facts.

    All environments of a process with the same game, mode and options share one planner, and all games one engine.
    Methods may be called from any thread; `close` waits for a running `step`. Raises `UsageError` for a game or a mode
    that does not exist, and for a mode in which no model answers.
    """

    def __init__(
        self, game: str, mode: str | None = None, *, split: Split = "train", **options: Unpack[EpisodeOptions]
    ) -> None:
        self.split = split
        self._arguments = game, mode, dict(options)
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._shared: _Shared | None = _shared(*self._arguments)
        self.game, self.mode = game, self._shared.mode
        self._seeds: Iterator[int] | None = None
        self._cell = Cell(game, self.mode, PushedAnswers.name, 0)
        self._verdicts = _Verdicts(None)

    @property
    def setting(self) -> Setting:
        """The setting, with its splits and its limit of steps."""
        return self._open().setting

    def reset(self, seed: int | None = None) -> Observation:
        """Begin an episode, and end the one that is open. Without a `seed`, the next one of the split is played.

        Raises `UsageError` for a seed of the split `test`, unless the environment was made with `split="test"`, and
        `EngineError` if the game cannot be started.
        """
        with self._lock, arguments_named():
            shared = self._open()
            self._end()
            if seed is None:
                self._seeds = self._seeds or itertools.cycle(seeds_of(shared.setting, self.split))
                seed = next(self._seeds)
            check_seed(shared.setting, seed)
            if self.split != "test":
                refuse_test_seeds(shared.setting, [seed])
            self._cell = Cell(self.game, self.mode, PushedAnswers.name, seed)
            self._verdicts = _Verdicts(shared.claims)
            self._session = Session(lambda model: shared.played.play(self._cell, shared.tools(model)))
            return self._observe(self._session, 0, ())

    def step(self, answer: str) -> Observation:
        """Answer the open question. Raises `UsageError` if no question is open: `reset` first."""
        with self._lock:
            session, request = self._opened()
            before, seen = request.messages, len(session.trace)
            session.answer(answer)
            return self._observe(session, seen, before)

    def expert(self) -> str:
        """The answer of the built-in model to the open question: an oracle, for tests and for warm-up data.

        Raises `UsageError` if no question is open, and if the built-in model cannot play the game in this mode.
        """
        with self._lock:
            _, request = self._opened()
            cell = replace(self._cell, model=BUILT_IN_MODEL)
            model = self._open().played.method.builtin_model(BUILT_IN_MODEL, cell, self.setting)
            assert model is not None, "the name of the built-in model"
            return model.complete(request).text

    async def reset_async(self, seed: int | None = None) -> Observation:
        """`reset` without blocking the event loop."""
        return await asyncio.to_thread(self.reset, seed)

    async def step_async(self, answer: str) -> Observation:
        """`step` without blocking the event loop."""
        return await asyncio.to_thread(self.step, answer)

    def close(self) -> None:
        """End the episode. The planner is closed with its last environment; `reset` opens it again."""
        with self._lock:
            self._end()
            self._shared = None

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        self._session = None

    def _observe(self, session: Session, seen: int, before: tuple[Message, ...]) -> Observation:
        """The observation of the events from number `seen` on, after the request with the messages `before`."""
        new, request, verdicts = session.trace.events[seen:], session.request, self._verdicts
        reward = verdicts.take(new)
        messages = request.messages if request else ()
        ended = next((event for event in new if isinstance(event, Ended)), None)
        text = _end_of(new, ended) if ended else _news(messages, before)
        context = request.context if request else None
        return Observation(
            text,
            messages,
            context.seen.valid_commands if isinstance(context, Situation) else (),
            done=request is None,
            reward=reward,
            accepted=verdicts.accepted,
            reasons=verdicts.reasons,
            won=ended is not None and ended.outcome is Outcome.WON,
            score=verdicts.score,
        )


class _Shared:
    """What environments with the same game, mode and options share: the setup and the planner."""

    def __init__(self, setup: Setup) -> None:
        (self.mode,) = setup.matrix.modes
        (self.played,) = setup.played.values()
        self.setup = setup
        self.setting: Setting = self.played.setting
        self.claims = _claims_of(self.setting, self.mode)
        self._planner = make_planners(setup)
        weakref.finalize(self, self._planner.close)

    def tools(self, model: Any) -> Tools:
        """The tools of an episode with this model."""
        return Tools(model, self._planner, self.setup.limits, self.setup.config.limits.retries)


_ALL_SHARED: weakref.WeakValueDictionary[str, _Shared] = weakref.WeakValueDictionary()
_SHARING = threading.Lock()


def _shared(game: str, mode: str | None, options: dict[str, Any]) -> _Shared:
    """The shared part of an environment, which is made when its first environment is."""
    key = json.dumps([game, mode, options], sort_keys=True, default=repr)
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
            if _claims_of(setup.settings[0], name) is not None:
                setup = episode_setup(game, mode, seed, PushedAnswers(), {**options, "truth": True})
            shared = _ALL_SHARED[key] = _Shared(setup)
        return shared


def _claims_of(setting: Setting, mode: str) -> Mapping[str, ClaimRule] | None:
    """What a player can know, if the facts of the model's problems can be compared with true ones; otherwise None."""
    if not isinstance(setting, GameSetting) or base_mode(mode) not in REWARDED:
        return None
    return setting.claims if setting.facts or can_read(setting) else None


class _Verdicts:
    """Judges answers by the events that follow them. `accepted` and `reasons` are about the last answer.

    With `claims`, which say what a player can know, the value of an episode is its score times the mean honesty of its
    answers; otherwise it is the score.
    """

    def __init__(self, claims: Mapping[str, ClaimRule] | None) -> None:
        self._rewarded, self._claims = claims is not None, claims or {}
        self._honesty: list[float] = []
        self._problem: Problem | None = None
        self._surplus, self._idle = "", tuple[str, ...]()
        self.accepted: bool | None = None
        self.reasons: tuple[str, ...] = ()
        self.score = self._value = 0.0

    def take(self, events: Sequence[Event]) -> float:
        """Judge the events since the last answer; returns the increase of the value."""
        self.accepted, self.reasons, judged = None, (), False
        for event in events:
            if isinstance(event, Answered):
                self._surplus = surplus_of(event.completion.text) if self._rewarded else ""
                judged = False
            elif isinstance(event, Rejected):
                self.accepted, self.reasons = False, (event.feedback.message, *event.feedback.evidence)
                if self._rewarded:
                    self._honesty.append(0.0)
            elif isinstance(event, Accepted) and event.source == "model":
                self.accepted, judged = True, self._rewarded and event.kind == "problem"
                if judged:
                    problem = parse_problem(event.text)
                    self._idle = idle_parts(event.lines, problem, self._problem or problem)
                    self._problem = problem
            elif isinstance(event, FactsChecked) and judged and not event.rejected:
                self._judge(event)
                judged = False
            elif isinstance(event, Observed) and self.accepted is None and event.command is not None:
                self.accepted = not event.refused
            if isinstance(event, (Observed, Ended)):
                self.score = event.score
        before, self._value = self._value, self.score * self._mean()
        return self._value - before

    def _judge(self, checked: FactsChecked) -> None:
        faults = faults_of(checked, self._claims, self._idle)
        self.reasons = (*filter(None, [self._surplus]), *faults)
        self._honesty.append(0.0 if self._surplus else agreement(checked, faults))

    def _mean(self) -> float:
        return sum(self._honesty) / len(self._honesty) if self._honesty else 1.0


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
    responses = (f"> {event.command}\n{event.text}" for event in events if isinstance(event, Observed))
    end = f"The episode is over: {ended.outcome.value}" + (f" ({ended.message})" if ended.message else "")
    return "\n\n".join((*responses, f"{end}."))
