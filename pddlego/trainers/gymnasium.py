"""Gymnasium: a game as a `gymnasium.Env` whose observations and actions are texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.spaces import Text

from pddlego.api.environment import Environment, StepResult
from pddlego.api.splits import Split, seeds_of
from pddlego.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import EpisodeOptions

_LONGEST = 1_000_000
"""Characters of an observation and of an action: as many as `pddlego serve` takes."""


def make(
    game: str, mode: str | None = None, *, split: Split = "train", **options: Unpack[EpisodeOptions]
) -> gymnasium.Env[str, str]:
    """An environment of a game in a mode; `options` are those of `play`.

    Raises `UsageError` for a game, a mode or a split that does not exist, and for a mode in which no model answers.
    """
    return TextEnv(Environment(game, mode, split=split, **options))


class AnyText(Text):
    """All texts up to a length. Samples have letters and digits."""

    def __init__(self) -> None:
        super().__init__(_LONGEST, min_length=0)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        length = int(self.np_random.integers(1, 40))
        return super().sample((length, None))


class TextEnv(gymnasium.Env[str, str]):
    """Episodes of an `Environment`: an observation is its next question, an action is the model's answer.

    `reset(seed=…)` seeds the choice of games: the same seed gives the same games in the same order. Each `reset` plays
    a random game of the split, or the one named in `options={"game_seed": 60}`. An episode that the model has won or
    lost is terminated. It is truncated if a limit, or an error of the system, has ended it; `info["outcome"]` says how
    it ended. After an error, `info["system_error"]` says why, and the reward, 0, is not a measure of the answer.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.observation_space, self.action_space = AnyText(), AnyText()
        self._seeds = seeds_of(environment.setting, environment.split or "train")
        self._ended: StepResult | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode. Raises `UsageError` for a `game_seed` that is not in the split, and for other options."""
        if unknown := sorted((options or {}).keys() - {"game_seed"}):
            what = f"reset has no option '{unknown[0]}'"
            raise UsageError(what, "Its only option is game_seed, the seed of the game.", 'Write {"game_seed": 60}.')
        super().reset(seed=seed)
        chosen = self._seeds[int(self.np_random.integers(len(self._seeds)))]
        game_seed = (options or {}).get("game_seed", chosen)
        observed = self.environment.reset(game_seed)
        self._ended = observed if observed.done else None
        return observed.text, {"game_seed": game_seed, **self._info(observed)}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Answer the question. Raises `UsageError` after the end of the episode.

        Gymnasium has no end in `reset`: an episode that ended there, without a question, ends in the first step.
        """
        observed, self._ended = self._ended or self.environment.step(action), None
        info = self._info(observed)
        over = observed.done and info["outcome"] in ("won", "lost", "no plan")
        terminated = over and not observed.system_error
        return observed.text, observed.reward or 0.0, terminated, observed.done and not terminated, info

    def close(self) -> None:
        """End the episode and close the environment."""
        self.environment.close()

    def _info(self, observed: StepResult) -> dict[str, Any]:
        return {
            "valid_commands": observed.valid_commands,
            "accepted": observed.accepted,
            "reasons": observed.reasons,
            "score": observed.score,
            "outcome": self.environment.episode.outcome.value if observed.done else "",
            "system_error": observed.system_error,
        }
