"""Inspect tasks: `inspect eval pddlego/coin --model …` plays episodes with Inspect's models, limits and logs.

Every setting is a task, and every seed is a sample. `-T` sets options of `pddlego eval`, such as `-T mode=gen
-T seeds=0-9 -T retries=3`. Inspect loads this module through the entry point in `pyproject.toml`.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
from anyio import from_thread
from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import CachePolicy, ChatMessage, GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import LimitExceededError, sample_limits

from pddlego.errors import NoTimeLeftError, PddlegoError
from pddlego.methods.setting_files import setting_names

if TYPE_CHECKING:
    from pddlego.episode.events import Cause, Event
    from pddlego.evaluation.setup import Setup
    from pddlego.models.base import Completion, Message, Model, Request
    from pddlego.planning.process import PlannerPool
    from pddlego.runs.cells import Cell
    from pddlego.runs.summary import Summary

_RESULT = "pddlego"
"""The key of the episode's result in the store of a sample."""

_BUILT_IN: ContextVar[tuple[Model, Request]] = ContextVar("built_in")
"""For `--model pddlego/reader`: the built-in model and the request, whose context Inspect's types cannot hold."""


def setting_task(game: str, mode: str | None = None, seeds: str = "dev", **options: Any) -> Task:
    """Play a setting: a sample for each seed."""
    samples = [
        Sample(input=f"{cell.setting}, mode {cell.mode}, seed {cell.seed}", id=cell.seed)
        for cell in _setup(game, mode, seeds, options).cells()
    ]
    return Task(MemoryDataset(samples), solver=play(game, mode, seeds, **options), scorer=outcome())


def _register(game: str) -> None:
    """Register the task of a setting."""

    @task(name=game)
    def registered(mode: str | None = None, seeds: str = "dev", **options: Any) -> Task:
        return setting_task(game, mode, seeds, **options)


for _name in setting_names():
    _register(_name)


class _BuiltInAPI(ModelAPI):
    """Models of pddlego without endpoint: `pddlego/reader`, `pddlego/reader+noise:0.1`, `pddlego/transcript:RUN`."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 -- Inspect names it
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        model, request = _BUILT_IN.get()
        answer = model.complete(request)
        return ModelOutput.from_content(
            self.model_name, answer.text, "max_tokens" if answer.finish == "length" else "stop"
        )


modelapi(name="pddlego")(_BuiltInAPI)  # as a decorator it would leave a function in place of the class


@solver
def play(game: str, mode: str | None = None, seeds: str = "dev", **options: Any) -> Solver:
    """Play the episode of a sample's seed in a thread, because methods are not asynchronous."""
    setup = _setup(game, mode, seeds, options)
    cells = {cell.seed: cell for cell in setup.cells()}
    planners = _Planners(setup)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        cell = replace(cells[int(state.sample_id)], model=str(model), repeat=state.epoch)
        episode = _Episode(cell, setup, planners, state)
        ended = await anyio.to_thread.run_sync(episode.play, limiter=anyio.CapacityLimiter(1))
        await anyio.lowlevel.checkpoint()  # raises if Inspect has cancelled the sample
        if episode.limit is not None:
            raise episode.limit  # Inspect logs it, and scores the sample
        if not ended.counts and ended.played:
            raise episode.fault or RuntimeError(ended.message)
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def outcome() -> Scorer:
    """Whether the episode was won, and its score, with all measures as metadata."""

    async def score(state: TaskState, target: Target) -> Score | None:
        result = state.store.get(_RESULT)
        if result is None:
            return None
        value = {"won": float(result["outcome"] == "won"), "score": result["score"]}
        measures = {**result["measures"]["numbers"], **result["usage"], **result["measures"]["counts"]}
        metadata = {**measures, "cause": result["cause"], "errors": result["measures"]["errors"]}
        return Score(value=value, answer=result["outcome"], explanation=result["message"], metadata=metadata)

    return score


