"""Commands, options and values of options that were removed, and what to use instead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from pddlego.errors import UsageError

_VALUES: Mapping[tuple[str, str, str], str] = {
    ("corpus", "check", ""): "Use 'pddlego audit', which has the label recorded_verdict.",
    ("export", "--format", "hub"): "Write a file with --format chat; load_dataset('json', data_files=FILE) reads it.",
    (
        "export",
        "--format",
        "failures",
    ): "Use --format atif, and 'pddlego truth RUN --format json' for the causes of losses.",
    ("eval", "--tracker", "otel"): "Use --tracker wandb, mlflow or trackio, or on_episode in Python.",
}
"""The advice for each command, option and value."""

_PLAYING = ("play", "eval")
_EXPERIMENTS = (
    *("fold", "history", "valid-actions", "replan", "rewind", "no-rewind", "kappa", "levels"),
    *("eval-timeout", "parity", "prompts"),
)

_PLANNING = {"planner-timeout": "timeout", "planner-memory": "memory"}
_DETAILS = tuple(
    f"--{name}"
    for name in ("temperature", "reasoning-effort", "extra-body", "cache", "model-timeout", "max-answer-tokens")
)
_OF_RUNS = (
    *(*_PLAYING, "doctor", "report", "runs", "watch", "show", "truth"),
    *("counterfactual", "resume", "replay", "export"),
)
_SELECTING = ("report", "show", "truth", "export")
_ONLY = {"lost": "lost", "won": "won", "accepted": "accepted", "outcome": "OUTCOME", "cause": "CAUSE"}

_OPTIONS: Mapping[str, tuple[Collection[str], str]] = {
    **{
        f"--{name}": ((*_PLAYING, "solve"), f"Use --set {name.removeprefix('no-').replace('-', '_')}=…")
        for name in _EXPERIMENTS
    },
    "--domain-from": (_PLAYING, "Use --from RUN or --from FILE."),
    "--rules-from": (_PLAYING, "Use --from RUN or --from FILE."),
    **{f"--{name}": ((*_PLAYING, "solve", "build"), f"Use --{new}.") for name, new in _PLANNING.items()},
    **dict.fromkeys(_DETAILS, (("truth", "solve", "build"), "Set the variable of that option (docs/evaluating.md).")),
    **dict.fromkeys(("--stream", "--no-stream"), ((*_PLAYING, "truth", "build"), "Set PDDLEGO_STREAM.")),
    "--runs": (_OF_RUNS, "Set PDDLEGO_RUNS."),
    "--java": (("play", "eval", "doctor", "resume", "replay"), "Set PDDLEGO_JAVA."),
    "--json": (("play",), "Use --format json."),
    "--template": (("config",), "Use --format toml."),
    "--why-seconds": (("solve",), "It is a sixth of --timeout, in addition."),
    **{f"--{name}": (("solve",), f"Use --set {name}=…") for name in ("prune", "sort")},
    "--seconds": (("audit",), "Use --timeout."),
    "--reference": (("truth",), "Use --with."),
    "--split": (("serve",), "Use --seeds."),
    "--test-seeds": (("export",), "Use --seeds all."),
    **{f"--{name}": (_SELECTING, f"Use --only {new}.") for name, new in _ONLY.items()},
    **dict.fromkeys(("--thinking", "--no-thinking"), (("export",), "The API does it: chat_rows in Python.")),
    **{f"--{name}": (("show", "solve", "simulate"), f"Use -o FILE.{name}.") for name in ("html", "svg", "gif")},
    "--figures": (("report",), "Use -o FOLDER/."),
    "--pages": (("report",), "At most 200 episodes have a page."),
    "--optimum": (("report",), "No table needs it."),
    "--steps": (("build",), "Use --mode build+whole or --mode build+by-action."),
    "--feedback": (("build",), "Use --set feedback=model, and --confirm files for a person."),
    "--rounds": (("build", *_PLAYING), "Use --set rounds=…"),
    "--counterfactual": (("export",), "Read the replays with 'pddlego report counterfactual-RUN/1'."),
}
"""The commands that an option was removed from, and the advice."""

RETIRED: Mapping[tuple[str, str, str], str] = {
    **_VALUES,
    **{(name, option, ""): advice for option, (commands, advice) in _OPTIONS.items() for name in commands},
}
"""The advice for each command, option and value. The value is empty if the whole option was removed."""


def refuse_retired(command: str, arguments: Sequence[str]) -> None:
    """Raise `UsageError`, in one line, if an argument of a command was removed."""
    words = [word for argument in arguments for word in argument.split("=", 1)]
    for option, value in pairwise((*words, "")):
        for name in (value, ""):
            if advice := RETIRED.get((command, option, name)):
                raise UsageError(f"{' '.join(filter(None, (command, option, name)))} was removed. {advice}")
