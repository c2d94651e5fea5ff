"""The setup of an evaluation, made from a configuration: settings, cells, limits and models. Plays one of its cells."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from pddlego.episode.approval import Approver
from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.evaluation.config import (
    ARGUMENT,
    COMMON_GROUPS,
    DEFAULT,
    FLAG,
    Config,
    LimitOptions,
    Resolved,
    with_overrides,
)
from pddlego.evaluation.models import is_free, make_model, temperature_of
from pddlego.methods.base import Method, Setting, Tools, check_seed
from pddlego.methods.registry import ablated, first_mode, method, method_of, package_of, parse_mode
from pddlego.methods.setting_files import parse_overrides
from pddlego.models.base import Model, is_local
from pddlego.models.endpoint import Access, Endpoint, prepare_cache
from pddlego.models.function import OwnModel
from pddlego.models.limiter import CellLimiter, Ledger, Price, RequestLimiter, SharedLimiter, Spending
from pddlego.planning import Planner
from pddlego.planning.engines import check_search
from pddlego.planning.process import PlannerPool
from pddlego.runs.cells import NO_MODEL, Cell, Matrix
from pddlego.runs.journal import Timed
from pddlego.runs.store import installed_version
from pddlego.util.files import read_toml
from pddlego.util.options import options_of, recorded
from pddlego.util.text import fault_of

Person = Callable[[tuple[str, ...]], str]
"""A function that asks a person for one of the valid commands."""

_DETERMINING = ("pddlego", "fast-downward.translate", "pyperplan")
"""Packages whose version may change an episode: the agent and the planner. A setting may name others."""


@dataclass(frozen=True)
class SettingUse:
    """A setting as one method plays it in one mode, with its options."""

    method_name: str
    options: BaseModel
    setting: Any

    @property
    def method(self) -> Method:
        return method(self.method_name)

    def play(self, cell: Cell, tools: Tools) -> Timed:
        """The events of an episode while it is played. Raises `PddlegoError` for errors before the first event."""
        events = self.method.run(cell, self.setting, self.options, tools)
        return events if isinstance(events, Timed) else Timed(events)


@dataclass(frozen=True)
class Continuation:
    """The continuation of a recorded episode: with a setting and options, from `restart`, within `limits`.

    `restart` is a value of the method that plays the episode; the method gets it in its `Tools`.
    """

    played: SettingUse
    restart: Any
    limits: Limits


@dataclass(frozen=True)
class Setup:
    """Everything that an evaluation needs: its configuration, and values that follow from it.

    `played` has the use of each setting in each mode. `limits` apply to each episode, `budget` to all together.
    `planners` is the number of planning processes. `own_models` are models of a Python program, by name. If there are
    `continued` episodes, only these are played.
    """

    config: Config
    matrix: Matrix
    played: Mapping[tuple[str, str], SettingUse]
    limits: Limits
    budget: Spending = field(default_factory=Spending)
    prices: Mapping[str, Price] = field(default_factory=dict)
    access: Access = field(default_factory=Access)
    planners: int = 1
    own_models: Mapping[str, OwnModel] = field(default_factory=dict)
    continued: Mapping[Cell, Continuation] = field(default_factory=dict)

    def cells(self) -> tuple[Cell, ...]:
        """All episodes, in the order in which they are played."""
        return tuple(self.continued) or self.matrix.cells()

    @property
    def requested(self) -> Sequence[Matrix]:
        """The matrices of all episodes: one for each continued episode, because these need not fill a matrix."""
        if not self.continued:
            return [self.matrix]
        return [
            Matrix({cell.setting: (cell.seed,)}, (cell.mode,), (cell.model,), cell.repeat, (), cell.repeat)
            for cell in self.continued
        ]

    def played_in(self, cell: Cell) -> SettingUse:
        """The setting of a cell with its method and options. Raises `KeyError` for a cell of another evaluation."""
        return self.played[cell.setting, cell.mode]

    @property
    def workers(self) -> int:
        """Parallel episodes; 1 with `--carry`, where each episode begins from the text of an earlier one."""
        return 1 if self.config.run.carry else self.config.run.workers

    @property
    def notes(self) -> tuple[str, ...]:
        """Names and licenses of the models on this machine. Raises `UsageError` and `ModelError`."""
        local = [name for name in self.matrix.models if is_local(name)]
        if not local:
            return ()
        from pddlego.models.local import model_file

        return tuple(model_file(name).sentence for name in local)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, each once for every method that plays it."""
        loaded = {(name, use.method_name): use.setting for (name, _), use in self.played.items()}
        return tuple(loaded.values())

    def configuration(self) -> dict[str, Any]:
        """Everything that determines an episode, for the manifest: settings, limits, planner, endpoint.

        Options that may change when an evaluation is continued (seeds, modes, models, workers, budgets) are left out.
        Raises `UsageError` if files of games are missing.
        """
        own = {name: model.digest for name, model in sorted(self.own_models.items())}
        brought = {package_of(played.method_name) for played in self.played.values()} - {None}
        brought |= {package for setting in self.settings for package in setting.packages}
        return {
            "settings": self._settings(),
            "endpoint": recorded(self.config.endpoint),
            "planner": recorded(self.config.planner),
            "limits": {
                **recorded(self.config.limits),
                "calls": self.limits.calls,
                "tokens": self.limits.tokens,
            },
            "run": recorded(self.config.run),
            **({"own_models": own} if own else {}),
            "versions": {name: installed_version(name) for name in (*_DETERMINING, *sorted(map(str, brought)))},
        }

    def _settings(self) -> dict[str, Any]:
        """Settings by name; names that several methods use get the method as a suffix."""
        by_method = {(name, use.method_name): use for (name, _), use in self.played.items()}
        names = [name for name, _ in by_method]
        return {
            name if names.count(name) == 1 else f"{name} ({owner})": _recorded(
                use, self.config.endpoint, self.matrix.seeds[name]
            )
            for (name, owner), use in by_method.items()
        }