@dataclass
class _Planners:
    """The planners of all samples: started with the first running episode, closed after the last."""

    setup: Setup
    users: int = 0
    pool: PlannerPool | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def used(self) -> Iterator[PlannerPool]:
        from pddlego.evaluation.resources import make_planners

        with self.lock:
            pool = self.pool = self.pool or make_planners(self.setup)
            self.users += 1
        try:
            yield pool
        finally:
            with self.lock:
                self.users -= 1
                if not self.users:
                    pool.close()
                    self.pool = None


class _Episode:
    """One episode, played in a worker thread of Inspect's event loop. It is also the model of the episode.

    Afterwards, `limit` is the limit of Inspect that ended it, and `fault` the error of a provider.
    """

    def __init__(self, cell: Cell, setup: Setup, planners: _Planners, state: TaskState) -> None:
        self.name = cell.model
        self.description: dict[str, Any] = {"model": cell.model}
        self.limit: LimitExceededError | None = None
        self.fault: Exception | None = None
        self._cell, self._setup, self._planners, self._state = cell, setup, planners, state
        self._model = get_model()
        self._cancelled = (anyio.get_cancelled_exc_class(), CancelledError)
        self._own: Model | None = None
        self._sent: Counter[tuple[Message, ...]] = Counter()

    def play(self) -> Summary:
        """Play to the end, and put the result into the sample's store."""
        from pddlego.episode.events import Outcome
        from pddlego.episode.trace import Trace
        from pddlego.evaluation.playing import make_cell_model
        from pddlego.methods.base import Tools
        from pddlego.methods.registry import measuring_of
        from pddlego.runs.journal import follow
        from pddlego.runs.summary import dump_summary, summarize

        setup, cell = self._setup, self._cell
        events: list[Event] = []
        if isinstance(self._model.api, _BuiltInAPI):
            self._own = make_cell_model(replace(cell, model=self._model.name), setup)

        def keep(event: Event, seconds: float) -> None:
            events.append(event)
            from_thread.run_sync(_log, event)
            try:
                from_thread.check_cancelled()
            except self._cancelled:
                raise KeyboardInterrupt from None  # the episode ends as interrupted

        with self._planners.used() as planner:
            left = from_thread.run_sync(_seconds_left)
            # one second more, so that Inspect's own limit ends the episode first
            seconds = _least(setup.limits.seconds, None if left is None else left + 1)
            limits = replace(setup.limits, seconds=seconds)
            tools = Tools(self, planner, limits, setup.config.limits.retries)
            follow(setup.played_in(cell).play(cell, tools), [keep])
        trace, measuring = Trace((event, 0.0) for event in events), measuring_of(cell.setting, cell.mode)
        summary = summarize(cell, 1, trace, measuring.measured)
        left = from_thread.run_sync(_seconds_left)
        if summary.outcome is Outcome.INTERRUPTED and left is not None and left <= 0:
            summary = replace(summary, outcome=Outcome.BUDGET, message="Inspect's time limit is up", cause="seconds")
        self._state.store.set(_RESULT, json.loads(dump_summary(summary)))
        return summary

    def complete(self, request: Request) -> Completion:
        """Ask Inspect's model. Raises `EpisodeOver` at a limit of Inspect, and `ModelError` if the model fails."""
        from pddlego.api.inspect_messages import completion_of, failure
        from pddlego.episode.budget import EpisodeOver
        from pddlego.episode.events import Outcome

        began = time.perf_counter()
        if self._own is not None:
            _BUILT_IN.set((self._own, request))
        try:
            output, is_cached = from_thread.run(self._generate, request)
        except LimitExceededError as error:
            self.limit = error
            raise EpisodeOver(Outcome.BUDGET, error.message, _CAUSES.get(error.type, "calls")) from error
        except self._cancelled:
            raise KeyboardInterrupt from None
        except PddlegoError:
            raise
        except Exception as error:
            self.fault = error
            raise failure(self.name, error) from error
        answer = completion_of(output, request, time.perf_counter() - began)
        return replace(answer, tokens_in=0, tokens_out=0, attempts=0, from_cache=True) if is_cached else answer

    async def _generate(self, request: Request) -> tuple[ModelOutput, bool]:
        """The answer to a request, and whether it is from Inspect's cache.

        New messages are added to those of the sample, which `--message-limit` counts.
        """
        from pddlego.api.inspect_messages import config_of, messages_of

        first = next((event.config for event in transcript().events if isinstance(event, ModelEvent)), None)
        config = config_of(request, first.temperature if first else None)
        if first and first.cache and self._sent[request.messages]:  # a repeated request wants another answer
            policy = first.cache if isinstance(first.cache, CachePolicy) else CachePolicy()
            scopes = {**policy.scopes, "asked": str(self._sent[request.messages])}
            config.cache = policy.model_copy(update={"scopes": scopes})
        self._sent[request.messages] += 1
        messages, shown = messages_of(request), [message.text for message in self._state.messages]
        self._state.messages.extend(message for message in messages if message.text not in shown)
        with anyio.move_on_after(request.seconds) as waiting:
            output = await self._model.generate(messages, config=config)
        if waiting.cancelled_caught:
            raise NoTimeLeftError(f"{self.name} did not answer in time")
        self._state.messages.append(output.message)
        self._state.output = output
        last = next((event for event in reversed(transcript().events) if isinstance(event, ModelEvent)), None)
        return output, last is not None and last.cache == "read"


