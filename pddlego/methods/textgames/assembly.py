"""Puts an episode of a text game together: the game, how the model is asked, the agent."""

from __future__ import annotations

from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.methods.base import check_seed, parse_variant
from pddlego.methods.textgames.agent import Agent
from pddlego.methods.textgames.decider import Thinking
from pddlego.methods.textgames.episode import Episode
from pddlego.methods.textgames.formalize.act import ActionGen, RandomActions
from pddlego.methods.textgames.formalize.base import Formalizer
from pddlego.methods.textgames.formalize.edit import PddlEdit
from pddlego.methods.textgames.formalize.full import FullFormalizer
from pddlego.methods.textgames.formalize.full_edit import FullEditor
from pddlego.methods.textgames.formalize.gen import PddlGen
from pddlego.methods.textgames.formalize.human import HumanActions, Person
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.games.engines import BUILT_IN, GameSpec, foreign_game
from pddlego.methods.textgames.modes import MODES, WRITES_DOMAIN
from pddlego.methods.textgames.restart import Restart
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import Exchange, Situation
from pddlego.models import Model
from pddlego.models.feedback import Feedback
from pddlego.models.prompts import Prompts
from pddlego.planning import Planner
from pddlego.refine.approval import Overseer
from pddlego.runs.recording import Timed


def make_method(mode: str, setting: GameSetting, seed: int, person: Person | None = None) -> Formalizer:
    """The method of a mode, its prompts tried out once.

    Raises `UsageError` for an unknown mode and `SettingError` for a prompt that cannot be rendered.
    """
    method = _method(mode, setting, seed, person)
    again = Feedback("trial", "trial", ("trial",))
    looked = (Exchange(None, "trial"), Exchange("trial", "trial"))
    first = Situation(
        rules=setting.reader,
        task="trial",
        domain=setting.domain,
        problem=setting.start,
        news=looked,
        history=looked,
        valid_commands=("trial",),
        notes=("trial",),
    )
    for situation in (first, replace(first, feedback=again, rejected="trial", attempt=1)):
        method.request(situation)
    return method


def _method(name: str, setting: GameSetting, seed: int, person: Person | None) -> Formalizer:
    prompts, variant, protocol = Prompts(setting.prompts), parse_variant(name, MODES), setting.protocol
    without = (*variant.without, *protocol.without)
    tolerant, one_message = "tolerance" not in without, protocol.one_message
    if variant.mode.name == "edit":
        return PddlEdit(prompts, tolerant, one_message=one_message, ignores_unmatched=protocol.ignores_unmatched)
    if variant.mode.name == "gen":
        return PddlGen(prompts, tolerant, one_message=one_message)
    if variant.mode.name in WRITES_DOMAIN:
        return FullEditor(prompts, tolerant) if variant.mode.name == "full-edit" else FullFormalizer(prompts, tolerant)
    if variant.mode.name == "act":
        return ActionGen(prompts, checked="check" not in without, one_message=one_message)
    if variant.mode.name == "random":
        return RandomActions(seed)
    if person is None:
        raise UsageError("Nobody is there to play", "Mode human needs a person.", "Use 'pddlego play'.")
    return HumanActions(person)


def make_game(setting: GameSetting, seed: int, java: str | None = None) -> Game:
    """The game of a setting. Raises `UsageError` for an unknown engine or seed, `EngineError` if the engine fails."""
    check_seed(setting, seed)
    values = {name: each.value for name, each in setting.parameters.items()}
    spec = GameSpec(setting.game, values, seed, setting.fold)
    if setting.engine != BUILT_IN:
        return foreign_game(setting.engine, spec)
    from pddlego.methods.textgames.games.java import shared_machine
    from pddlego.methods.textgames.games.textworld import TextWorldGame

    return TextWorldGame(spec, lambda: shared_machine(java))


def episode_events(
    episode: Episode,
    game: Game,
    model: Model,
    planner: Planner,
    *,
    overseer: Overseer | None = None,
    restart: Restart | None = None,
    person: Person | None = None,
) -> Timed:
    """Play and yield every event. `overseer` is asked before things take effect, `person` types in mode human."""
    method = make_method(episode.mode, episode.setting, episode.seed, person)
    thinking = Thinking(method, model, planner, overseer)
    agent = Agent(episode, game, thinking, restart=restart)
    return Timed(agent.run(), lambda: agent.seconds)
