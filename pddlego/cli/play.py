"""The arguments of `pddlego play`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.given import given
from pddlego.errors import UsageError


def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="What to play: a file in envs/ (see 'pddlego games').")],
    mode: Annotated[
        str,
        typer.Option(
            help="edit (PDDL-edit), gen (PDDL-gen), act (the model picks commands), random, human (you type)."
        ),
    ] = "edit",
    seed: Annotated[int, typer.Option(help="Which house: a seed of the game's fold.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            help="A model's name, reader, reader+noise:P (a simulation) or transcript:FILE. Default: the reader.",
            envvar="PDDLEGO_MODEL",
            show_envvar=True,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible endpoint, such as that of vLLM or Ollama.", envvar="OPENAI_BASE_URL"),
    ] = None,
    config: Annotated[
        str | None, typer.Option("--config", help="A TOML file with options, as 'pddlego eval' takes it.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Sent to the model. Default: 1, as in the paper.")] = None,
    cache: Annotated[
        str | None,
        typer.Option(help="Answers of earlier runs: off, use, or refresh. Default: off.", envvar="PDDLEGO_CACHE"),
    ] = None,
    model_timeout: Annotated[float | None, typer.Option(help="Seconds that one answer may take. Default: 120.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the game, such as numLocations=5. Repeatable."),
    ] = None,
    fold: Annotated[str | None, typer.Option(help="train, dev or test; default as the game says.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Commands that may be sent.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Model calls that may be made.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that may be used.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds that the episode may take.")] = None,
    max_answer_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens that one answer may have: sent to the model.")
    ] = None,
    retries: Annotated[
        int | None, typer.Option(help="How often the model is asked again about an unusable answer. Default: 5.")
    ] = None,
    replan: Annotated[
        str | None, typer.Option(help="When to ask the model: 'on-surprise' (and at a plan's end) or 'every-step'.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(help="A search for every goal: bfs, astar(lmcut), gbf(hff) and more. Default: as the game says."),
    ] = None,
    planner: Annotated[
        str | None, typer.Option(help="pyperplan, or fast-downward (extra; it chooses its own search).")
    ] = None,
    planner_timeout: Annotated[
        float | None, typer.Option(help="Seconds that one planning call may take. Default: 30.")
    ] = None,
    planner_memory: Annotated[
        int | None, typer.Option(help="MiB that the planner may use; 0: no limit. Default: 4096.")
    ] = None,
    runs: Annotated[str | None, typer.Option(help="Where the run folder is made. Default: runs.")] = None,
    pace: Annotated[float, typer.Option(min=0.0, max=60.0, help="Seconds that each moment stays on a terminal.")] = 0.4,
    java: Annotated[
        str | None,
        typer.Option(help="A Java to use instead of the one that comes along.", envvar="PDDLEGO_JAVA"),
    ] = None,
    confirm: Annotated[
        str | None,
        typer.Option(help="Ask before these take effect: edits, plans, commands, several with commas."),
    ] = None,
    json_lines: Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")] = False,
) -> None:
    """Play one episode and watch it.

    Exit code: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.run_play import PlayOptions, run_play

    source = context.get_parameter_source("base_url")
    if model is None and source is not None and source.name == "COMMANDLINE":
        raise UsageError("--base-url needs a model", "No --model was given.", "Name a model that the endpoint serves.")
    own = ("game", "mode", "seed", "model", "config", "pace", "confirm", "json_lines", "max_calls", "max_tokens")
    flags = given(context, *own)
    flags |= {"games": (game,), "modes": (mode,), "seeds": str(seed), "repeats": 1, "ablate": ()}
    if model is not None:
        flags["models"] = (model,)
    raise typer.Exit(run_play(flags, PlayOptions(config, max_calls, max_tokens, pace, confirm or "", json_lines)))
