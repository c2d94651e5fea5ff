"""The arguments of an episode, and the agent's session with a game: it compares each observation with the plan."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from pddlego.episode.budget import Budget
from pddlego.episode.events import Limits
from pddlego.episode.trace import Trace
from pddlego.errors import ReplayError
from pddlego.methods.base import Variant, parse_variant
from pddlego.methods.textgames.events import ConstraintJudged, Observed, Planned, PlannedStep
from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.games import Game, Lists, Observation
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.options import CONTENT_RULES, MODES, PLANNING, WRITES_DOMAIN, TextGameOptions
from pddlego.methods.textgames.reader.paper_cooking import PaperCooking
from pddlego.methods.textgames.settings import FixedRule, GameSetting
from pddlego.pddl import Atom, Problem, from_name, same_name, to_name
from pddlego.planning import LadderResult, PlanStep, Rung
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import filled


@dataclass(frozen=True)
class EpisodeSetup:
    """The arguments of an episode. Raises `UsageError` for a mode that does not exist.

    `retries` is the maximum number of retries after an unusable answer, unless the setting has a maximum of its own.
    """

    setting: GameSetting
    seed: int
    mode: str
    limits: Limits
    retries: int = 5
    options: TextGameOptions = field(default_factory=TextGameOptions)

    def __post_init__(self) -> None:
        parse_variant(self.mode, MODES)

    @property
    def variant(self) -> Variant:
        """The parsed mode: its base and the removed parts."""
        return parse_variant(self.mode, MODES)

    @property
    def without(self) -> frozenset[str]:
        """The removed parts: those that the variant removes, and those that the setting removes from every mode."""
        return frozenset((*self.variant.without, *self.setting.asking.protocol.removed))

    @property
    def most_retries(self) -> int:
        """The maximum number of retries after an unusable answer; that of the setting takes precedence."""
        attempts = self.setting.asking.protocol.attempts
        return self.retries if attempts is None else attempts - 1

    @property
    def writes_domain(self) -> bool:
        """Whether the model writes the domain as well as the problem."""
        return self.variant.mode.name in WRITES_DOMAIN

    @property
    def plans(self) -> bool:
        """Whether the model writes problems and a planner chooses the commands."""
        return self.variant.mode.name in PLANNING

    @property
    def monitors(self) -> bool:
        """Whether the agent compares observations with the plan.

        If it does, a mismatch ends the plan, and no model is asked if the observations state only the plan's effects.
        """
        return self.plans and "replanning" not in self.without


@dataclass(frozen=True)
class Restart:
    """The state from which the episode in the journal `source` can be restarted after `step`.

    `commands` are the recorded commands up to the step; when they are repeated, the game's observations must equal the
    recorded ones. `before` is the last accepted problem, which covers the first `covered_observations` observations.
    The agent plans with the user's version of it, `corrected`, if there is one. Otherwise it asks the model about the
    observations that are not covered. `first_observation` is empty if it is unknown. `written` is what the model
    wrote beside problems: its domain with the commands of its actions, or its reading rules. `rejected` is the problem
    of the step's last answer if that was rejected and could be read. In mode `learn`, the recorded episode up to the
    step is played again with its answers (`repeated`). In a replay (`replayed`), the model already gives these answers.
    `constraint` is what the states from the step on must satisfy, and `broken` says what was broken until then.
    """

    source: str
    step: int
    commands: Sequence[Observed]
    before: Problem
    covered_observations: int
    corrected: Problem | None = None
    first_observation: str = ""
    written: str = ""
    rejected: Problem | None = None
    repeated: Trace | None = None
    replayed: bool = False
    constraint: str = ""
    broken: tuple[ConstraintJudged, ...] = ()

    @property
    def latest(self) -> Problem:
        """The model's last problem: the rejected one if there is one, else the accepted one."""
        return self.rejected or self.before


def check_same(to: str, recorded: str, now: str) -> None:
    """Raise `ReplayError` if the game's observation `now` differs from the `recorded` one."""
    if recorded and recorded != now:
        what = f"The game answers otherwise than recorded to {to}"
        raise ReplayError(what, f"Recorded: {recorded!r}. Now: {now!r}.", "Is it the same game and seed?")


