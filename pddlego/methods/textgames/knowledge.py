"""The agent's knowledge of a game: the domain, the problem, the goals, and the commands of actions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pddlego.errors import JournalError, UsageError
from pddlego.methods.textgames.reading.rules import LearnedRules, parse_learned
from pddlego.pddl import Atom, Domain, Formula, PddlSyntaxError, Problem, TypedName, from_name, parse_domain, same_name
from pddlego.pddl.conditions import Exists, atoms_of
from pddlego.pddl.invariants import Invariant
from pddlego.planning import PlanStep, Rung, Search
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import filled, names_in

EMPTY_DOMAIN = Domain("unwritten")
"""The domain before the first answer."""

SEARCH = Search.parse("wastar")
"""The search for the model's own goals, for which a setting has no search: it also finds long plans fast."""

SHOWN = 60
"""Maximum length of a goal's name in characters."""


@dataclass(frozen=True)
class ActionRule:
    """The template of an action's command, and the regular expression `expect` for the expected observation.

    An empty command means that the command is not known yet: a plan is executed up to such a step. `where` is a pattern
    of a fact in which the values of other variables of the command are looked up. `parameters` are the names of the
    action's parameters in the command, in their order; None if they are the names of the domain. If the action `gains`,
    it is expected that the score rises.
    """

    command: str
    expect: str
    where: Atom | None = None
    parameters: tuple[TypedName, ...] | None = None
    gains: bool = False


