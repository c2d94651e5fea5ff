"""What is known of a game while it is played: the domain, the problem, the goals, and the commands of actions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pddlego.errors import UsageError
from pddlego.pddl import Atom, Domain, Formula, PddlSyntaxError, Problem, TypedName, from_name, parse_domain, same_name
from pddlego.pddl.exclusive import Invariant
from pddlego.planning import PlanStep, Rung, Search
from pddlego.util.text import filled, names_in

EMPTY_DOMAIN = Domain("unwritten")
"""The domain before the first answer."""

SEARCH = Search.parse("wastar")
"""How goals of the model are planned for: near ones first, and far ones fast."""

SHOWN = 60
"""Characters of a goal that name it."""


@dataclass(frozen=True)
class ActionRule:
    """How a PDDL action is said in the game, and what the game answers if the plan is right (a regular expression).

    An empty command means that it is not known yet how to say it: a plan is carried out up to such a step. `where` is a
    fact of the problem in which values of the command are looked up that are not parameters of the action. `parameters`
    are what the command calls the action's parameters, in order, where the domain may call them otherwise.
    """

    command: str
    expect: str
    where: Atom | None = None
    parameters: tuple[TypedName, ...] | None = None


@dataclass(frozen=True)
class ModelDomain:
    """What a model wrote beside the problem: the domain, goals in the order in which they are to be tried, and the
    commands of its actions. Without goals the problem's own is the one; without commands those of the game count."""

    domain: Domain
    goals: tuple[Formula, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Knowledge:
    """The domain, the problem, the goals to try in order, and the command of each action.

    `only_planned` are predicates that come about in plans only. `placeholder` is what the names of rooms begin with
    that were not seen yet (`loc`: loc1, loc2, …), empty for none. `written` is there where a model wrote the domain.
    """

    domain: Domain
    problem: Problem
    ladder: tuple[Rung, ...] = ()
    actions: Mapping[str, ActionRule] = field(default_factory=dict)
    only_planned: tuple[str, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    placeholder: str = ""
    written: ModelDomain | None = None

    def with_problem(self, problem: Problem) -> Knowledge:
        """The same with another problem."""
        return replace(self, problem=problem)

    def command(self, step: PlanStep) -> str:
        """The game command of a plan step, empty if it has none yet.

        What the command says beyond the action's parameters is looked up in the problem: where no fact gives it, the
        command has a hole. A `KeyError` cannot happen: every action has a checked template, and one that a model wrote
        was checked to be the game's, or to have a command.
        """
        rule, arguments = self.actions[step.action], self.arguments(step)
        values = {**(_looked_up(rule.where, arguments, self.problem) if rule.where else {}), **arguments}
        words = {name.lstrip("?"): from_name(value) for name, value in values.items()}
        text = filled(rule.command, dict.fromkeys(names_in(rule.command), "") | words)
        return text if rule.where is None else " ".join(text.split())

    def arguments(self, step: PlanStep) -> dict[str, str]:
        """What each parameter of a step stands for, by the name that its command has for it."""
        own = self.actions[step.action].parameters
        parameters = self.domain.actions_by_name[step.action].parameters if own is None else own
        return {parameter.name: arg for parameter, arg in zip(parameters, step.args, strict=True)}

    def rewritten(self, written: ModelDomain, problem: Problem) -> Knowledge:
        """The knowledge with the model's domain, goals and commands in place of the setting's."""
        goals = tuple(Rung(_name(goal), goal, SEARCH) for goal in written.goals or (problem.goal,))
        actions = dict(self.actions)
        for action in written.domain.actions:
            command = written.commands.get(action.name)
            rule = _rule_of(self.actions, action.name)
            if command is not None:
                names = tuple(
                    replace(parameter, name=parameter.name.replace("-", "_")) for parameter in action.parameters
                )
                rule = ActionRule(command, "", None, names)
            if rule is not None:
                actions[action.name] = rule
        known = replace(self, domain=written.domain, problem=problem, actions=actions, written=written)
        return replace(known, ladder=self.ladder or goals)


def _looked_up(where: Atom, values: Mapping[str, str], problem: Problem) -> Mapping[str, str]:
    """The values of the variables of `where` in the first fact that fits; none where no fact does."""
    for fact in problem.sorted_facts():
        if fact.predicate == where.predicate and len(fact.args) == len(where.args):
            binding = dict(zip(where.args, fact.args, strict=True))
            if all(values.get(name, value) == value for name, value in binding.items() if name.startswith("?")):
                return binding
    return {}


def _rule_of(actions: Mapping[str, ActionRule], name: str) -> ActionRule | None:
    """How an action is said in the game: `open-door` and `open_door` are one."""
    exact = actions.get(name)
    return exact or next((rule for other, rule in actions.items() if same_name(other, name)), None)


def _name(goal: Formula) -> str:
    text = str(goal)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"


def reference_of(known: Knowledge) -> Knowledge:
    """What the files say, with the parameters that the commands of actions name, whatever a domain calls them."""
    actions = {
        name: replace(rule, parameters=known.domain.actions_by_name[name].parameters)
        for name, rule in known.actions.items()
    }
    return replace(known, actions=actions)


def blank_knowledge(reference: Knowledge, own_goals: bool, without: Collection[str]) -> Knowledge:
    """What is known before a model has written a domain. With `own_goals` the ladder stays; `without` schemas no action
    has a name."""
    return Knowledge(
        EMPTY_DOMAIN,
        Problem("game", EMPTY_DOMAIN.name),
        reference.ladder if own_goals else (),
        {} if "schemas" in without else reference.actions,
        placeholder=reference.placeholder,
    )


_COMMAND = "; command "


def written_text(written: ModelDomain) -> str:
    """The domain as a file that also says how its actions are typed, in comments."""
    return "\n".join([written.domain.text, *(f"{_COMMAND}{name}: {text}" for name, text in written.commands.items())])


def read_written(text: str) -> ModelDomain:
    """The domain and the commands of such a file. Raises `PddlSyntaxError`."""
    lines = (line.removeprefix(_COMMAND).partition(": ") for line in text.splitlines() if line.startswith(_COMMAND))
    return ModelDomain(parse_domain(text), commands={name: text for name, _, text in lines})


def beginning_with(blank: Knowledge, text: str) -> Knowledge:
    """What is known with a domain that was written before. Raises `UsageError` for a text that is not a domain."""
    try:
        written = read_written(text)
    except PddlSyntaxError as error:
        raise UsageError("The domain to begin with is invalid", f"{error.faults[0]}.", "Choose another.") from error
    known = blank.rewritten(written, Problem("game", written.domain.name))
    return replace(known, ladder=blank.ladder)
