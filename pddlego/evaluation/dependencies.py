"""Whether an option has an effect on episodes: what their modes read, as methods declare it (`Method.read_by`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from pddlego.errors import UsageError
from pddlego.evaluation.config import ARGUMENT, COMMON_GROUPS, FLAG, PARAMETERS, Resolved
from pddlego.evaluation.models import is_free
from pddlego.methods.base import Method
from pddlego.methods.registry import method_of, modes, parse_mode
from pddlego.methods.setting_files import parse_overrides, read_setting
from pddlego.models.function import PREFIX
from pddlego.runs.cells import NO_MODEL, Cell, Matrix
from pddlego.util.options import Option, options_of


def reads(path: Sequence[str], matrices: Sequence[Matrix]) -> bool:
    """Whether an episode of these matrices can depend on the value at a `path` of `Setup.configuration`.

    What an unknown mode or setting reads is not known, and counts as everything.
    """
    return any(_reads(path, cell) for matrix in matrices for cell in _cells(matrix))


def _cells(matrix: Matrix) -> Iterator[Cell]:
    """A cell of each setting, mode and model."""
    for setting, mode, model in product(matrix.seeds, matrix.modes, matrix.models):
        yield Cell(setting, mode, NO_MODEL if mode in matrix.without_model else model, 0)


def _reads(path: Sequence[str], cell: Cell) -> bool:
    if path[0] != "settings":
        return _reads_option(path[0], path[1] if path[1:] else "", cell)
    try:
        own = method_of(cell.setting, cell.mode).name
    except UsageError:
        return True
    if path[2:] == ("temperature",):
        return _reads_option("endpoint", "temperature", cell)
    if path[1] not in (cell.setting, f"{cell.setting} ({own})"):
        return False
    name = path[3] if path[3:] else ""
    if name.startswith("prompts/"):
        name = "prompts/" + re.split("[-.]", name.rpartition("/")[2])[0]
    return _reads_option(own, name, cell)


def _reads_option(group: str, field: str, cell: Cell, counts_all: bool = False) -> bool:
    """Whether an episode reads an option, or prompts, of a common group or of the method that plays it.

    With `counts_all`, requests to the built-in model count against the limits, too.
    """
    try:
        by, mode, kind = method_of(cell.setting, cell.mode), parse_mode(cell.mode).mode, read_setting(cell.setting).kind
    except UsageError:
        return True
    match group, field:
        case "endpoint", _:
            return not is_free(cell) and not cell.model.startswith(PREFIX)
        case ("limits", "max_cost" | "prices") | ("run", "llm_jobs"):
            return not is_free(cell)
        case "limits", "max_calls" | "max_tokens":
            return mode.asks_model if counts_all else not is_free(cell)
        case ("limits", "retries") | ("what", "models"):
            return mode.asks_model
        case "run", "carry" | "from_":
            return bool(mode.carries.kind)
    if group not in ("planner", by.name):
        return True
    if field in (known.carries.option for known in by.modes):
        return field == mode.carries.option
    if field.startswith("prompts/") and not mode.asks_model:
        return False
    name = group if group == "planner" else field
    return bool({mode.name, kind} & {*by.read_by.get(name, (mode.name,))})


def check_effects(resolved: Resolved, matrix: Matrix, counts_all: bool) -> None:
    """Raise `UsageError` for a chosen option that nothing reads.

    One that changes the task must be read by each mode that plays.
    """
    cells = tuple(_cells(matrix))
    for name, typed in _chosen(resolved).items():
        ignoring = [cell for cell in cells if not _is_read(name, cell, counts_all)]
        if len(ignoring) == len(cells):
            raise UsageError(f"{typed} has no effect here", _reason(name, matrix), "Remove it.")
        if ignoring and any(_changes_task(name, cell) for cell in cells):
            what = f"{typed} has no effect in mode {ignoring[0].mode}"
            raise UsageError(what, _reason(name, matrix), "Evaluate the other modes on their own, without it.")


def has_effect(name: str, matrix: Matrix, counts_all: bool = False) -> bool:
    """Whether an episode of a matrix reads the option of that name, in a common group or in the method that plays."""
    return any(_is_read(name, cell, counts_all) for cell in _cells(matrix))


def _is_read(name: str, cell: Cell, counts_all: bool) -> bool:
    options = _options_of(name, method_of(cell.setting, cell.mode))
    return any(_reads_option(group, option.field, cell, counts_all) for group, option in options)


def _changes_task(name: str, cell: Cell) -> bool:
    options = _options_of(name, method_of(cell.setting, cell.mode))
    return any(option.flag is not None and option.flag.changes_task for _, option in options)


def _options_of(name: str, by: Method) -> list[tuple[str, Option]]:
    """The options of that name, common or of a method, each with its group."""
    kinds = {**COMMON_GROUPS, by.name: by.options}
    return [(group, option) for group, kind in kinds.items() for option in options_of(kind) if option.name == name]


def _chosen(resolved: Resolved) -> Mapping[str, str]:
    """The options that were chosen for this evaluation, each in words. A switch that is off chooses nothing.

    They are typed, passed from Python, or set by `--set`; a file and the environment, which hold for many commands,
    choose only what changes the task.
    """
    chosen = {}
    for group, values in resolved.config.groups().items():
        for option in options_of(type(values)):
            origin, value = resolved.origins.get((group, option.name)), getattr(values, option.field)
            is_default = value == option.info.default and (not value or option.name == "models")
            if origin in (FLAG, ARGUMENT) and not is_default:
                flag = "The model" if option.name == "models" else f"--{option.name.replace('_', '-')}"
                chosen[option.name] = flag if origin == FLAG else option.name
            elif option.flag is not None and option.flag.changes_task and origin and not is_default:
                chosen[option.name] = f"{option.name} (set in: {origin})"
    known = {option.name for values in resolved.config.methods.values() for option in options_of(type(values))}
    overrides = parse_overrides(resolved.config.what.set)
    return chosen | {name: f"--set {name}" for name in overrides if name in known - {PARAMETERS}}


def _reason(name: str, matrix: Matrix) -> str:
    """What reads an option that no episode of a matrix reads."""
    players = dict.fromkeys(method_of(cell.setting, cell.mode) for cell in _cells(matrix))
    readers: list[str] = []
    for by in players:
        for group, option in _options_of(name, by):
            if group in ("endpoint", "limits", "what") or option.field == "llm_jobs":
                return "No mode that plays sends a request to a language model."
            readers += by.read_by.get("planner" if group == "planner" else option.field, ())
            readers += [mode.name for mode in modes() if mode.carries.kind] if group == "run" else []
    if readers:
        return f"It is for: {', '.join(dict.fromkeys(readers))}."
    return f"The methods that play are: {', '.join(sorted(by.name for by in players))}."
