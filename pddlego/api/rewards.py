"""Rewards for answers to expert prompts: proved by the true facts, and withheld from answers that hedge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING

from pddlego.api.play import play
from pddlego.api.splits import refuse_test_seeds, setting_of
from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, Reward, RewardOf
from pddlego.methods.registry import method_of, modes
from pddlego.models.base import RuleModel
from pddlego.planning.process import ProcessPlanner
from pddlego.runs.cells import Cell

if TYPE_CHECKING:
    from pddlego.models.base import Message, Request


class Rewards(AbstractContextManager["Rewards"]):
    """Computes rewards for answers to expert prompts, with a planner that stays open."""

    def __init__(self) -> None:
        self._planner: ProcessPlanner | None = ProcessPlanner()

    def __exit__(self, *_: object) -> None:
        if self._planner is not None:
            self._planner.close()
        self._planner = None

    def __call__(self, prompt_id: str, answer: str) -> Reward:
        """The reward of an answer to a prompt of an exported row. Raises `UsageError` for an unknown prompt."""
        if self._planner is None:
            raise ValueError("these rewards are closed")
        reward_of = _reward_of(prompt_id)
        if not isinstance(answer, str):
            return Reward(reasons=("the answer is not a text",))
        return reward_of(answer, self._planner)


def reward(prompt_id: str, answer: str) -> Reward:
    """The reward of one answer. This starts a planner; use `Rewards` for many answers."""
    with Rewards() as rewards:
        return rewards(prompt_id, answer)


def _reward_of(prompt_id: str) -> RewardOf:
    """The reward function for answers to the prompt of an expert episode. Raises `UsageError` for an unknown prompt."""
    try:
        game, mode, seed, call, digest = prompt_id.split("/")
        episode, number = int(seed), int(call)
    except (ValueError, AttributeError):
        reason = "It has the form GAME/MODE/SEED/CALL/DIGEST, as exported rows have it."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from the rows of an expert.") from None
    rewarded = [known.name for known in modes() if known.rewarded]
    if mode not in rewarded:
        raise UsageError(f"Mode {mode} has no rewards", f"They are: {', '.join(rewarded)}.", "Choose one of them.")
    refuse_test_seeds(setting_of(game, mode), [episode])
    prompts = _prompts(game, mode, episode)
    if not 1 <= number <= len(prompts):
        reason = f"The expert's episode has {len(prompts)} calls."
        raise UsageError(f"Unknown prompt '{prompt_id}'", reason, "Take it from rows of an expert.")
    messages, reward_of = prompts[number - 1]
    if digest_of(messages) != digest:
        reason = "It is the prompt of another episode, or of another version of pddlego."
        raise UsageError(
            f"'{prompt_id}' is not a prompt of the expert's", reason, "Take it from the rows of an expert."
        )
    return reward_of


@lru_cache(maxsize=128)
def _prompts(game: str, mode: str, seed: int) -> tuple[tuple[tuple[Message, ...], RewardOf], ...]:
    """The prompts of an expert episode with their reward functions. It is played again, with the same prompts."""
    setting, method = setting_of(game, mode), method_of(game, mode)
    model = method.expert(Cell(game, mode, BUILT_IN_MODEL, seed), setting)
    prompts = []

    def answer(request: Request) -> str:
        text = model.complete(request).text
        prompts.append((request.messages, method.rewards(setting, mode, request, text)))
        return text

    play(game, mode, seed, model=RuleModel("expert", answer))
    return tuple(prompts)


def digest_of(messages: Iterable[Message]) -> str:
    """A digest of a prompt."""
    text = "\0".join(f"{message.role}\0{message.content}" for message in messages)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
