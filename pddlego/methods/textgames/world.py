"""An episode of a text game, and the game as the agent sees it: every answer is remembered and compared with a plan."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from pddlego.episode.budget import Budget
from pddlego.episode.events import Limits
from pddlego.errors import DIFFERS, ReplayError
from pddlego.methods.base import Variant, parse_variant
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.games import Game, Lists, Observation
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.options import MODES, PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.reader.houses import PaperCooking
from pddlego.methods.textgames.settings import FixedRule, GameSetting
from pddlego.pddl import Atom, Problem, from_name, same_name, to_name
from pddlego.planning import LadderResult, PlanStep, Rung
from pddlego.planning.world import World
from pddlego.util.limits import Work
from pddlego.util.text import filled


@dataclass(frozen=True)
class Episode:
    """The setting, the seed, the mode and its limits.

    `retries` says how often the model is asked again about an unusable answer, if the setting does not. With its `whole
    memory` a model is shown every command with its answer, and not what is new; one that `rewinds` begins the game anew
    after a refused command, and repeats what had worked. With `truth` every fact of the model is checked. Raises
    `UsageError` for a mode that does not exist.
    """

    setting: GameSetting
    seed: int
    mode: str
    limits: Limits
    retries: int = 5
    replan_every_step: bool = False
    whole_memory: bool = False
    rewinds: bool = False
    truth: bool = False

    def __post_init__(self) -> None:
        parse_variant(self.mode, MODES)

    @property
    def variant(self) -> Variant:
        """The mode, taken apart."""
        return parse_variant(self.mode, MODES)

    @property
    def without(self) -> frozenset[str]:
        """The parts that are out: those of the variant, and those that no mode has in this setting."""
        return frozenset((*self.variant.without, *self.setting.asking.protocol.without))

    @property
    def most_retries(self) -> int:
        """How often a question is asked again at most: the setting may have a number of its own."""
        attempts = self.setting.asking.protocol.attempts
        return self.retries if attempts is None else attempts - 1

    @property
    def writes_domain(self) -> bool:
        """Whether the model writes the domain, too."""
        return self.variant.mode.name in WRITES_DOMAIN

    @property
    def plans(self) -> bool:
        """Whether there are problems and plans in it."""
        return self.variant.mode.name in PLANNING

    @property
    def monitors(self) -> bool:
        """Whether what the game answers is compared with what the plan expected: a surprise ends the plan, and no
        question is asked where all went as expected and nothing else was said."""
        return self.plans and "replanning" not in self.without


@dataclass(frozen=True)
class Restart:
    """Where the episode that was recorded at `source` continues: after `step`.

    `commands` bring the game there; its responses must equal the recorded ones. `before` is the problem that the agent
    had there, made from the first `known` observations. `corrected` is the user's version of it, with which the agent
    plans immediately. Without it, the agent asks the model about the observations since then, if there are any.
    `look` is the game's first response, if it is known, and `written` the model's own domain with its commands, if it
    wrote one. `rejected` is the problem in the last answer of the step, if it could be read and led to no plan.
    """

    source: str
    step: int
    commands: Sequence[Observed]
    before: Problem
    known: int
    corrected: Problem | None = None
    look: str = ""
    written: str = ""
    rejected: Problem | None = None

    @property
    def latest(self) -> Problem:
        """What is best corrected: all that the model made of what it saw, accepted or not."""
        return self.rejected or self.before


def _check_same(to: str, recorded: str, now: str) -> None:
    """Raises `ReplayError` if the game answers otherwise than it did before."""
    if recorded and recorded != now:
        raise ReplayError(
            f"{DIFFERS} to {to}", f"Recorded: {recorded!r}. Now: {now!r}.", "Is it the same game and seed?"
        )


def mismatch(known: Knowledge, step: PlanStep, text: str, texts: Iterable[str]) -> str:
    """How `text` differs from what `step` should bring; empty if it does not.

    A parameter whose name the game has never printed (`texts` are its answers so far) is a placeholder. It may turn out
    to be anything new, but not something that the problem already knows under another name: then the map is wrong.
    """
    expect = known.actions[step.action].expect
    if not expect:
        return ""
    match = re.search(expect, text)
    if match is None:
        return "the game answered otherwise than the plan expected"
    predicted = _predicted(known, step)
    objects = {obj.name for obj in known.problem.objects}
    for name, seen in match.groupdict().items():
        wanted = predicted[name]
        if seen is None or same_name(seen, wanted):
            continue
        if to_name(seen) in objects or _was_said(wanted, texts):
            return f"the plan expected {from_name(wanted)}, and it is {seen}"
    return ""


def says_nothing_new(known: Knowledge, step: PlanStep, read: str, texts: Iterable[str]) -> bool:
    """Whether the text `read` from an expected answer contains nothing beyond the effects of `step`.

    It does not if it is that and no word more, or if the game has said all of it before.
    """
    expect = known.actions[step.action].expect
    if not expect or read in texts:
        return bool(expect)
    match = re.fullmatch(expect, read)
    predicted = _predicted(known, step)
    return match is not None and all(
        seen is not None and same_name(seen, predicted[name]) for name, seen in match.groupdict().items()
    )


def _predicted(known: Knowledge, step: PlanStep) -> dict[str, str]:
    """What each parameter of a step stands for, without its `?`."""
    return {name.lstrip("?"): value for name, value in known.arguments(step).items()}


def normalize_command(command: str, candidate: Iterable[str]) -> str:
    """The valid command with the same meaning, if `command` itself is not valid.

    Games distinguish `TV stand` and `tv stand`, PDDL does not, and a model may call it `tv-stand`.
    """
    commands = list(candidate)
    if command in commands or not command:
        return command
    return next((candidate for candidate in commands if same_name(candidate, command)), command)


def _was_said(name: str, texts: Iterable[str]) -> bool:
    pattern = re.compile(rf"\b{re.escape(from_name(name))}\b", re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


@dataclass(frozen=True)
class Intention:
    """A command to send; if a planner chose it, with the plan's step and what that is expected to change.

    `after` are the facts that are true after it, if all goes as planned. `by_rule`: a fixed rule asks for it.
    """

    command: str
    step: PlanStep | None = None
    planned: PlannedStep | None = None
    after: frozenset[Atom] | None = None
    by_rule: bool = False


def intended(known: Knowledge, ladder: LadderResult) -> tuple[tuple[Intention, ...], Planned]:
    """The commands of the plan that the ladder gave, up to the first step without one; and all of it as an event."""
    steps = ladder.plan.steps if ladder.plan else ()
    world = World(known.domain, known.problem, Work())  # the planner has executed this plan, within its time
    states = accumulate(steps, lambda state, step: world.after(step, state), initial=known.problem.facts)
    intentions = []
    for step, (before, after) in zip(steps, pairwise(states), strict=True):
        added, removed = (tuple(sorted(map(str, facts))) for facts in (after - before, before - after))
        planned = PlannedStep(str(step), known.command(step), added, removed)
        intentions.append(Intention(planned.command, step, planned, after))
    shown = tuple(intention.planned for intention in intentions if intention.planned)
    end = next((number for number, intention in enumerate(intentions) if not intention.command), len(intentions))
    return tuple(intentions[:end]), Planned(ladder.tried, ladder.rung, shown)


def unforeseen(intention: Intention, difference: str, refused: bool) -> str:
    """For the model: what a step was to change, and what came of it instead; empty where all went as planned."""
    planned = intention.planned
    if planned is None or not (difference or refused):
        return ""
    changes = [f"make {change} true" for change in planned.added] + [
        f"make {change} false" for change in planned.removed
    ]
    expectation = f"{planned.action} was to {', '.join(changes) or 'change nothing'}"
    return f"{expectation}; {'the game refused the command' if refused else difference}."


class GameSession:
    """A game under way, with what was seen of it. `seen` is its last answer."""

    def __init__(self, episode: Episode, game: Game, memory: Memory, budget: Budget) -> None:
        self.seen = Observation("")
        self._table, self.observing, fixed = episode.setting.game, episode.setting.observing, episode.setting.fixed
        self.game, self.memory, self.budget = game, memory, budget
        self.rules = FixedRules(fixed.rules, fixed.script if episode.plans else "")
        self._worked: list[tuple[str, str]] = []

    def start(self) -> Observed:
        """The first look."""
        return self._taken_in(None, self.game.start())

    def every_command(self) -> tuple[str, ...]:
        """All commands that the game takes now, where its answers do not list them."""
        return self.game.all_commands() if isinstance(self.game, Lists) else ()

    def send(self, intention: Intention, known: Knowledge) -> Observed:
        """Send a command; `known` is what the agent knew when it planned it."""
        return self._taken_in(intention, self.game.step(intention.command), known)

    def look(self, command: str) -> Observed:
        """Look around for nothing: the game has already said what there is to see."""
        return self._taken_in(Intention(command), self._looked(), free=True)

    def go_back(self, restart: Restart) -> Iterator[Observed]:
        """Bring the game to where another episode was, by its commands. Raises `ReplayError`."""
        _check_same("the first look", restart.look, self.seen.text)
        for repeated in restart.commands:
            command = repeated.command or ""
            answer = self._looked() if repeated.free else self.game.step(command)
            _check_same(f"'{command}'", repeated.text, answer.text)
            yield self._taken_in(Intention(command), answer, None, repeated.unforeseen, repeated.free)

    def rewind(self) -> Iterator[Observed]:
        """Begin the game anew and repeat the commands that had worked (PDDLego+). Raises `ReplayError`."""
        self.seen = self.game.start()
        for command, text in self._worked:
            answer = self.game.step(command)
            _check_same(f"'{command}'", text, answer.text)
            self.seen = answer
            yield Observed(self.budget.usage.steps, command, answer.text, "", answer.score, repeated=True)

    def _looked(self) -> Observation:
        return replace(self.seen, text=self.seen.look)

    def _taken_in(
        self,
        intention: Intention | None,
        answer: Observation,
        known: Knowledge | None = None,
        recorded: str = "",
        free: bool = False,
    ) -> Observed:
        """Take in what the game answered, and say whether it was refused or surprising. `recorded` is what the model
        read about it when the episode was first played."""
        refused = self._table.is_refused(answer.text)
        read = self.observing.read(answer.text)
        difference, exchange = "", Exchange(intention.command if intention else None, read)
        if known is not None and intention is not None and intention.step is not None and not answer.won:
            texts = [exchange.text for exchange in self.memory.history]
            difference = mismatch(known, intention.step, answer.text, texts)
            nothing_new = says_nothing_new(known, intention.step, exchange.text, texts)
            if nothing_new and not (difference or refused) and answer.score == self.seen.score:
                exchange = replace(exchange, after=intention.after)
        if intention is not None:
            exchange = replace(exchange, unforeseen=recorded or unforeseen(intention, difference, refused))
            if self.observing.score:
                exchange = replace(exchange, score=answer.score, gained=answer.score - self.seen.score)
        self.seen = answer
        self.budget.score = answer.score
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
            task=self.game.task if intention is None else "",
        )


class FixedRules:
    """The rules of a setting during one episode, and its script."""

    def __init__(self, rules: Sequence[FixedRule], script: str = "") -> None:
        self._rules = rules
        self._script = PaperCooking() if script else None
        self._waiting: deque[str] = deque()
        self._sent: set[str] = set()

    @property
    def is_reported(self) -> bool:
        """Whether a model reads what came of them: a script states what it found itself."""
        return self._script is None

    def take_in(self, command: str | None, text: str) -> None:
        """The game answered `text`."""
        if command is not None and command in self._waiting:  # an episode that is brought to where it was
            self._waiting.remove(command)
            self._sent.add(command)
        if self._script is not None:
            self._script.take_in(command, text)
        for rule in self._rules:
            for match in re.finditer(rule.when, text):
                due = filled(rule.command, match.groupdict(default=""))
                if due not in self._waiting and not (rule.once and due in self._sent):
                    self._waiting.append(due)

    def due(self) -> str | None:
        """The next command to send immediately, or None."""
        command = self._waiting.popleft() if self._waiting else self._script.due() if self._script else None
        if command is not None:
            self._sent.add(command)
        return command

    def known(self, problem: Problem) -> Problem:
        """The problem with the facts that a script states itself."""
        return self._script.known(problem) if self._script is not None else problem

    def ladder(self, ladder: tuple[Rung, ...]) -> tuple[Rung, ...]:
        """The goals, with those of a script before them."""
        return (*(self._script.goals() if self._script is not None else ()), *ladder)

    def plan_ended(self, rung: str | None) -> None:
        """A plan for the goal was carried out to its end."""
        if self._script is not None:
            self._script.plan_ended(rung)