def mismatch(knowledge: Knowledge, step: PlanStep, text: str, texts: Iterable[str]) -> str:
    """The difference between the observation `text` and the expected outcome of `step`; empty if they match.

    A parameter is a placeholder if its name is in none of `texts`, the observations so far. The game may print any new
    name for a placeholder. If the game prints the name of another object of the problem, the map is wrong.
    """
    expect = knowledge.actions[step.action].expect
    if not expect:
        return ""
    match = re.search(expect, text)
    if match is None:
        return "the game answered otherwise than the plan expected"
    predicted = _predicted(knowledge, step)
    objects = {obj.name for obj in knowledge.problem.objects}
    for parameter, printed in match.groupdict().items():
        expected = predicted[parameter]
        if printed is None or same_name(printed, expected):
            continue
        if to_name(printed) in objects or any(names_any([expected], text) for text in texts):
            return f"the plan expected {from_name(expected)}, and it is {printed}"
    return ""


def says_nothing_new(knowledge: Knowledge, step: PlanStep, read: str, texts: Iterable[str]) -> bool:
    """Whether the expected observation `read` states nothing but the effects of `step`.

    That is the case if the pattern of the action matches all of it, or if it is equal to an earlier one in `texts`.
    """
    expect = knowledge.actions[step.action].expect
    if not expect or read in texts:
        return bool(expect)
    match = re.fullmatch(expect, read)
    predicted = _predicted(knowledge, step)
    return match is not None and all(
        printed is not None and same_name(printed, predicted[parameter])
        for parameter, printed in match.groupdict().items()
    )


def printed_names(knowledge: Knowledge, step: PlanStep, text: str) -> dict[str, str]:
    """The names that the observation `text` prints in place of other arguments of a step."""
    match = re.search(knowledge.actions[step.action].expect, text)
    pairs = ((_predicted(knowledge, step)[name], value) for name, value in (match.groupdict() if match else {}).items())
    return {name: to_name(value) for name, value in pairs if value and not same_name(name, value)}


def _predicted(knowledge: Knowledge, step: PlanStep) -> dict[str, str]:
    """The arguments of a step by the parameters' names, without the `?`."""
    return {name.lstrip("?"): value for name, value in knowledge.arguments(step).items()}


def normalize_command(command: str, valid_commands: Iterable[str]) -> str:
    """The valid command that differs from `command` in case and separators only, or else `command` itself.

    Games distinguish `TV stand` and `tv stand`, PDDL does not, and a model may write `tv-stand`.
    """
    valid = list(valid_commands)
    if command in valid or not command:
        return command
    return next((candidate for candidate in valid if same_name(candidate, command)), command)


def names_any(names: Iterable[str], text: str) -> bool:
    """Whether an observation contains one of the PDDL names as the game spells them."""
    return any(re.search(rf"\b{re.escape(from_name(name))}\b", text, re.IGNORECASE) for name in names)


@dataclass(frozen=True)
class Intention:
    """A command to send. A command of a plan has the `step` of the plan, and `planned`, its expected effects.

    `after` are the facts that the plan expects to be true after the step, and `effects` those that the step makes true
    and those that it makes false. `by_rule` marks a command of a fixed rule, and `continues` a command of the same
    answer as the one before.
    """

    command: str
    step: PlanStep | None = None
    planned: PlannedStep | None = None
    after: frozenset[Atom] | None = None
    effects: tuple[frozenset[Atom], frozenset[Atom]] = (frozenset(), frozenset())
    by_rule: bool = False
    continues: bool = False


def _with_effects(exchange: Exchange, effects: tuple[frozenset[Atom], frozenset[Atom]], known: Knowledge) -> Exchange:
    """The exchange with the effects of its step, and what is known of the placeholders that they name."""
    names = {arg for facts in effects for fact in facts for arg in fact.args if known.is_placeholder(arg)}
    unnamed = frozenset(fact for fact in known.problem.facts if not names.isdisjoint(fact.args))
    return replace(exchange, effects=effects, unnamed=unnamed)


def intended(knowledge: Knowledge, ladder: LadderResult) -> tuple[tuple[Intention, ...], Planned]:
    """The commands of the ladder's plan, up to the first step without a command, and the event of the whole plan."""
    steps = ladder.plan.steps if ladder.plan else ()
    world = World(knowledge.domain, knowledge.problem, Work())  # the planner has executed this plan, within its time
    states = accumulate(steps, lambda state, step: world.after(step, state), initial=world.initial)
    intentions = []
    for step, (before, after) in zip(steps, pairwise(frozenset(state.facts) for state in states), strict=True):
        effects = after - before, before - after
        added, removed = (tuple(sorted(map(str, facts))) for facts in effects)
        planned = PlannedStep(str(step), knowledge.command(step), added, removed)
        intentions.append(Intention(planned.command, step, planned, after, effects))
    shown = tuple(intention.planned for intention in intentions if intention.planned)
    end = next((number for number, intention in enumerate(intentions) if not intention.command), len(intentions))
    return tuple(intentions[:end]), Planned(ladder.tried, ladder.rung, shown)


