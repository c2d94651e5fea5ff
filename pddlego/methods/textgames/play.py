"""Plays the episode of a cell, or replays a recorded one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import product

from pddlego.episode.approval import Approver
from pddlego.episode.events import Event
from pddlego.episode.loop import Retry
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.methods.base import Tools, check_seed, parse_variant
from pddlego.methods.textgames import games
from pddlego.methods.textgames.agent import Agent, Agents, PlanningPolicy
from pddlego.methods.textgames.events import ConstraintJudged, Observed, Resumed
from pddlego.methods.textgames.exploring import ExploringPolicy
from pddlego.methods.textgames.formalize import Exchange, Formalizer, Observations, PromptContext, Terms
from pddlego.methods.textgames.formalize.act import ActionGen, HumanActions, Person, RandomActions, typed_before
from pddlego.methods.textgames.formalize.contents import contents_request
from pddlego.methods.textgames.formalize.facts import LearnFacts
from pddlego.methods.textgames.formalize.full import FullEditor, FullFormalizer, FullSteps
from pddlego.methods.textgames.formalize.learn import LearnRules
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.games import Closes, Game, ReportsFacts, Solves
from pddlego.methods.textgames.keeping import constraint_text
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import (
    ACT_COT,
    CONTENT_RULES,
    FULL_STEPS,
    LEARN,
    LEARN_ACTIONS,
    LEARN_FACTS,
    MODES,
    TextGameOptions,
    repeats_answers,
    requests_of,
)
from pddlego.methods.textgames.reader import can_read, check_reader
from pddlego.methods.textgames.reader.houses import with_opinion
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth import Checker, GameFacts, GameReader, Reference
from pddlego.methods.textgames.world import EpisodeSetup, Restart
from pddlego.models import Model
from pddlego.models.base import Feedback
from pddlego.models.prompts import Prompts
from pddlego.pddl import parse_problem
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.runs.journal import Timed
from pddlego.runs.store import begun_with


def make_method(mode: str, setting: GameSetting, seed: int, person: Person | None = None) -> Formalizer:
    """The formalizer of a mode. All its prompts are rendered once, so that errors are found before the episode.

    Raises `UsageError` for an unknown mode, and `SettingError` for a prompt that cannot be rendered.
    """
    formalizer = _formalizer(mode, setting, seed, person)
    feedback = Feedback("trial", "trial", ("trial",))
    exchanges = (Exchange(None, "trial"), Exchange("trial", "trial"))
    seen = Observations(exchanges, exchanges, ("trial",))
    for retry, previous_parts in product((Retry(), Retry(1, "trial", feedback)), range(requests_of(mode))):
        answers = ("trial",) * previous_parts
        formalizer.request(
            PromptContext(setting.start, "trial", seen, retry, answers, ("trial",), reader=setting.reader)
        )
    if CONTENT_RULES in parse_variant(mode, MODES).without:
        contents_request(Prompts(setting.asking.prompts), PromptContext(setting.start, "trial", seen))
    return formalizer


def _formalizer(name: str, setting: GameSetting, seed: int, person: Person | None) -> Formalizer:
    asking, variant = setting.asking, parse_variant(name, MODES)
    prompts, protocol = Prompts(asking.prompts), asking.protocol
    without, plain = (*variant.without, *protocol.removed), protocol.plain_requests
    tolerant, checked = "tolerance" not in without, "check" not in without
    commands = prompts, checked, plain, checked and "sequences" not in without
    look = "look" not in without and any(rung.explores for rung in setting.start.ladder)
    edit = PddlEdit(prompts, tolerant, plain, protocol.ignores_unmatched, look, asking.rules and tolerant)
    learning = prompts, setting.start, edit, checked, with_opinion if "opinions" in without else None
    with_domain = prompts, setting.start, _terms(setting, without), tolerant
    of_modes: Mapping[str, Callable[[], Formalizer]] = {
        "edit": lambda: LearnRules(prompts, setting.start, edit, asks_rules=False) if tolerant else edit,
        LEARN_ACTIONS: lambda: edit,
        "gen": lambda: PddlGen(prompts, tolerant, plain, look),
        LEARN: lambda: LearnRules(*learning),
        LEARN_FACTS: lambda: LearnFacts(*learning),
        "act": lambda: ActionGen(*commands),
        ACT_COT: lambda: ActionGen(*commands, thinks=True),
        "random": lambda: RandomActions(seed),
        "gold": lambda: _typed_by(person),
        "human": lambda: _typed_by(person),
        "full": lambda: FullFormalizer(*with_domain),
        "full-edit": lambda: FullEditor(*with_domain),
        FULL_STEPS: lambda: FullSteps(*with_domain),
    }
    return of_modes[variant.mode.name]()


def _typed_by(person: Person | None) -> HumanActions:
    if person is None:
        raise UsageError("Mode human needs a person", "Standard input is not a terminal.", "Use 'pddlego play'.")
    return HumanActions(person)


def _terms(setting: GameSetting, without: Collection[str]) -> Terms:
    """The action heads that a model's own domain must use. Without the part `schemas` there are no heads."""
    reference = setting.reader.reference
    rules = reference.actions if reference is not None and "schemas" not in without else {}
    heads = ((name, " ".join(map(str, rule.parameters or ()))) for name, rule in sorted(rules.items()))
    schemas = tuple(f"{name} ({parameters})" for name, parameters in heads)
    return Terms(schemas, "hint" not in without, "detailed-goal" not in without)


