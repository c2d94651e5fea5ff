"""Training data from episodes (conversations, preferences, trajectories), expert episodes, and rewards for answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pddlego.api.play import play
from pddlego.api.rewards import Rewards, digest_of, reward
from pddlego.api.splits import refuse_test_seeds, seeds_of, setting_of, split_of
from pddlego.episode.events import Answered, Asked
from pddlego.episode.trace import Call
from pddlego.methods.base import BUILT_IN_MODEL, Reward
from pddlego.runs.store import installed_version
from pddlego.util.answers import spoken

if TYPE_CHECKING:
    from pddlego.api.results import Episode
    from pddlego.models.base import Completion, Message

__all__ = [
    "Call",
    "Reward",
    "Rewards",
    "calls_of",
    "chat_rows",
    "expert",
    "preference_rows",
    "prompt_id",
    "reward",
    "trajectory",
]


def calls_of(episode: Episode) -> list[Call]:
    """The answered requests of an episode, in order; without verdicts if its method does not judge each answer."""
    calls, judged = episode.recorded.trace.calls, episode.recorded.played.method.judges_each_answer
    return calls if judged else [replace(call, verdict=None) for call in calls]


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


def prompt_id(episode: Episode, call: Call) -> str:
    """The identifier of a prompt: game, mode, seed, number of the call, and a digest of the messages."""
    return f"{episode.game}/{episode.mode}/{episode.seed}/{call.number}/{digest_of(call.messages)}"


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
    seed_numbers = seeds_of(setting, "train") if seeds is None else seeds
    refuse_test_seeds(setting, seed_numbers)
    for seed in seed_numbers:
        yield play(game, mode, seed, model=BUILT_IN_MODEL)
