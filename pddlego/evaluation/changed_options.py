"""The options of runs that differ from their defaults: their numbers mean nothing without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pddlego.errors import PddlegoError
from pddlego.evaluation.config import COMMON_GROUPS
from pddlego.evaluation.dependencies import reads
from pddlego.methods.base import WITHOUT, base_mode
from pddlego.methods.registry import method, parse_mode
from pddlego.runs.folders import LATEST, find_run
from pddlego.runs.store import read_configuration, read_matrices, read_results
from pddlego.util.options import options_of, recorded
from pddlego.util.text import count, one_line


def options_line(paths: Iterable[Path], modes: Iterable[str]) -> str:
    """`options: --max-steps 20 (coin), --retries 0` for run folders, of those that their modes read; empty without any.

    The word before them keeps a spreadsheet from reading a cell that begins with a hyphen as a formula.
    """
    ablated = (f"--ablate {'+'.join(parse_mode(mode).without)}" for mode in modes if WITHOUT in mode)
    changed = dict.fromkeys([*chain(*map(_changed, paths)), *ablated])
    return f"options: {', '.join(changed)}" if changed else ""


def _changed(path: Path) -> Iterator[str]:
    """The changed options of a run folder; one that is not changed for all of its games is followed by their names."""
    configuration, games = read_configuration(path), dict[str, list[str]]()
    matrices = read_matrices(path)
    settings: Mapping[str, Any] = configuration.get("settings", {})
    for name, kept in settings.items():
        with suppress(PddlegoError):  # a method or a setting that is not there any more has no defaults
            played, game = method(kept["method"]), name.removesuffix(f" ({kept['method']})")
            defaults = {**recorded(played.options()), **played.load(game, played.options()).resolved()}
            for option, text in _differences(played.options, kept["options"], defaults):
                if matrices and not reads(("settings", name, "options", option), matrices):
                    continue
                writing = [mode.name for mode in played.modes if mode.carries.kind and mode.carries.option == option]
                cost = _requests(path, kept["options"][option], game, writing) if writing else ""
                games.setdefault(text + cost, []).append(name)
    yield from (
        text if len(names) == len(settings) else f"{text} ({', '.join(names)})" for text, names in games.items()
    )
    for group, kind in COMMON_GROUPS.items():
        shown = {name: value for name, value in (configuration.get(group) or {}).items() if name != "base_url"}
        changed = _differences(kind, shown, recorded(kind()))
        yield from (text for option, text in changed if not matrices or reads((group, option), matrices))


def _requests(path: Path, source: str, game: str, modes: Iterable[str]) -> str:
    """What the text from another run had cost, if that run is still beside this one: ` (from 3 requests)`."""
    with suppress(PddlegoError):
        place = find_run(source, path.parent)
        if place.is_dir() and source != LATEST:
            results = [one for one in read_results(place)[0] if one.cell.setting == game]
            calls = sum(one.usage.calls for one in results if base_mode(one.cell.mode) in modes)
            return f" (from {count(calls, 'request')})"
    return " (requests unknown)"


def _differences(
    kind: type[BaseModel], values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The options with other values than their `defaults`, each as a flag, or as `KEY=VALUE` if it has none.

    The run or file that an episode begins from is `--from`.
    """
    options = {option.field: option for option in options_of(kind)}
    for name, value in values.items():
        default, option = defaults.get(name), options.get(name)
        if isinstance(value, Mapping) and isinstance(default, Mapping):
            changed = {key: item for key, item in value.items() if item != default.get(key)}
            uniform = {*value.values()} if len(changed) > 1 else ()
            pairs = ((name, item) for item in uniform) if len(uniform) == 1 else changed.items()
            if changed:
                yield name, one_line(", ".join(f"{key}={item}" for key, item in pairs), 200)
        elif value != default:
            if name.endswith("_from"):
                text = f"--from {Path(value).name}"
            elif option is not None and option.typed:
                flag = f"--{option.name.replace('_', '-')}"
                text = flag if value is True else f"{flag} {value}"
            else:
                text = f"{option.name if option is not None else name}={value}"
            yield name, one_line(text, 80)
