"""The arguments of `pddlego resume`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.shared import Confirm, Java, Pace, Run


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
    confirm: Confirm = None,
    runs: Annotated[str, typer.Option(help="Where the new run folder is made.")] = "runs",
    pace: Pace = 0.4,
    java: Java = None,
) -> None:
    """Go back to a step of an episode, correct the problem there, and let the agent play on as a new episode.

    Exit code as for play: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.run_resume import ResumeOptions, run_resume

    raise typer.Exit(
        run_resume(
            ResumeOptions(
                run=run,
                from_step=from_step,
                seed=seed,
                problem=problem,
                edit=edit,
                model=model,
                base_url=base_url,
                max_steps=max_steps,
                confirm=confirm,
                runs=runs,
                pace=pace,
                java=java,
            )
        )
    )