def reads(path: Sequence[str], matrices: Sequence[Matrix]) -> bool:
    """Whether an episode of these matrices can depend on the value at a `path` of `Setup.configuration`.

    What an unknown mode or setting reads is not known, and counts as everything.
    """
    return any(
        _reads(path, Cell(setting, mode, NO_MODEL if mode in matrix.without_model else model, 0))
        for matrix in matrices
        for setting, mode, model in product(matrix.seeds, matrix.modes, matrix.models)
    )


def _reads(path: Sequence[str], cell: Cell) -> bool:
    try:
        played_by, mode = method_of(cell.setting, cell.mode), parse_mode(cell.mode).mode
    except UsageError:
        return True
    if path[0] == "endpoint" or path[2:] == ("temperature",):
        return not is_free(cell)
    if path == ("limits", "retries"):
        return mode.asks_model
    if path[0] == "settings" and path[1] not in (cell.setting, f"{cell.setting} ({played_by.name})"):
        return False
    name = path[3] if path[0] == "settings" and len(path) > 3 else path[0]
    if name in (known.carries.option for known in played_by.modes):
        return name == mode.carries.option
    if name.startswith("prompts/"):
        if not mode.asks_model:
            return False
        name = "prompts/" + re.split("[-.]", name.rpartition("/")[2])[0]
    return mode.name in played_by.read_by.get(name, (mode.name,))


def _recorded(played: SettingUse, endpoint: Endpoint, seeds: Iterable[int]) -> dict[str, Any]:
    """The record of a setting in the manifest: its method, options, temperature, and digests of its files.

    Raises `UsageError` if files of its games are missing.
    """
    texts = played.setting.sources
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items())}
    options = recorded(played.options) | played.setting.resolved()
    temperature = temperature_of(played.method, endpoint)
    kept = {"method": played.method_name, "options": options, "temperature": temperature, "files": digests}
    games = played.setting.game_files(seeds)
    return {**kept, "games": games} if games else kept


