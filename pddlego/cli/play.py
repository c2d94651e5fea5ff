"""The arguments of `pddlego play`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.given import given
from pddlego.cli.shared import (
    BaseUrl,
    Cache,
    ConfigFile,
    Confirm,
    DomainFrom,
    EvalTimeout,
    ExtraBody,
    Fold,
    History,
    IsolationName,
    Java,
    Kappa,
    Levels,
    MaxAnswerTokens,
    MaxSeconds,
    MaxSteps,
    ModelTimeout,
    NewRuns,
    Pace,
    Parity,
    PlannerMemory,
    PlannerName,
    PlannerTimeout,
    Prune,
    ReasoningEffort,
    Replan,
    Retries,
    Rewind,
    Search,
    Set,
    SortBy,
    Stream,
    TasksPlace,
    Temperature,
)

Game = Annotated[str, typer.Argument(help="What to play: a file in envs/ (see 'pddlego games').")]
PlayMode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="Of games: edit (PDDL-edit, the default), gen (PDDL-gen), act (the model picks commands), random, human "
        "(you type). Of planning domains: program (the default), plan, random, tos, graphplan, plan-by-model; of "
        "search problems tos.",
    ),
]
Seed = Annotated[int, typer.Option(help="Which house: a seed of the game's fold.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="A model's name, reader, reader+noise:P (a simulation) or transcript:FILE. Default: the reader.",
        envvar="PDDLEGO_MODEL",
        show_envvar=True,
    ),
]
MaxCalls = Annotated[int | None, typer.Option(min=1, help="Model calls that may be made.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that may be used.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")]


def play(
    context: typer.Context,
    game: Game,
    mode: PlayMode = None,
    seed: Seed = 0,
    model: ModelName = None,
    config: ConfigFile = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    runs: NewRuns = None,
    pace: Pace = 0.4,
    confirm: Confirm = None,
    json_lines: JsonLines = False,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    reasoning_effort: ReasoningEffort = None,
    extra_body: ExtraBody = None,
    stream: Stream = None,
    cache: Cache = None,
    model_timeout: ModelTimeout = None,
    max_answer_tokens: MaxAnswerTokens = None,
    set_: Set = None,
    fold: Fold = None,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
    search: Search = None,
    retries: Retries = None,
    replan: Replan = None,
    history: History = None,
    rewind: Rewind = None,
    domain_from: DomainFrom = None,
    planner: PlannerName = None,
    planner_timeout: PlannerTimeout = None,
    planner_memory: PlannerMemory = None,
    prune: Prune = None,
    sort: SortBy = None,
    kappa: Kappa = None,
    levels: Levels = None,
    java: Java = None,
    tasks: TasksPlace = None,
    eval_timeout: EvalTimeout = None,
    parity: Parity = None,
    isolation: IsolationName = None,
) -> None:
    """Play one episode and watch it.

    Exit code: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.run_play import PlayOptions, run_play
    from pddlego.methods.registry import first_mode

    own = ("game", "mode", "seed", "model", "config", "pace", "confirm", "json_lines", "max_calls", "max_tokens")
    flags = given(context, *own)
    flags |= {"games": (game,), "modes": (mode or first_mode(game),), "seeds": str(seed), "repeats": 1, "ablate": ()}
    if model is not None:
        flags["models"] = (model,)
    raise typer.Exit(run_play(flags, PlayOptions(config, max_calls, max_tokens, pace, confirm or "", json_lines)))
