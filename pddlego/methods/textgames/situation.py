"""What a formalizer is asked about: the values that a prompt is rendered from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pddlego.errors import UsageError
from pddlego.methods.textgames.settings import ActionRule, GameSetting, ReadingRule, Removable
from pddlego.models.base import Feedback
from pddlego.pddl import Atom, Domain, PddlSyntaxError, Problem, parse_domain, same_name
from pddlego.pddl.conditions import Formula
from pddlego.planning import Rung, Search

UNWRITTEN = Domain("unwritten")
"""The domain before the first answer."""

SEARCH = Search.parse("wastar")
"""How goals of the model are planned for: near ones first, and far ones fast."""

MOST_GOALS = 20
"""Goals of an answer that are tried at most."""

SHOWN = 60
"""Characters of a goal that name it."""


@dataclass(frozen=True)
class Written:
    """What a model wrote beside the problem: the domain, goals in the order in which they are to be tried, and the
    commands of its actions. Without goals the problem's own is the one; without commands the setting's count."""

    domain: Domain
    goals: tuple[Formula, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)


def unwritten(setting: GameSetting, own_goals: bool, without: Collection[str]) -> GameSetting:
    """The setting without its domain. With `own_goals` its ladder stays; `without` schemas no action has a name."""
    actions = {
        name: replace(rule, parameters=setting.domain.actions_by_name[name].parameters)
        for name, rule in setting.actions.items()
    }
    return replace(
        setting,
        domain=UNWRITTEN,
        start=Problem("game", UNWRITTEN.name),
        ladder=setting.ladder if own_goals else (),
        actions={} if "schemas" in without else actions,
        only_planned=(),
        invariants=(),
        script="",
        removable=Removable(),
        keeps_goals=own_goals,
        reference=replace(setting, actions=actions),
    )


_COMMAND = "; command "


def written_text(written: Written) -> str:
    """The domain as a file that also says how its actions are typed, in comments."""
    return "\n".join([written.domain.text, *(f"{_COMMAND}{name}: {said}" for name, said in written.commands.items())])


def read_written(text: str) -> Written:
    """The domain and the commands of such a file. Raises `PddlSyntaxError`."""
    lines = (line.removeprefix(_COMMAND).partition(": ") for line in text.splitlines() if line.startswith(_COMMAND))
    return Written(parse_domain(text), commands={name: said for name, _, said in lines})


def beginning_with(setting: GameSetting, text: str) -> GameSetting:
    """The setting with a domain that was written before. Raises `UsageError` for a text that is none."""
    try:
        written = read_written(text)
    except PddlSyntaxError as error:
        raise UsageError("The domain to begin with is none", f"{error.faults[0]}.", "Choose another.") from error
    begun = replace(setting, begun_with=text, start=Problem("game", written.domain.name))
    own = setting_with(begun, written, begun.start)
    return replace(own, ladder=setting.ladder)


def setting_with(setting: GameSetting, written: Written, problem: Problem) -> GameSetting:
    """The setting with what a model wrote: its domain, its goals unless the setting has some, its commands."""
    goals = tuple(Rung(_name(goal), goal, SEARCH) for goal in written.goals or (problem.goal,))
    actions = dict(setting.actions)
    for action in written.domain.actions:
        command = written.commands.get(action.name)
        rule = rule_of(setting, action.name)
        if command is not None:
            names = tuple(replace(each, name=each.name.replace("-", "_")) for each in action.parameters)
            rule = ActionRule(command, "", None, names)
        if rule is not None:
            actions[action.name] = rule
    return replace(
        setting, domain=written.domain, ladder=setting.ladder if setting.keeps_goals else goals, actions=actions
    )


def rule_of(setting: GameSetting, action: str) -> ActionRule | None:
    """How an action is said in the game: `open-door` and `open_door` are one."""
    exact = setting.actions.get(action)
    return exact or next((rule for name, rule in setting.actions.items() if same_name(name, action)), None)


def _name(goal: Formula) -> str:
    text = str(goal)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"


def schemas(setting: GameSetting) -> tuple[str, ...]:
    """The names and parameters of the actions that the game has commands for, as PDDL; of our own files, whatever a
    model has written."""
    rules = setting.reference.actions if setting.reference is not None else {}
    return tuple(
        f"{name} ({' '.join(f'{each.name} - {each.type}' for each in rule.parameters or ())})"
        for name, rule in sorted(rules.items())
    )


@dataclass(frozen=True)
class Exchange:
    """A command (None for the first observation) and what was read of the game's answer.

    `score`, from 0 to 1, is there in settings where the score is read too; `gained` is by how much it grew.
    `unforeseen` says what the plan expected, where the game answered otherwise. `after` are the facts that the plan
    expected to be true then, where the game answered exactly so and said nothing that was not known.
    """

    command: str | None
    text: str
    score: float | None = None
    gained: float = 0.0
    unforeseen: str = ""
    after: frozenset[Atom] | None = None


@dataclass(frozen=True)
class Situation:
    """Everything a request may be rendered from.

    `news` is what happened since the last accepted answer, `history` all of the episode. `notes` are remarks on the
    last accepted answer (edit lines that matched nothing), `contradictions` say how the problem contradicts itself.
    `feedback` and `rejected` are set when the last answer to this same question could not be used; `attempt` counts
    from 0, `repeated` how often in a row that answer was the one that had been rejected before it. `rules` names the
    reader's rules for the game; `reading` are those that are data. `only_planned` are predicates that come about in
    plans only. `refused` are commands that the game refused again and again while the problem stayed as it is, with how
    often; then `news` is everything since it last changed. `placeholder` is the first name for a room not yet seen that
    was never used, empty where a game has no such names. `reworded` counts the repetitions that are met with other
    words, because the endpoint takes no temperature. Where the model writes the domain, too, `schemas` are the actions
    that the game has commands for, `goals` the conditions that the domain must have words for, `written` what the last
    accepted answer brought, `repeating` the last commands where they repeat, and `reference` is for stand-ins. Many
    fields, because a prompt may show each of them.
    """

    rules: str
    task: str
    domain: Domain
    problem: Problem
    news: tuple[Exchange, ...] = ()
    history: tuple[Exchange, ...] = ()
    valid_commands: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    feedback: Feedback | None = None
    rejected: str = ""
    attempt: int = 0
    reading: tuple[ReadingRule, ...] = ()
    only_planned: tuple[str, ...] = ()
    repeated: int = 0
    contradictions: tuple[str, ...] = ()
    refused: tuple[tuple[str, int], ...] = ()
    placeholder: str = ""
    reworded: int = 0
    schemas: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    written: Written | None = None
    repeating: tuple[str, ...] = ()
    reference: GameSetting | None = None
