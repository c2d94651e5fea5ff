"""The arguments of `pddlego watch`, `show`, `replay` and `resume`."""

from __future__ import annotations

from typing import Annotated

import typer

Run = Annotated[str, typer.Argument(help="A run folder, a journal in its folder episodes/, or latest.")]
Runs = Annotated[str, typer.Option(help="Where run folders are.")]
Java = Annotated[
    str | None, typer.Option(help="A Java to use instead of the one that comes along.", envvar="PDDLEGO_JAVA")
]


def watch(
    run: Annotated[str | None, typer.Argument(help="A run folder. Default: the newest.")] = None,
    runs: Runs = "runs",
    grid: Annotated[int, typer.Option(min=0, max=64, help="Show so many small maps at once.")] = 0,
) -> None:
    """Follow running episodes from another terminal, by their journals: a list, one of them, or many maps."""
    from pddlego.cli.run_see import run_watch

    raise typer.Exit(run_watch(run, runs, grid))


def show(
    run: Run,
    seed: Annotated[int | None, typer.Argument(help="Which episode, where there are several.")] = None,
    step: Annotated[int | None, typer.Option(min=0, help="Where to begin; what to print.")] = None,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    svg: Annotated[str | None, typer.Option(help="Write what is on screen at that step to an SVG file.")] = None,
    gif: Annotated[str | None, typer.Option(help="Write the whole episode to a GIF file (extra gif).")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the pictures.")] = "120x36",
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers."""
    from pddlego.cli.run_see import ShowOptions, run_show

    raise typer.Exit(run_show(ShowOptions(run, seed, step, problem, svg, gif, size)))


def replay(
    run: Run,
    seed: Annotated[int | None, typer.Option(help="Only the episodes of this seed.")] = None,
    java: Java = None,
) -> None:
    """Play recorded episodes again without any model call, and check that everything comes out the same.

    Exit code: 0 the same, 1 a difference, 2 wrong usage, 3 the engine failed.
    """
    from pddlego.cli.run_again import run_replay

    raise typer.Exit(run_replay(run, seed, java))


def resume(
    run: Run,
    from_step: Annotated[int, typer.Option(min=0, help="The step after which to go on.")],
    seed: Annotated[int | None, typer.Option(help="Which episode, where there are several.")] = None,
    problem: Annotated[str | None, typer.Option(help="A problem file to go on with.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Edit the problem in $EDITOR and go on with that.")] = False,
    model: Annotated[str | None, typer.Option(help="Another model. Default: that of the episode.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Another endpoint. Default: that of the episode.", envvar="OPENAI_BASE_URL")
    ] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Commands that may be sent, those before too.")] = None,
    confirm: Annotated[
        str | None, typer.Option(help="Ask before these take effect: edits, plans, commands, several with commas.")
    ] = None,
    runs: Annotated[str, typer.Option(help="Where the new run folder is made.")] = "runs",
    pace: Annotated[float, typer.Option(min=0.0, max=60.0, help="Seconds that each moment stays on a terminal.")] = 0.4,
    java: Java = None,
) -> None:
    """Go back to a step of an episode, correct the problem there, and let the agent play on as a new episode.

    Exit code as for play: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.run_again import ResumeOptions, run_resume

    raise typer.Exit(
        run_resume(
            ResumeOptions(run, from_step, seed, problem, edit, model, base_url, max_steps, confirm, runs, pace, java)
        )
    )
