"""Training data from episodes (conversations, preferences, trajectories), expert episodes, and rewards for answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pddlego.api.play import play
from pddlego.episode.events import Accepted, Answered, Asked, Judged, Rejected, step_of
from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.registry import first_mode, method_of
from pddlego.methods.textgames.formalize import ProblemProposal, Situation
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.truth.judge import Judge
from pddlego.pddl.exclusive import contradictions
from pddlego.planning.ladder import climb
from pddlego.planning.process import ProcessPlanner
from pddlego.runs.cells import Cell
from pddlego.runs.store import installed_version
from pddlego.util.answers import spoken

if TYPE_CHECKING:
    from pddlego.api.results import Episode
    from pddlego.methods.base import Setting
    from pddlego.models.base import Completion, Message, Model, Request

_REWARDED = ("edit", "gen")
"""The modes whose answers have rewards: those in which the model writes the problem."""


@dataclass(frozen=True)
class Call:
    """A request of an episode with its answer. `number` counts from 1; `attempt` counts retries from 0.

    `accepted` is None if the episode does not say whether the answer was accepted; `feedback` says why it was rejected.
    """

    number: int
    step: int
    purpose: str
    attempt: int
    messages: tuple[Message, ...]
    completion: Completion
    accepted: bool | None = None
    feedback: str = ""


def calls_of(episode: Episode) -> list[Call]:
    """The answered requests of an episode, in order.

    In text games and builders, the event that follows an answer accepts or rejects it. Several answers in the same
    attempt, as in mode `full-steps`, are accepted or rejected together.
    """
    calls: list[Call] = []
    asked: Asked | None = None
    step, first, is_open = 0, 0, False
    judged = episode.recorded.started.played_by in ("textgames", "builders")
    for event in episode.events:
        step = step_of(event) or step
        if isinstance(event, Asked):
            asked = event
        elif isinstance(event, Answered) and asked is not None:
            is_next = is_open and (asked.purpose, asked.attempt) == (calls[-1].purpose, calls[-1].attempt)
            first = first if is_next else len(calls)
            calls.append(Call(event.call, step, asked.purpose, asked.attempt, asked.messages, event.completion))
            is_open = judged
            continue
        if not is_open:
            continue
        if isinstance(event, Rejected):
            calls[first:] = (replace(call, accepted=False, feedback=event.feedback.message) for call in calls[first:])
        elif isinstance(event, Accepted) and event.source == "model":
            calls[first:] = (replace(call, accepted=True) for call in calls[first:])
        elif getattr(event, "command", None) is not None:  # the answer was a command
            accepted = not getattr(event, "refused", False)
            calls[first:] = (replace(call, accepted=accepted) for call in calls[first:])
        elif not (isinstance(event, Judged) and event.decision == "replaced"):
            continue
        is_open = False
    return calls


def chat_rows(
    episode: Episode, *, accepted_only: bool = False, without_thinking: bool = False
) -> Iterator[dict[str, Any]]:
    """A row for each answer: `messages` for chat fine-tuning, which end with the answer, and its feedback.

    Reasoning that the endpoint returned separately is the `reasoning_content` of the answer.
    """
    about = _about(episode)
    for call in calls_of(episode):
        if call.accepted or not accepted_only:
            messages = [*_messages(call.messages, without_thinking), _answer(call.completion, without_thinking)]
            yield {
                "prompt_id": prompt_id(episode, call),
                "messages": messages,
                **about,
                "step": call.step,
                "call": call.number,
                "purpose": call.purpose,
                "attempt": call.attempt,
                "accepted": call.accepted,
                "feedback": call.feedback,
            }


def preference_rows(episode: Episode, *, without_thinking: bool = False) -> Iterator[dict[str, Any]]:
    """A row for each rejected answer that was followed by an accepted one: `prompt`, `chosen` and `rejected`.

    The prompt is that of the first attempt. The prompt of a retry extends it by the feedback. If it contains more, such
    as another look around or the whole history, the answers are not comparable, and there is no row.
    """
    about, tries = _about(episode), list[Call]()
    for call in calls_of(episode):
        same = tries and call.attempt and call.purpose == tries[-1].purpose
        tries = [*tries, call] if same else [call]
        for bad in tries[:-1] if call.accepted else ():
            if bad.accepted is False and _continues(tries[0].messages, call.messages):
                yield {
                    "prompt_id": prompt_id(episode, tries[0]),
                    "prompt": _messages(tries[0].messages, without_thinking),
                    "chosen": [_answer(call.completion, without_thinking)],
                    "rejected": [_answer(bad.completion, without_thinking)],
                    **about,
                    "step": call.step,
                    "purpose": call.purpose,
                    "feedback": bad.feedback,
                }


def _continues(first: Sequence[Message], later: Sequence[Message]) -> bool:
    """Whether each message of a request begins with the corresponding message of an earlier request."""
    pairs = list(zip(first, later, strict=False))
    return len(first) <= len(later) and all(new.content.startswith(old.content) for old, new in pairs)


def trajectory(episode: Episode, *, without_thinking: bool = False) -> dict[str, Any]:
    """The episode in the Agent Trajectory Interchange Format, version 1.7.

    A step of the agent is an answer, with the commands that followed as tool calls, and the game's responses as
    observations. Commands without an answer are steps without a model call. Each message is one step, where it is first
    sent; messages that a request repeats from the last one are left out.
    """
    usage = episode.usage
    steps = [{"step_id": number, **step} for number, step in enumerate(_atif_steps(episode, without_thinking), 1)]
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": episode.cell.label,
        "agent": {
            "name": "pddlego",
            "version": installed_version("pddlego"),
            "model_name": episode.model,
            "extra": {"mode": episode.mode},
        },
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": usage.tokens_in,
            "total_completion_tokens": usage.tokens_out,
            "total_cached_tokens": usage.tokens_cached,
            "total_steps": len(steps),
        },
        "extra": {**_about(episode), "commands": usage.steps},
    }


def _atif_steps(episode: Episode, without_thinking: bool) -> Iterator[dict[str, Any]]:
    calls = iter(calls_of(episode))
    open_step: dict[str, Any] | None = None
    sent: tuple[Message, ...] = ()
    for event in episode.events:
        command = getattr(event, "command", None)
        if isinstance(event, Asked):
            if open_step is not None:
                yield open_step
            open_step = None
            for message in event.messages:
                if message not in sent and message.role != "assistant":
                    yield {"source": message.role, "message": message.content}
            sent = event.messages
        elif isinstance(event, Answered):
            open_step = _agent_step(next(calls), without_thinking)
        elif command is not None:
            open_step = open_step or {"source": "agent", "message": "", "llm_call_count": 0}
            number = len(open_step.setdefault("tool_calls", []))
            call_id = f"call_{getattr(event, 'step', 0)}_{number}"
            open_step["tool_calls"].append(
                {"tool_call_id": call_id, "function_name": "command", "arguments": {"command": command}}
            )
            results = open_step.setdefault("observation", {"results": []})["results"]
            results.append({"source_call_id": call_id, "content": str(getattr(event, "text", ""))})
        elif open_step is None and hasattr(event, "text") and hasattr(event, "command"):
            yield {"source": "user", "message": str(event.text)}
    if open_step is not None:
        yield open_step


def _agent_step(call: Call, without_thinking: bool) -> dict[str, Any]:
    answer = call.completion
    answered = _answer(answer, without_thinking)
    step: dict[str, Any] = {
        "source": "agent",
        "message": answered["content"],
        "llm_call_count": 1,
        "metrics": {
            "prompt_tokens": answer.tokens_in,
            "completion_tokens": answer.tokens_out,
            "cached_tokens": answer.tokens_cached,
        },
        "extra": {"accepted": call.accepted, "feedback": call.feedback, "purpose": call.purpose},
    }
    return step | {name: text for name, text in answered.items() if name == "reasoning_content"}


def _about(episode: Episode) -> dict[str, Any]:
    """The columns about the episode, which every row has."""
    return {
        "game": episode.game,
        "mode": episode.mode,
        "model": episode.model,
        "seed": episode.seed,
        "repeat": episode.cell.repeat,
        "split": split_of(episode.recorded.played.setting, episode.seed),
        "outcome": episode.outcome.value,
        "score": episode.score,
        "first_error": episode.summary.measures.first_error,
    }


def split_of(setting: Setting, seed: int) -> str:
    """The name of the split that contains the seed, such as `test`; `train` if no split does.

    If the setting plays another fold of the game than `train`, the split is called like the fold.
    """
    fold = getattr(getattr(setting, "game", None), "fold", "train")
    if fold != "train":
        return str(fold)
    names = sorted((name for name, seeds in setting.seeds.items() if seed in seeds), key=lambda name: name != "test")
    return names[0] if names else "train"


def prompt_id(episode: Episode, call: Call) -> str:
    """The identifier of a prompt: game, mode, seed, number of the call, and a digest of the messages."""
    return f"{episode.game}/{episode.mode}/{episode.seed}/{call.number}/{_digest(call.messages)}"


def _digest(messages: Iterable[Message]) -> str:
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _messages(messages: Iterable[Message], without_thinking: bool) -> list[dict[str, str]]:
    return [
        {
            "role": message.role,
            "content": spoken(message.content).lstrip()
            if without_thinking and message.role == "assistant"
            else message.content,
        }
        for message in messages
    ]


def _answer(completion: Completion, without_thinking: bool) -> dict[str, str]:
    content = spoken(completion.text).lstrip() if without_thinking else completion.text
    answer = {"role": "assistant", "content": content}
    if without_thinking or not completion.reasoning:
        return answer
    return {**answer, "reasoning_content": completion.reasoning}


def expert(game: str, mode: str | None = None, seeds: Sequence[int] | range | None = None) -> Iterator[Episode]:
    """Episodes of the built-in model, whose answers are correct for every prompt that a language model would get.

    Without `seeds`, all seeds outside of splits are played. Raises `UsageError` for a seed of the split `test`, which
    must not become training data, and for a game that the built-in model cannot play.
    """
    setting = setting_of(game, mode)
    chosen = [seed for seed in setting.all_seeds if split_of(setting, seed) == "train"] if seeds is None else seeds
    _refuse_test_seeds(setting, chosen)
    for seed in chosen:
        yield play(game, mode, seed, model=BUILT_IN_MODEL)


def _refuse_test_seeds(setting: Setting, seeds: Iterable[int]) -> None:
    leaked = next((seed for seed in seeds if split_of(setting, seed) == "test"), None)
    if leaked is not None:
        reason = f"Seed {leaked} is in the split test, with which models are compared."
        raise UsageError(f"{setting.name}: test seeds are not for training", reason, "Choose other seeds.")


def setting_of(game: str, mode: str | None) -> Setting:
    """The setting as the mode plays it. Raises `UsageError` for an unknown one."""
    method = method_of(game, mode or first_mode(game))
    return method.load(game, method.options())


@dataclass(frozen=True)
class Reward:
    """The reward of an answer. Each part is from 0 to 1.

    `parsed`: the answer can be read, and its problem can be planned with. `consistent`: the problem does not contradict
    itself. `right`: the improvement over the previous problem in the harmonic mean of precision and recall of facts,
    as a share of the possible improvement. `planned`: a goal of the ladder has a plan.
    """

    parsed: float = 0.0
    consistent: float = 0.0
    right: float = 0.0
    planned: float = 0.0

    @property
    def value(self) -> float:
        """`right`, halved if the problem contradicts itself, and again if no goal has a plan."""
        return self.parsed * self.right * (0.5 + self.consistent / 2) * (0.5 + self.planned / 2)


class Rewards(AbstractContextManager["Rewards"]):
    """Computes rewards for answers to expert prompts, with a planner that stays open."""

    def __init__(self) -> None:
        self._planner: ProcessPlanner | None = ProcessPlanner()

    def __enter__(self) -> Rewards:
        return self

    def __exit__(self, *_: object) -> None:
        if self._planner is not None:
            self._planner.close()
        self._planner = None

    def __call__(self, prompt_id: str, answer: str) -> Reward:
        """The reward of an answer to a prompt of an exported row. Raises `UsageError` for an unknown prompt."""
        if self._planner is None:
            raise ValueError("these rewards are closed")
        prompt = _prompt_of(prompt_id)
        if not isinstance(answer, str):
            return Reward()
        proposal = prompt.read(answer)
        if proposal.feedback is not None:
            return Reward()
        known = proposal.knowledge
        plan = climb(self._planner, known.domain, known.problem, known.ladder).plan
        return Reward(
            parsed=1.0,
            consistent=float(not contradictions(known.problem, known.invariants)),
            right=prompt.gain(proposal),
            planned=float(plan is not None),
        )


def reward(prompt_id: str, answer: str) -> Reward:
    """The reward of one answer. This starts a planner; use `Rewards` for many answers."""
    with Rewards() as rewards:
        return rewards(prompt_id, answer)


@dataclass(frozen=True)
class _ExpertPrompt:
    """A prompt of an expert episode, with the situation from which it was rendered, and the expert's answer."""

    setting: Any
    mode: str
    situation: Situation
    messages: tuple[Message, ...]
    answer: str

    def read(self, answer: str) -> ProblemProposal:
        """Read an answer in the situation of the prompt."""
        proposal = make_method(self.mode, self.setting, 0).read(answer, self.situation)
        assert isinstance(proposal, ProblemProposal), "only modes that write problems have rewards"
        return proposal

    def gain(self, proposal: ProblemProposal) -> float:
        """The improvement by a proposal as a share of the possible improvement, from 0 (none) to 1 (all)."""
        before = self._agreement(replace(proposal, knowledge=self.situation.knowledge))
        after = self._agreement(proposal)
        return after if before >= 1 else max(0.0, (after - before) / (1 - before))

    def _agreement(self, proposal: ProblemProposal) -> float:
        """The harmonic mean of precision and recall of the facts, compared with the expert's facts."""
        true = self.read(self.answer).knowledge
        judge = Judge(self.setting.claims, true.placeholder)
        judge.reference_changed(true.problem, ())
        checked = judge.judge(proposal.problem, true, (), 0)
        right = sum(checked.right.values())
        missing = sum(error.verdict == "missing" for error in checked.errors)
        wrong = len(checked.errors) - missing
        return 2 * right / (2 * right + missing + wrong) if right else float(not checked.errors)


