"""TRL: an environment factory for `GRPOTrainer`, and the rows of its dataset. TRL itself is not imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pddlego.api.environment import Environment, StepResult
from pddlego.api.splits import refuse_test_seeds, seeds_of, setting_of
from pddlego.errors import UsageError
from pddlego.models.prompts import Prompts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import EpisodeOptions


def environment_factory(game: str, mode: str | None = None, **options: Unpack[EpisodeOptions]) -> type[Any]:
    """A class for `GRPOTrainer(environment_factory=…)`: each instance plays the episode of its row's seed.

    The reward of an episode is the sum of the rewards of `pddlego.Environment`, from 0 to 1. TRL pools instances and
    never closes them, so `reset` ends the episode before. Raises `UsageError` for a game or mode that does not exist.
    """
    first = Environment(game, mode, **options)  # fails early, and keeps the planner open as long as the class exists

    class PddlegoEpisode:
        """An episode, with the tool `answer`."""

        _first = first

        def __init__(self) -> None:
            self._environment = Environment(game, first.mode, **options)
            self._value: float | None = 0.0
            self._observed = StepResult("")

        def reset(self, seed: int, **_: Any) -> str:
            """Begin the episode of a row; returns the first question, which TRL appends to the prompt."""
            if seed is None:
                raise UsageError("A row has no seed", "All rollouts of a row play its seed.", "Use the rows of rows().")
            self._value = None
            self._observed = self._environment.reset(seed)
            self._value = self._observed.reward  # of an episode that fixed rules win without a question
            return self._observed.text

        def answer(self, answer: str) -> str:
            """Answer the current question.

            Args:
                answer: The answer, exactly as the question asks for it.

            Returns:
                The next question, or how the episode ended.
            """
            if self._observed.done:
                return "The episode is over."
            text = (
                answer if isinstance(answer, str) else json.dumps(answer)
            )  # a tool call may hold an edit as an object
            value, self._value = self._value, None
            self._observed = self._environment.step(text)
            if value is not None and self._observed.reward is not None:
                self._value = value + self._observed.reward
            return self._observed.text

        def get_reward(self) -> float | None:
            """The value of the episode so far, from 0 to 1; None if the system ended it, which TRL leaves out."""
            return self._value

    return PddlegoEpisode


def dataset_rows(game: str, mode: str | None = None, seeds: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """The rows of a dataset, for `datasets.Dataset.from_list`: a prompt, and the seed, which all its rollouts share.

    Without `seeds`, those of the split `train`. Raises `UsageError` for a seed of the split `test`.
    """
    setting = setting_of(game, mode)
    chosen = seeds_of(setting, "train") if seeds is None else seeds
    refuse_test_seeds(setting, chosen)
    prompt = [{"role": "user", "content": Prompts("trainers").render("trl")}]
    return [{"prompt": prompt, "seed": seed} for seed in chosen]
