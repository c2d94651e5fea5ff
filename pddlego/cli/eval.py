"""The arguments of `pddlego eval`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.given import given

Games = Annotated[list[str] | None, typer.Argument(help="What to play, several or one with commas. Default: coin.")]
ConfigFile = Annotated[str | None, typer.Option("--config", help="A TOML file with the same names as the options.")]


def evaluate(
    context: typer.Context,
    games: Games = None,
    config: ConfigFile = None,
    modes: Annotated[str | None, typer.Option(help="edit, gen, act, random: several with commas.")] = None,
    ablate: Annotated[
        str | None,
        typer.Option(help="Play edit and gen without these, too: feedback, tolerance, remedies, feedback+tolerance."),
    ] = None,
    models: Annotated[
        str | None, typer.Option(help="Models, with commas; reader is built in, reader+noise:P errs on purpose.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="dev, test, or a list such as 0-9,20. Default: dev.")] = None,
    repeats: Annotated[int | None, typer.Option(help="How often each seed is played.")] = None,
    run: Annotated[str | None, typer.Option(help="A name for the run folder. Default: from what is played.")] = None,
    runs: Annotated[str | None, typer.Option(help="Where run folders are made. Default: runs.")] = None,
    workers: Annotated[int | None, typer.Option(help="Episodes at once. Default: 4.")] = None,
    llm_jobs: Annotated[int | None, typer.Option(help="Requests in flight at most. Default: 16.")] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            "--engine",
            help="Where to play: threads, processes, or ray (extra cluster). Default: threads.",
        ),
    ] = None,
    address: Annotated[str | None, typer.Option(help="ray: the cluster. Default: one on this machine.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Requests that may be sent, retries too.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens, in and out, that may be used.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Money that may be spent; needs --prices.")] = None,
    prices: Annotated[str | None, typer.Option(help="A TOML file with prices for a million tokens.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the games.")
    ] = None,
    fold: Annotated[str | None, typer.Option(help="train, dev or test; default as the game says.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Commands that an episode may send.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds that an episode may take.")] = None,
    search: Annotated[str | None, typer.Option(help="A search for every goal. Default: as the game says.")] = None,
    retries: Annotated[int | None, typer.Option(help="Repeated questions about an unusable answer.")] = None,
    replan: Annotated[str | None, typer.Option(help="on-surprise or every-step.")] = None,
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible endpoint.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Sent to the model. Default: 1.")] = None,
    cache: Annotated[
        str | None, typer.Option(help="Answers of earlier runs: off, use, or refresh. Default: off.")
    ] = None,
    model_timeout: Annotated[float | None, typer.Option(help="Seconds that one answer may take.")] = None,
    max_answer_tokens: Annotated[
        int | None, typer.Option(help="Tokens that one answer may have: sent to the model, and reserved.")
    ] = None,
    planner: Annotated[str | None, typer.Option(help="pyperplan or fast-downward.")] = None,
    planner_timeout: Annotated[float | None, typer.Option(help="Seconds that one planning call may take.")] = None,
    planner_memory: Annotated[int | None, typer.Option(help="MiB that a planner may use; 0: no limit.")] = None,
    java: Annotated[str | None, typer.Option(help="A Java to use instead of the one that comes along.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be played, and the worst case.")
    ] = False,
) -> None:
    """Play many episodes: games x modes x models x seeds. The same command again continues.

    Exit code: 0 every episode has a result, 2 wrong usage, 3 some are lost to errors or the budget, 130 interrupted.
    """
    from pddlego.cli.run_eval import run_eval

    flags = given(context, "config", "dry_run")
    if games:
        flags["games"] = ",".join(games)
    raise typer.Exit(run_eval(flags, config, dry_run))