def unforeseen(intention: Intention, difference: str, refused: bool, hidden: Collection[str] = ()) -> str:
    """A sentence for the model: the expected effects of a step, and the actual outcome.

    Empty if the command is not a step of a plan, or if the outcome is the expected one. Effects with `hidden`
    predicates are left out: problems do not state them.
    """
    planned = intention.planned
    if planned is None or not (difference or refused):
        return ""
    changes = [
        f"make {change} {value}"
        for value, facts in (("true", planned.added), ("false", planned.removed))
        for change in facts
        if change.strip("()").split(" ", 1)[0] not in hidden
    ]
    expectation = f"{planned.action} was to {', '.join(changes) or 'change nothing'}"
    return f"{expectation}; {'the game refused the command' if refused else difference}."


class GameSession:
    """A running game, the memory of its observations, and its fixed rules. `seen` is the last observation."""

    def __init__(self, episode: EpisodeSetup, game: Game, memory: Memory, budget: Budget) -> None:
        self.seen = Observation("")
        self._table, self.observing, fixed = episode.setting.game, episode.setting.observing, episode.setting.fixed
        self.game, self.memory, self.budget = game, memory, budget
        script = PaperCooking(CONTENT_RULES not in episode.without) if fixed.script and episode.plans else None
        self.rules = FixedRules(fixed.rules, script)
        self._worked: list[tuple[str, str]] = []
        self._asking = episode.setting.asking
        all_valid = episode.options.valid_actions == "all" or self._asking.protocol.plain_requests
        self._all_valid = all_valid and not episode.plans

    def start(self) -> Observed:
        """Start the game, and return its first observation."""
        return self._observe(None, self.game.start())

    def every_command(self) -> tuple[str, ...]:
        """All valid commands of a game that can list them beside its observations; otherwise empty."""
        return self.game.all_commands() if isinstance(self.game, Lists) else ()

    def send(self, intention: Intention, knowledge: Knowledge) -> Observed:
        """Send a command, and compare the observation with the plan; `knowledge` is that of the plan."""
        return self._observe(intention, self.game.step(intention.command), knowledge)

    def look(self, command: str) -> Observed:
        """Repeat the description of the place as an observation, without a command or a step."""
        return self._observe(Intention(command), self._description(), free=True)

    def go_back(self, restart: Restart) -> Iterator[Observed]:
        """Repeat the commands of a restart. Raises `ReplayError` if an observation differs from the recorded one."""
        check_same("the first look", restart.first_observation, self.seen.text)
        for repeated in restart.commands:
            command = repeated.command or ""
            answer = self._description() if repeated.free else self.game.step(command)
            check_same(f"'{command}'", repeated.text, answer.text)
            intention = Intention(command, continues=repeated.continues)
            yield self._observe(intention, answer, None, repeated.unforeseen, repeated.free)

    def rewind(self) -> Iterator[Observed]:
        """Start the game again, and repeat the commands that were not refused (PDDLego+). Raises `ReplayError`."""
        self.seen = self.game.start()
        for command, text in self._worked:
            answer = self.game.step(command)
            check_same(f"'{command}'", text, answer.text)
            self.seen = answer
            yield Observed(self.budget.usage.steps, command, answer.text, "", answer.score, repeated=True)

    def _description(self) -> Observation:
        return replace(self.seen, text=self.seen.look)

    def _as_planned(
        self, exchange: Exchange, intention: Intention, knowledge: Knowledge, score: float, nothing_new: bool
    ) -> Exchange:
        """The exchange with the effects of a planned step, as far as the game has confirmed them."""
        assert intention.step is not None
        rule = knowledge.actions[intention.step.action]
        if intention.planned is not None and (knowledge.written is None or rule.expect):
            exchange = _with_effects(exchange, intention.effects, knowledge)
        gained = score - self.seen.score
        is_expected = not self.observing.score or not gained or (rule.gains and gained > 0)
        return replace(exchange, after=intention.after) if nothing_new and is_expected else exchange

    def _observe(
        self,
        intention: Intention | None,
        answer: Observation,
        knowledge: Knowledge | None = None,
        recorded: str = "",
        free: bool = False,
    ) -> Observed:
        """Add an observation to the memory, and return its event.

        `knowledge` is that with which the command was planned, and `recorded` the sentence about a mismatch from
        the journal of a restarted episode. A `free` observation does not count as a step.
        """
        refused = self._table.is_refused(answer.text)
        read = self.observing.read(answer.text)
        difference, exchange = "", Exchange(intention.command if intention else None, read, refused=refused)
        if self._all_valid:
            valid = self._asking.shown(answer.valid_commands)
            exchange = replace(exchange, valid_commands=valid, kinds=answer.kinds, things=answer.things)
        if knowledge is not None and intention is not None and intention.step is not None and not answer.won:
            texts = [earlier.text for earlier in self.memory.history]
            difference = mismatch(knowledge, intention.step, answer.text, texts)
            if not (difference or refused):
                nothing_new = says_nothing_new(knowledge, intention.step, read, texts)
                exchange = self._as_planned(exchange, intention, knowledge, answer.score, nothing_new)
        if intention is not None:
            answered, hidden = self.rules.answers(answer.text), knowledge.only_planned if knowledge else ()
            sentence = recorded or ("" if answered else unforeseen(intention, difference, refused, hidden))
            undone = intention.planned.removed if intention.planned else () if free else None
            exchange = replace(exchange, unforeseen=sentence, continues=intention.continues, undone=undone)
            if self.observing.score:
                exchange = replace(exchange, score=answer.score, gained=answer.score - self.seen.score)
        self.seen, self.budget.score = answer, answer.score
        self.rules.take_in(exchange.command, answer.text)
        by_rule = intention is not None and intention.by_rule
        self.memory.take(exchange, refused, reported=self.rules.is_reported or not by_rule)
        if intention is not None and not free:
            self.budget.step(refused)
            if not refused:
                self._worked.append((intention.command, answer.text))
        return Observed(
            step=self.budget.usage.steps,
            command=exchange.command,
            text=answer.text,
            read=exchange.text,
            score=answer.score,
            won=answer.won,
            lost=answer.lost,
            refused=refused,
            mismatch=difference,
            unforeseen=exchange.unforeseen,
            free=free,
            continues=exchange.continues,
            task=self.game.task if intention is None else "",
        )