def make_setup(
    resolved: Resolved,
    sends: bool = True,
    has_person: bool = False,
    own_models: Mapping[str, OwnModel] | None = None,
) -> Setup:
    """The setup for a configuration. Raises `UsageError` for anything that does not exist or is not compatible.

    A setup that `sends` no requests, such as that of a dry run, needs no key. Modes that need a person are allowed only
    if it `has_person`.
    """
    config = resolved.config
    what = config.what
    if resolved.origin("workers") == DEFAULT and any(map(is_local, what.models)):  # its server has one slot
        config = config.model_copy(update={"run": config.run.model_copy(update={"workers": 1})})
    if resolved.origin("base_url") in (FLAG, ARGUMENT) and any(map(is_local, what.models)):
        reason = f"{', '.join(filter(is_local, what.models))} is a file on this machine, which pddlego serves itself."
        raise UsageError("--base-url has no effect here", reason, "Leave it out, or name a model of that server.")
    _check_run(resolved)
    modes = ablated(what.modes or _first_modes(what.games), what.ablate)
    _check_modes(config, modes, has_person)
    played = _played(config, modes)
    _check_flags(resolved, played)
    prepare_cache(config.endpoint.cache)
    setup = Setup(
        config,
        Matrix(
            {name: parse_seeds(what.seeds, use.setting) for (name, _), use in played.items()},
            modes,
            what.models,
            what.repeats,
            without_model=_without_model(modes),
        ),
        played,
        limits=Limits(None, seconds=config.limits.max_seconds),
        access=Access(os.environ.get("OPENAI_API_KEY")),
        own_models=own_models or {},
    )
    return _with_budget(setup, sends)


def make_continuing_setup(continued: Mapping[Cell, Continuation], config: Config, access: Access) -> Setup:
    """The setup of an evaluation that continues recorded episodes, each as the episode of a cell.

    Raises `UsageError` for a model that cannot be created, or that lacks a needed price.
    """
    cells, modes = tuple(continued), dict.fromkeys(cell.mode for cell in continued)
    settings = dict.fromkeys(cell.setting for cell in cells)
    prepare_cache(config.endpoint.cache)
    setup = Setup(
        config,
        Matrix(
            {name: tuple(dict.fromkeys(cell.seed for cell in cells if cell.setting == name)) for name in settings},
            tuple(modes),
            tuple(dict.fromkeys(cell.model for cell in cells)),
            max(cell.repeat for cell in cells),
            without_model=_without_model(modes),
        ),
        {(cell.setting, cell.mode): continuation.played for cell, continuation in continued.items()},
        limits=continued[cells[0]].limits,
        access=access,
        continued=continued,
    )
    return _with_budget(setup)


def _without_model(modes: Iterable[str]) -> tuple[str, ...]:
    return tuple(mode for mode in modes if not parse_mode(mode).mode.asks_model)


def _with_budget(setup: Setup, sends: bool = True) -> Setup:
    """The setup with its budget, prices and number of planners.

    To check options early, creates a model of each configuration; only models without endpoint unless the setup
    `sends` requests. Raises `UsageError`.
    """
    for (name, mode), use in setup.played.items():
        for search in use.method.searches(use.setting, mode):
            check_search(setup.config.planner.engine, search, f"{name} in mode {mode}")
    run = setup.config.run
    samples = list({cell.configuration: cell for cell in reversed(setup.cells())}.values())
    budget, prices = make_budget(setup.config.limits, [cell.model for cell in samples if not is_free(cell)])
    # A planner that waits for an answer uses no CPU, so there may be more planners than CPUs.
    waits = any(parse_mode(cell.mode).mode.advises and not is_free(cell) for cell in samples)
    planners = run.workers if waits else max(1, min(run.workers, os.cpu_count() or 1))
    setup = replace(setup, budget=budget, prices=prices, planners=planners)
    for cell in samples:
        if sends or is_free(cell):
            make_cell_model(cell, setup)
    return setup


def run_path(setup: Setup) -> Path:
    """The run folder with the given name, or else with a name that depends only on the cells."""
    run = setup.config.run
    if run.run:
        if ".." in Path(run.run).parts:
            raise UsageError(
                f"'{run.run}' is not the name of a run (--run)", "It leaves the folder of runs.", "Use --runs."
            )
        return Path(run.runs) / run.run
    cells = json.dumps([cell.label for cell in setup.cells()])
    digest = hashlib.sha256(cells.encode()).hexdigest()[:8]
    return Path(run.runs) / f"eval-{'+'.join(setup.config.what.games)[:60]}-{digest}"


def one_cell(setup: Setup) -> Cell:
    """The only cell. Raises `UsageError` if there are several."""
    cells = setup.cells()
    if len(cells) != 1:
        several = {
            "game": setup.config.what.games,
            "mode": setup.matrix.modes,
            "model": setup.config.what.models,
            "seed": sorted({cell.seed for cell in cells}),
        }
        name, values = next(((name, options) for name, options in several.items() if len(options) > 1), ("repeat", ()))
        reason = f"These are {len(cells)}: {', '.join(map(str, values))}." if values else f"These are {len(cells)}."
        raise UsageError(f"One episode has one {name}", reason, "Name one, or evaluate them all ('pddlego eval').")
    return cells[0]