def setting_game(setting: GameSetting, seed: int, java: str | None = None) -> Game:
    """The game of a setting. Raises `UsageError` for an unknown engine or seed, `EngineError` if the engine fails."""
    check_seed(setting, seed)
    return games.make_game(setting.game.engine, setting.spec(seed, java))


def episode_events(
    episode: EpisodeSetup,
    game: Game,
    model: Model,
    planner: Planner,
    *,
    approver: Approver | None = None,
    restart: Restart | None = None,
    person: Person | None = None,
) -> Timed:
    """Play an episode, and yield its events. `approver` approves decisions; `person` types commands in mode human."""
    if episode.variant.mode.name == "gold":
        person = typed_before(_solution(episode.setting, game))
    method = make_method(episode.mode, episode.setting, episode.seed, person)
    agents = Agents(method, model, planner, approver)
    checker = _checker(episode, method)
    policy = ExploringPolicy if episode.variant.mode.name == LEARN_ACTIONS else PlanningPolicy
    agent = Agent(episode, game, agents, restart=restart, checker=checker, policy=policy)
    return Timed(_closing(agent.run(), game, checker), lambda: agent.seconds)


def _solution(setting: GameSetting, game: Game) -> tuple[str, ...]:
    """The commands that win the game. Raises `UsageError` if its engine does not know them."""
    solution = game.solution if isinstance(game, Solves) else ()
    if not solution:
        reason = f"The engine {setting.game.engine} does not say how it is won."
        raise UsageError(f"{setting.name} cannot be played in mode gold", reason, "Choose another --mode.")
    return solution


def _closing(events: Iterator[Event], *resources: object) -> Iterator[Event]:
    """Yield the events, and then close those resources that can be closed."""
    try:
        yield from events
    finally:
        for resource in resources:
            if isinstance(resource, Closes):
                resource.close()


def _checker(episode: EpisodeSetup, method: Formalizer) -> Checker | GameReader | None:
    """The checker of the problems with `--truth`, or the reader that draws the map in mode human; otherwise None.

    Raises `UsageError` if `--truth` is set and there is no reference for the facts of the game.
    """
    if episode.options.truth:
        reference = make_reference(episode.setting, episode.seed)
        return Checker(episode.setting, method, reference) if episode.plans else GameReader(reference)
    if episode.mode == "human" and can_read(episode.setting):
        return GameReader(Reference(episode.setting))
    return None


def make_reference(setting: GameSetting, seed: int) -> Reference | GameFacts:
    """The reference for the facts of a model.

    It consists of the game's own facts if the setting has a table [facts], and otherwise of those that the built-in
    reader reads. Raises `UsageError` if the engine does not report facts or the reader cannot read the game, and
    `EngineError` if the game cannot be made.
    """
    if setting.facts:
        game = setting_game(setting, seed)
        if not isinstance(game, ReportsFacts):
            reason = f"The engine {setting.game.engine} does not report the facts of its games."
            raise UsageError(f"{setting.name} has a table [facts]", reason, "Remove it, or use another engine.")
        return GameFacts(setting, game)
    check_reader(setting, "edit")
    return Reference(setting)


def play(cell: Cell, setting: GameSetting, options: TextGameOptions, tools: Tools) -> Timed:
    """Play the episode of a cell, and yield its events. Raises `PddlegoError` if the game cannot be made."""
    recorded = tools.recorded
    return episode_events(
        _episode_of(cell, setting, options, tools),
        setting_game(setting, cell.seed, options.java),
        tools.model,
        tools.planner,
        approver=tools.approver,
        restart=tools.restart if recorded is None else _restart_of(recorded),
        person=tools.person if recorded is None else _typed(recorded),
    )


def _episode_of(cell: Cell, setting: GameSetting, options: TextGameOptions, tools: Tools) -> EpisodeSetup:
    """The episode of a cell, in its setting without the parts that the variant removes.

    The model's domain or reading rules are first those of the repeated episode, or else those of the tools, or else
    those of `--from`.
    """
    limits, variant = tools.limits, parse_variant(cell.mode, MODES)
    repeated = tools.restart.repeated if tools.restart else None
    text = tools.first_text if tools.hands_on else tools.first_text or None
    if repeated is not None:
        text = begun_with(repeated, variant.mode.carries.kind)
    return EpisodeSetup(
        setting_for(setting, variant, text),
        cell.seed,
        cell.mode,
        replace(limits, steps=setting.max_steps if limits.steps is None else limits.steps),
        tools.retries,
        options,
    )


def _typed(recorded: Trace) -> Person:
    """A person who types the commands of a recorded episode; those before a resumption were not typed."""
    observed = (event for event in recorded.since(recorded.place(Resumed)) if isinstance(event, Observed))
    typed = (event for event in observed if event.step and not (event.free or event.repeated))
    return typed_before([event.command or "" for event in typed])


def _restart_of(recorded: Trace) -> Restart | None:
    """The restart with which a recorded episode began; None if it began with a new game."""
    resumed = recorded.last(Resumed)
    if resumed is None:
        return None
    repeated = recorded.until(recorded.place(Resumed))
    observed = repeated.all(Observed)
    return Restart(
        source=resumed.source,
        step=resumed.step,
        commands=[event for event in observed if event.command is not None and not event.repeated],
        before=parse_problem(resumed.before),
        covered_observations=resumed.known,
        corrected=None if resumed.corrected is None else parse_problem(resumed.corrected),
        first_observation=observed[0].text if observed else "",
        written=resumed.written,
        repeated=repeated if repeats_answers(parse_variant(recorded.begun.mode, MODES)) else None,
        replayed=True,
        constraint=constraint_text(recorded),
        broken=tuple(repeated.all(ConstraintJudged)),
    )
