"""The arguments of `pddlego eval`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.given import given
from pddlego.cli.shared import (
    BaseUrl,
    Cache,
    ConfigFile,
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

Games = Annotated[list[str] | None, typer.Argument(help="What to play, several or one with commas. Default: coin.")]
Modes = Annotated[
    str | None,
    typer.Option(help="edit, gen, act, random; of planning domains program, plan, random: several with commas."),
]
Ablate = Annotated[
    str | None,
    typer.Option(help="Play the modes without these parts, too: feedback, tolerance, ladder, feedback+tolerance, …"),
]
Models = Annotated[
    str | None, typer.Option(help="Models, with commas; reader is built in, reader+noise:P errs on purpose.")
]
Seeds = Annotated[str | None, typer.Option(help="dev, test, or a list such as 0-9,20. Default: dev.")]
Repeats = Annotated[int | None, typer.Option(help="How often each seed is played.")]
RunName = Annotated[str | None, typer.Option("--run", help="A name for the run folder. Default: from what is played.")]
Workers = Annotated[int | None, typer.Option(help="Episodes at once. Default: 4.")]
Jobs = Annotated[int | None, typer.Option(help="Requests in flight at most. Default: 16.")]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor", "--engine", help="Where to play: threads, processes, or ray (extra cluster). Default: threads."
    ),
]
Address = Annotated[str | None, typer.Option(help="ray: the cluster. Default: one on this machine.")]
MaxCalls = Annotated[int | None, typer.Option(help="Requests that may be sent, retries too.")]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens, in and out, that may be used.")]
MaxCost = Annotated[float | None, typer.Option(help="Money that may be spent; needs --prices.")]
Prices = Annotated[str | None, typer.Option(help="A TOML file with prices for a million tokens.")]
Carry = Annotated[
    bool | None, typer.Option("--carry/--no-carry", help="full: hand the last good domain from seed to seed.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be played, and the worst case.")]


def evaluate(
    context: typer.Context,
    games: Games = None,
    config: ConfigFile = None,
    modes: Modes = None,
    ablate: Ablate = None,
    models: Models = None,
    seeds: Seeds = None,
    repeats: Repeats = None,
    run: RunName = None,
    runs: NewRuns = None,
    workers: Workers = None,
    llm_jobs: Jobs = None,
    executor: Executor = None,
    address: Address = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    prices: Prices = None,
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
    carry: Carry = None,
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
    dry_run: DryRun = False,
) -> None:
    """Play many episodes: games x modes x models x seeds. The same command again continues.

    Exit code: 0 every episode has a result, 2 wrong usage, 3 some are lost to errors or the budget, 130 interrupted.
    """
    from pddlego.cli.run_eval import run_eval

    flags = given(context, "config", "dry_run") | ({"games": ",".join(games)} if games else {})
    raise typer.Exit(run_eval(flags, config, dry_run))
