"""What can be set of text games."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from pddlego.util.options import Flag, Options, option


def _text(value: object) -> object:
    """A parameter of a game as text: in a file it may be written as a number."""
    return str(int(value)) if isinstance(value, int) else value


class TextGameOptions(Options):
    """The options of an episode. `parameters` are the game's own, as `--set` gives them.

    `search` is a search for every goal, `searches` one for each goal by its name, which wins. `replan` says when the
    model is asked: on a surprise and at a plan's end, or after every step.
    """

    model_config = ConfigDict(title="Text games")

    fold: str | None = option(None, "train, dev or test.", Flag(default="as the game says"))
    max_steps: int | None = option(None, "Commands that an episode may send.", Flag(default="as the game says"), ge=1)
    search: str | None = option(
        None, "A search for every goal: bfs, astar(lmcut), gbf(hff) and more.", Flag(default="as the game says")
    )
    replan: Literal["on-surprise", "every-step"] = option(
        "on-surprise", "When to ask the model: 'on-surprise' (and at a plan's end) or 'every-step'."
    )
    history: Literal["news", "all"] = option(
        "news", "What a model is shown: 'news', or 'all' commands with their answers.", Flag(("--memory", "--history"))
    )
    rewind: bool = option(False, "Begin the game anew after a refused command, and repeat what had worked.")
    domain_from: str | None = option(None, "full: begin with the domain of this run, or of this file.", min_length=1)
    java: str | None = option(None, "A Java to use.", Flag(free=True, default="the one that comes along"))
    parameters: dict[str, Annotated[str, BeforeValidator(_text)]] = Field(default_factory=dict)
    searches: dict[str, str] = Field(default_factory=dict)


OPTIONS = TextGameOptions
