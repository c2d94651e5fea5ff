"""Options and arguments that several commands have, each with what it means."""

from __future__ import annotations

from typing import Annotated

import typer

Run = Annotated[
    str, typer.Argument(help="A run folder, its name in runs/, a journal in its folder episodes/, or latest.")
]
Runs = Annotated[str, typer.Option(help="Where run folders are.")]
ConfigFile = Annotated[str | None, typer.Option("--config", help="A TOML file with the same names as the options.")]
NewRuns = Annotated[str | None, typer.Option(help="Where run folders are made. Default: runs.")]
Pace = Annotated[float, typer.Option(min=0.0, max=60.0, help="Seconds that each moment stays on a terminal.")]
Confirm = Annotated[
    str | None, typer.Option(help="Ask before these take effect: edits, plans, commands, several with commas.")
]
Java = Annotated[
    str | None, typer.Option(help="A Java to use instead of the one that comes along.", envvar="PDDLEGO_JAVA")
]

# what determines an episode

Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the game, such as numLocations=5. Repeatable."),
]
Fold = Annotated[str | None, typer.Option(help="train, dev or test; default as the game says.")]
MaxSteps = Annotated[int | None, typer.Option(help="Commands that an episode may send.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Seconds that an episode may take.")]
Search = Annotated[
    str | None,
    typer.Option(help="A search for every goal: bfs, astar(lmcut), gbf(hff) and more. Default: as the game says."),
]
Retries = Annotated[
    int | None,
    typer.Option(help="How often to ask again about an unusable answer (in tos: --set answers=N). Default: 5."),
]
Replan = Annotated[
    str | None, typer.Option(help="When to ask the model: 'on-surprise' (and at a plan's end) or 'every-step'.")
]

History = Annotated[
    str | None,
    typer.Option("--memory", "--history", help="What a model is shown: 'news', or 'all' commands with their answers."),
]
Rewind = Annotated[
    bool | None, typer.Option("--rewind/--no-rewind", help="Begin the game anew after a refused command.")
]
DomainFrom = Annotated[str | None, typer.Option(help="full: begin with the domain of this run, or of this file.")]

# the model

BaseUrl = Annotated[
    str | None,
    typer.Option(help="An OpenAI-compatible endpoint, such as that of vLLM or Ollama.", envvar="OPENAI_BASE_URL"),
]
Temperature = Annotated[float | None, typer.Option(help="Sent to the model. Default: 1, as in the paper.")]
ReasoningEffort = Annotated[
    str | None, typer.Option(help="How much a reasoning model thinks: none, low, medium, high, … Default: its own.")
]
ExtraBody = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="A field that only some endpoints know, such as chat_template_kwargs.enable_thinking=false. Repeatable.",
    ),
]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Let answers be sent as they are written, and show them. Default: do."),
]
Cache = Annotated[
    str | None,
    typer.Option(help="Answers of earlier runs: off, use, or refresh. Default: off.", envvar="PDDLEGO_CACHE"),
]
ModelTimeout = Annotated[float | None, typer.Option(help="Seconds that one answer may take. Default: 120.")]
MaxAnswerTokens = Annotated[
    int | None, typer.Option(help="Tokens that one answer may have: sent to the model, and reserved.")
]

# programs that a model writes

TasksPlace = Annotated[
    str | None,
    typer.Option("--tasks", help="Tasks of somebody's: a folder or tar archive with domain.pddl, train/ and eval/."),
]
IsolationName = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        help="How programs of a model are locked away: required, best-effort, or off. Default: required.",
    ),
]
EvalTimeout = Annotated[
    float | None, typer.Option(help="Seconds of CPU time that a program may take for a task. Default: 30.")
]
Parity = Annotated[
    str | None, typer.Option(help="paper: do what the paper's code did, where that differs. Default: off.")
]

# the planner

PlannerName = Annotated[
    str | None,
    typer.Option("--planner", help="pyperplan, graphplan, or fast-downward (extra). The last two search in their way."),
]
PlannerTimeout = Annotated[float | None, typer.Option(help="Seconds that one planning call may take. Default: 30.")]
PlannerMemory = Annotated[int | None, typer.Option(help="MiB that the planner may use; 0: no limit. Default: 4096.")]

# graphplan

Prune = Annotated[
    str | None,
    typer.Option(help="Who is asked which actions to keep: a model, or relaxed, oracle, keep-all, random:P."),
]
SortBy = Annotated[str | None, typer.Option("--sort", help="Who is asked which actions to try first, as with --prune.")]
Kappa = Annotated[
    str | None,
    typer.Option(help="The probability that a level is pruned, of each pass, with commas. The last prunes nothing."),
]
Levels = Annotated[int | None, typer.Option(help="Levels that a planning graph may have. Default: what it takes.")]