def make_cell_model(cell: Cell, setup: Setup, limiter: RequestLimiter | None = None) -> Model:
    """The model of a cell. Raises `UsageError` for a model that cannot be created or cannot play the cell."""
    own = setup.own_models.get(cell.model)
    if own is not None:
        return replace(own, limiter=limiter)
    return make_model(cell, setup.played_in(cell).setting, setup.config.endpoint, setup.access, limiter)


def _first_modes(games: Iterable[str]) -> tuple[str, ...]:
    """The common default mode of the games. Raises `UsageError` if their default modes differ."""
    modes = {game: first_mode(game) for game in games}
    if len(set(modes.values())) > 1:
        reason = ", ".join(f"{game}: {mode}" for game, mode in modes.items())
        raise UsageError("These games have no common default mode", f"{reason}.", "Choose modes with --modes.")
    return tuple(dict.fromkeys(modes.values()))


def _check_run(resolved: Resolved) -> None:
    """Raises `UsageError` for an executor or number of workers that other options exclude."""
    run = resolved.config.run
    if run.address is not None and run.executor != "ray":
        reason = f"Episodes are played in {run.executor}, on this machine."
        raise UsageError("--address needs --executor ray", reason, "Add it, or leave the address out.")
    several = resolved.origin("workers") != DEFAULT and run.workers > 1
    if run.carry and (several or run.executor != "threads"):
        reason = "Each episode begins with what the one before it has left, so they are played one after another."
        raise UsageError("--carry plays with one worker, here", reason, "Leave --workers and --executor out.")


def _check_modes(config: Config, modes: tuple[str, ...], has_person: bool) -> None:
    chosen = [parse_mode(mode).mode for mode in modes]
    for mode in chosen:
        if mode.needs_person and not has_person:
            reason = f"Mode {mode.name} needs a person at a terminal."
            raise UsageError(f"modes = {mode.name} is not possible", reason, "Use 'pddlego play'.")
    if config.what.ablate and not any(mode.parts for mode in chosen):
        reason = f"The modes are {', '.join(modes)}, and they have no parts to take out."
        raise UsageError("There is nothing to ablate", reason, "Leave --ablate out, or add such a mode.")


def _check_flags(resolved: Resolved, played: Mapping[tuple[str, str], SettingUse]) -> None:
    """Raises `UsageError` for an option of a method that plays no setting, and for a text that no mode begins from."""
    groups = (*COMMON_GROUPS.values(), *(type(use.options) for use in played.values()))
    known = {option.name for group in groups for option in options_of(group)}
    for (_, name), origin in resolved.origins.items():
        if origin in (FLAG, ARGUMENT) and name not in known:
            who = ", ".join(sorted({use.method_name for use in played.values()}))
            typed = f"--{name.replace('_', '-')}" if origin == FLAG else name
            raise UsageError(f"{typed} has no effect here", f"The methods that play are: {who}.", "Remove it.")
    for use in played.values():
        for name in {mode.carries.option: "" for mode in use.method.modes if mode.carries.kind}:
            readers = [mode.name for mode in use.method.modes if mode.carries.option == name]
            origin, is_set = resolved.origin(name), name in parse_overrides(resolved.config.what.set)
            chosen = (origin in (FLAG, ARGUMENT) or is_set) and getattr(use.options, name) is not None
            if chosen and not any(parse_mode(mode).mode.name in readers for _, mode in played):
                typed = f"--{name.replace('_', '-')}" if origin == FLAG else name
                raise UsageError(
                    f"{typed} has no effect here", f"It is for the modes: {', '.join(readers)}.", "Remove it."
                )


def _played(config: Config, modes: tuple[str, ...]) -> Mapping[tuple[str, str], SettingUse]:
    """The use of each setting in each mode."""
    overrides = parse_overrides(config.what.set)
    loaded: dict[tuple[str, str], SettingUse] = {}
    played: dict[tuple[str, str], SettingUse] = {}
    for name in config.what.games:
        for mode in modes:
            method = method_of(name, mode)
            if (name, method.name) not in loaded:
                options = with_overrides(method.name, config.methods[method.name], overrides)
                loaded[name, method.name] = SettingUse(method.name, options, method.load(name, options))
            played[name, mode] = loaded[name, method.name]
            played[name, mode].setting.check_mode(parse_mode(mode))
    return played