def _prompt_of(prompt_id: str) -> _ExpertPrompt:
    """The prompt of an expert episode with this identifier. Raises `UsageError` if it does not exist."""
    try:
        game, mode, seed, call, digest = prompt_id.split("/")
        episode, number = int(seed), int(call)
    except (ValueError, AttributeError):
        reason = "It has the form GAME/MODE/SEED/CALL/DIGEST, as exported rows have it."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from the rows of an expert.") from None
    if mode not in _REWARDED:
        raise UsageError(f"Mode {mode} has no rewards", f"They are: {', '.join(_REWARDED)}.", "Choose one of them.")
    _refuse_test_seeds(setting_of(game, mode), [episode])
    prompts = _prompts(game, mode, episode)
    if not 1 <= number <= len(prompts):
        reason = f"The expert's episode has {len(prompts)} calls."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from rows of an expert.")
    prompt = prompts[number - 1]
    if _digest(prompt.messages) != digest:
        reason = "It is the prompt of another episode, or of another version of pddlego."
        raise UsageError(
            f"'{prompt_id}' is not a prompt of the expert's", reason, "Take it from the rows of an expert."
        )
    return prompt


@lru_cache(maxsize=128)
def _prompts(game: str, mode: str, seed: int) -> tuple[_ExpertPrompt, ...]:
    """The prompts of an expert episode. It is played again, which gives the same prompts."""
    setting = setting_of(game, mode)
    model = method_of(game, mode).builtin_model(BUILT_IN_MODEL, Cell(game, mode, BUILT_IN_MODEL, seed), setting)
    assert model is not None, "the name of the built-in model"
    recorder = _Recorder(setting, mode, model)
    play(game, mode, seed, model=recorder)
    return tuple(recorder.prompts)


class _Recorder:
    """The built-in model, which records its prompts."""

    name = "expert"
    description: Mapping[str, Any] = {}

    def __init__(self, setting: Setting, mode: str, model: Model) -> None:
        self._setting, self._mode, self._model = setting, mode, model
        self.prompts: list[_ExpertPrompt] = []

    def complete(self, request: Request) -> Completion:
        completion, situation = self._model.complete(request), request.context
        assert isinstance(situation, Situation), "text games send it"
        self.prompts.append(_ExpertPrompt(self._setting, self._mode, situation, request.messages, completion.text))
        return completion