@dataclass(frozen=True)
class ModelDomain:
    """The domain that a model wrote, its goals in the order in which they are tried, and the commands of its actions.

    Without goals the goal of the problem is used, and for actions without commands those of the setting.
    """

    domain: Domain
    goals: tuple[Formula, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Base:
    """A problem that a model or a person wrote, or that confirmed steps of a plan made, on which reading rules go on.

    It covers the first `exchanges` exchanges of the episode.
    """

    problem: Problem
    exchanges: int


@dataclass(frozen=True)
class Knowledge:
    """The domain, the problem, the goals in the order in which they are tried, and the command of each action.

    Facts of `only_planned` predicates are effects of planned actions, and never part of a problem file. `placeholder`
    is the prefix of the names of rooms that were not seen yet (`loc`: loc1, loc2, …); it is empty if the setting has no
    placeholders. The first variable of `sought` stands for a thing that the agent looks for. `written` is the model's
    own domain; it is None if the setting has the domain. Requests do not list the `unused` predicates, which are for
    other kinds of tasks. `learned` are the reading rules that the model has written. They go on from the `base`;
    without one they read the whole episode.
    """

    domain: Domain
    problem: Problem
    ladder: tuple[Rung, ...] = ()
    actions: Mapping[str, ActionRule] = field(default_factory=dict)
    only_planned: tuple[str, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    placeholder: str = ""
    sought: Exists | None = None
    written: ModelDomain | None = None
    unused: tuple[str, ...] = ()
    learned: LearnedRules = field(default_factory=LearnedRules)
    base: Base | None = None

    def is_placeholder(self, name: str) -> bool:
        """Whether a name is that of a room that was not seen yet."""
        prefix = self.placeholder
        return bool(prefix) and name.startswith(prefix) and name.removeprefix(prefix).isdecimal()

    def with_problem(self, problem: Problem) -> Knowledge:
        """The knowledge with another problem."""
        return replace(self, problem=problem)

    def sought_for(self, goal: Formula) -> frozenset[str]:
        """The names of the things that a plan for the goal looks for; empty if the goal is not about such things."""
        if self.sought is None or not _predicates(self.sought) & _predicates(goal):
            return frozenset()
        world, first = World(self.domain, self.problem, Work()), self.sought.variables[0]
        bindings = world.bindings(self.sought.variables, {})
        holds = (binding for binding in bindings if world.holds(self.sought.part, world.initial, binding))
        return frozenset(binding[first.name] for binding in holds)

    def command(self, step: PlanStep) -> str:
        """The command of a plan step; empty if it is not known yet.

        Variables of the command that are not parameters of the action are looked up in the facts of the problem. A
        variable without such a fact becomes an empty text. Every action has a rule: that of a setting was checked on
        loading, and that of a model's domain when the answer was read.
        """
        rule, arguments = self.actions[step.action], self.arguments(step)
        values = {**(_looked_up(rule.where, arguments, self.problem) if rule.where else {}), **arguments}
        words = {name.lstrip("?"): from_name(value) for name, value in values.items()}
        text = filled(rule.command, dict.fromkeys(names_in(rule.command), "") | words)
        return text if rule.where is None else " ".join(text.split())

    def arguments(self, step: PlanStep) -> dict[str, str]:
        """The arguments of a step by the names of the parameters in the command."""
        own = self.actions[step.action].parameters
        parameters = self.domain.actions_by_name[step.action].parameters if own is None else own
        return {parameter.name: arg for parameter, arg in zip(parameters, step.args, strict=True)}

    @property
    def has_no_goals(self) -> bool:
        """Whether the goals are the model's to write, and only the problem file has one."""
        own = self.written is not None and not self.written.goals
        return own and self.ladder == (Rung(_name(self.problem.goal), self.problem.goal, SEARCH),)

    def rewritten(self, written: ModelDomain, problem: Problem) -> Knowledge:
        """The knowledge with the model's domain and commands and goals."""
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
        return replace(self, domain=written.domain, problem=problem, ladder=goals, actions=actions, written=written)


def _predicates(formula: Formula) -> set[str]:
    return {atom.predicate for atom in atoms_of(formula)}


def _looked_up(where: Atom, values: Mapping[str, str], problem: Problem) -> Mapping[str, str]:
    """The arguments of the first fact that matches `where` and `values`, by the terms of `where`; empty without one."""
    for fact in problem.sorted_facts():
        if fact.predicate == where.predicate and len(fact.args) == len(where.args):
            binding = dict(zip(where.args, fact.args, strict=True))
            if all(values.get(name, value) == value for name, value in binding.items() if name.startswith("?")):
                return binding
    return {}


def _rule_of(actions: Mapping[str, ActionRule], name: str) -> ActionRule | None:
    """The rule of an action. `open-door` and `open_door` name the same action."""
    exact = actions.get(name)
    return exact or next((rule for other, rule in actions.items() if same_name(other, name)), None)


def _name(goal: Formula) -> str:
    text = str(goal)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"


def reference_of(knowledge: Knowledge) -> Knowledge:
    """The knowledge with the parameters of its domain in every action rule, so that a model may rename them."""
    actions = {
        name: replace(rule, parameters=knowledge.domain.actions_by_name[name].parameters)
        for name, rule in knowledge.actions.items()
    }
    return replace(knowledge, actions=actions)


def blank_knowledge(reference: Knowledge, without: Collection[str]) -> Knowledge:
    """The knowledge before a model has written a domain: it has the action rules of the `reference` unless `schemas`
    are removed.
    """
    return Knowledge(
        EMPTY_DOMAIN,
        Problem("game", EMPTY_DOMAIN.name),
        (),
        {} if "schemas" in without else reference.actions,
        placeholder=reference.placeholder,
    )


_COMMAND = "; command "


def written_text(written: ModelDomain) -> str:
    """The text of the domain with the commands of its actions as comments."""
    return "\n".join([written.domain.text, *(f"{_COMMAND}{name}: {text}" for name, text in written.commands.items())])


def read_written(text: str) -> ModelDomain:
    """Parse a text of `written_text`. Raises `PddlSyntaxError` if its domain is invalid."""
    lines = (line.removeprefix(_COMMAND).partition(": ") for line in text.splitlines() if line.startswith(_COMMAND))
    return ModelDomain(parse_domain(text), commands={name: text for name, _, text in lines})


def restored(start: Knowledge, text: str, problem: Problem) -> Knowledge:
    """The knowledge `start` with a problem, and with what a model wrote beside it: a domain, reading rules, or nothing.

    Raises `JournalError` if the text is invalid.
    """
    try:
        if text.startswith(("[[reading]]", "opinions = ", "unread = ")):
            return replace(start.with_problem(problem), learned=parse_learned(text))
        return start.rewritten(read_written(text), problem) if text else start.with_problem(problem)
    except ValueError as error:
        what, reason = "The recorded domain or rules are damaged", " ".join(f"{error}".split())
        raise JournalError(what, f"{reason}.", "Restore the journal.") from error


def beginning_with(blank: Knowledge, text: str) -> Knowledge:
    """The `blank` knowledge with a domain from an earlier episode. Raises `UsageError` if the text is not a domain."""
    try:
        written = read_written(text)
    except PddlSyntaxError as error:
        raise UsageError("The domain to begin with is invalid", f"{error.faults[0]}.", "Choose another.") from error
    knowledge = blank.rewritten(written, Problem("game", written.domain.name))
    return replace(knowledge, ladder=blank.ladder)