def parse_seeds(text: str, setting: Setting) -> tuple[int, ...]:
    """The seeds that `dev`, `test` or a list such as `0-9,20,30-39` means, in order, each once.

    Raises `UsageError` for anything else, and for seeds that the setting does not have.
    """
    seeds: list[int] = []
    for part in text.split(","):
        word = part.strip()
        seeds += setting.seeds[word] if word in setting.seeds else _range(word, setting)
    for seed in seeds:
        check_seed(setting, seed)
    return tuple(dict.fromkeys(seeds))


def _range(word: str, setting: Setting) -> Iterable[int]:
    match = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    first, last = (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (1, 0)
    if last < first:
        splits = ", ".join(setting.seeds)
        reason = f"{setting.name} has the splits {splits or '(none)'}; otherwise write seeds as 0-9,20."
        raise UsageError(f"'{word}' names no seeds", reason, "Example: --seeds 10-59.")
    if last - first > 1_000_000:
        check_seed(setting, last)
    return range(first, last + 1)


def read_prices(path: Path | None) -> dict[str, Price]:
    """The prices in a file, by model; none without a file. Raises `UsageError`."""
    if path is None:
        return {}
    try:
        return TypeAdapter(dict[str, Price]).validate_python(read_toml(path, "--prices"))
    except ValidationError as error:
        example = "Example: ['gpt-4o-mini'] tokens_in = 0.15, tokens_out = 0.60 (for a million tokens)."
        raise UsageError(f"{path} is not a price list", f"{fault_of(error.errors()[0])}.", example) from error


def make_budget(limits: LimitOptions, models: Iterable[str]) -> tuple[Spending, dict[str, Price]]:
    """The budget of all requests together, and the prices. Raises `UsageError` for a model without a needed price."""
    prices = read_prices(Path(limits.prices) if limits.prices else None)
    unknown = dict.fromkeys(model for model in models if model not in prices)
    if limits.max_cost is not None and unknown:
        reason = f"There is no price of {', '.join(unknown)}."
        advice = f"Add it to {limits.prices}." if limits.prices else "Name a price list with --prices FILE."
        raise UsageError("--max-cost requires the price of every model", reason, advice)
    return Spending(limits.max_calls, limits.max_tokens, limits.max_cost), prices


def make_planners(setup: Setup) -> PlannerPool:
    """Start the planners of an evaluation, and check that they can plan for every setting.

    Raises `UsageError` and `SettingError`.
    """
    made = [setup.config.planner.make() for _ in range(setup.planners)]
    pool = PlannerPool(made)
    try:
        for setting in setup.settings:
            setting.check(pool)
    except BaseException:
        pool.close()
        raise
    return pool


def make_limiter(setup: Setup, ledger: Ledger | None, prices: Mapping[str, Price]) -> SharedLimiter:
    """The limiter for all requests of an evaluation."""
    most = setup.config.endpoint.max_tokens
    return SharedLimiter(setup.config.run.llm_jobs, setup.budget, ledger, prices, max_answer=most)


def play(
    cell: Cell,
    setup: Setup,
    planner: Planner,
    limiter: RequestLimiter,
    *,
    approver: Approver | None = None,
    person: Person | None = None,
    carried: str = "",
) -> Timed:
    """Play a cell with a new model.

    `approver` approves actions, `person` types commands in modes that need it, and `carried` is the text of an earlier
    episode. Raises `PddlegoError` for errors before the first event.
    """
    continuation = setup.continued.get(cell)
    own_limiter = CellLimiter(limiter, cell.label) if isinstance(limiter, SharedLimiter) else limiter
    tools = Tools(
        model=make_cell_model(cell, setup, own_limiter),
        planner=planner,
        limits=continuation.limits if continuation else setup.limits,
        retries=setup.config.limits.retries,
        approver=approver,
        person=person,
        first_text=carried,
        restart=continuation.restart if continuation else None,
    )
    return setup.played_in(cell).play(cell, tools)
