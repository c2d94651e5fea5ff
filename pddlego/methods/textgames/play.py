"""Plays a cell, for the first time or again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pddlego.events import Event, Limits, Started
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.textgames.assembly import episode_events, make_game
from pddlego.methods.textgames.episode import Episode
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.formalize.human import Person, typed_before
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.modes import MODES
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.restart import Repeated, Restart
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.variants import setting_for
from pddlego.pddl import parse_problem
from pddlego.runs.cells import Cell
from pddlego.runs.kept import DOMAIN
from pddlego.runs.recording import Timed


def play(
    cell: Cell,
    setting: GameSetting,
    options: TextGameOptions,
    tools: Tools,
    game: Game | None = None,
    restart: Restart | None = None,
) -> Timed:
    """Every event of the episode, in the setting's game or in `game`, from its beginning or from `restart`.

    Raises `PddlegoError` if the game cannot be made.
    """
    recorded = tools.recorded
    domain = (tools.carried or None) if recorded is None else first_domain(recorded)
    episode = episode_of(cell, setting, options, tools.limits, retries=tools.retries, domain=domain)
    return episode_events(
        episode,
        game or make_game(setting, cell.seed, options.java),
        tools.model,
        tools.planner,
        overseer=tools.overseer,
        restart=restart if recorded is None else restart_of(recorded),
        person=tools.person if recorded is None else _typed(recorded),
    )


def episode_of(
    cell: Cell,
    setting: GameSetting,
    options: TextGameOptions,
    limits: Limits,
    *,
    retries: int,
    domain: str | None,
) -> Episode:
    """Assemble the episode of a cell, in the setting as its variant plays it. Play, eval, replay and resume use this.

    Where the model writes the domain, `domain` is the one to begin with; if None, the one that the options name.
    """
    return Episode(
        setting_for(setting, parse_variant(cell.mode, MODES), domain),
        cell.seed,
        cell.mode,
        replace(limits, steps=setting.max_steps if limits.steps is None else limits.steps),
        retries,
        replan_every_step=options.replan == "every-step",
        whole_memory=options.history == "all",
        rewinds=options.rewind,
    )


def first_domain(events: Sequence[Event]) -> str:
    """The domain of the model's with which a recorded episode began; empty if it began without one."""
    started = next((event for event in events if isinstance(event, Started)), None)
    return str(started.details.get(DOMAIN, "")) if started else ""


def _typed(events: Sequence[Event]) -> Person:
    """The person of a recorded episode. The commands before a resumption were repeated, and not typed."""
    resumed = next((number for number, event in enumerate(events) if isinstance(event, Resumed)), 0)
    observed = (event for event in events[resumed:] if isinstance(event, Observed))
    typed = (event for event in observed if event.step and not (event.free or event.repeated))
    return typed_before([event.command or "" for event in typed])


def restart_of(events: Sequence[Event]) -> Restart | None:
    """Where a recorded episode began, if it was resumed itself."""
    resumed = next((event for event in events if isinstance(event, Resumed)), None)
    if resumed is None:
        return None
    observed = [event for event in events[: events.index(resumed)] if isinstance(event, Observed)]
    commands = [
        Repeated(event.command, event.text, event.unforeseen, event.free)
        for event in observed
        if event.command is not None and not event.repeated
    ]
    return Restart(
        source=resumed.source,
        step=resumed.step,
        commands=commands,
        before=parse_problem(resumed.before),
        known=resumed.known,
        corrected=None if resumed.corrected is None else parse_problem(resumed.corrected),
        look=observed[0].text if observed else "",
        written=resumed.written,
    )