_FENCE = "~" * 12
"""Encloses text that is not Markdown; longer than any fence in the text."""

_CAUSES: dict[str, Cause] = {"token": "tokens", "time": "seconds", "working": "seconds", "cost": "evaluation"}
"""Causes of `Ended`, by Inspect's names of its limits."""


def _setup(game: str, mode: str | None, seeds: object, options: dict[str, Any]) -> Setup:
    """The setup for a task. Raises Inspect's `PrerequisiteError` for invalid options."""
    from pddlego.evaluation.config import ARGUMENT, resolve
    from pddlego.evaluation.prepare import make_setup
    from pddlego.methods.registry import methods
    from pddlego.methods.shared_options import PlannerOptions
    from pddlego.util.options import names_of

    what = {**options, "games": (game,), "models": ("inspect",), "seeds": seeds}
    what |= {"modes": (mode,)} if mode is not None else {}
    names = names_of(PlannerOptions, *(method.options for method in methods()))
    names |= {"games", "modes", "models", "seeds", "set", "max_seconds", "retries"}
    try:
        return make_setup(resolve(what, os.environ, names=names, origin=ARGUMENT), sends=False)
    except PddlegoError as error:
        raise PrerequisiteError(str(error)) from error


def _log(event: Event) -> None:
    """Write an event into Inspect's transcript. Inspect writes requests and answers itself."""
    from pddlego.display.console import ASCII
    from pddlego.display.description import describe
    from pddlego.display.rows import cleaned
    from pddlego.episode.events import Answered, Asked, Ended

    if event.passing or isinstance(event, (Asked, Answered)):
        return
    description = describe(cleaned(event), ASCII)
    title = f"{event.outcome.value} {event.message}" if isinstance(event, Ended) else description.title.text
    if title.strip():
        # a title is not Markdown: `0. north` must not become a list
        heading = re.sub(r"([^\w\s])", r"\\\1", title.strip())
        body = "\n".join(line.text for line in description.body)
        transcript().info(f"**{heading}**\n\n{_FENCE}diff\n{body}\n{_FENCE}" if body else heading, source=event.type)


def _seconds_left() -> float | None:
    """The seconds until Inspect's limits of time."""
    return _least(*(limit.remaining for limit in (sample_limits().time, sample_limits().working)))


def _least(*seconds: float | None) -> float | None:
    return min((value for value in seconds if value is not None), default=None)