class FixedRules:
    """The fixed rules and the script of a setting, with their state in one episode."""

    def __init__(self, rules: Sequence[FixedRule], script: PaperCooking | None = None) -> None:
        self._rules, self.script = rules, script
        self._waiting: deque[str] = deque()
        self._sent: set[str] = set()

    @property
    def is_reported(self) -> bool:
        """Whether the model reads the observations of their commands: a script adds their facts to problems itself."""
        return self.script is None

    def take_in(self, command: str | None, text: str) -> None:
        """Queue the commands of the rules that match the observation `text`, which followed `command`."""
        if command is not None and command in self._waiting:  # the command was repeated for a restart
            self._waiting.remove(command)
            self._sent.add(command)
        if self.script is not None:
            self.script.take_in(command, text)
        for rule in self._rules:
            for match in re.finditer(rule.when, text):
                due = filled(rule.command, match.groupdict(default=""))
                if due not in self._waiting and not (rule.once and due in self._sent):
                    self._waiting.append(due)

    def answers(self, text: str) -> bool:
        """Whether a rule answers the question of the game in an observation."""
        return any(rule.question and re.search(rule.when, text) for rule in self._rules)

    def due(self) -> str | None:
        """Remove the next command from the queue, and return it; None if the queue is empty."""
        command = self._waiting.popleft() if self._waiting else self.script.due() if self.script else None
        if command is not None:
            self._sent.add(command)
        return command

    def with_script_facts(self, problem: Problem) -> Problem:
        """The problem with the facts that the script knows."""
        return self.script.with_script_facts(problem) if self.script is not None else problem

    def ladder(self, ladder: tuple[Rung, ...]) -> tuple[Rung, ...]:
        """The goals of the script, followed by those of the ladder."""
        return (*(self.script.goals() if self.script is not None else ()), *ladder)

    def plan_ended(self, rung: str | None) -> None:
        """Notify the script that a plan for the goal `rung` was executed completely."""
        if self.script is not None:
            self.script.plan_ended(rung)
