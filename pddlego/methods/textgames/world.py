"""The game as the agent sees it: every answer is remembered, counted, and compared with what the plan expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.expect import says_nothing_new, surprise
from pddlego.methods.textgames.fixed_rules import FixedRules
from pddlego.methods.textgames.games import Game, Observation
from pddlego.methods.textgames.intentions import Intention, unforeseen
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.restart import Restart, check_same
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.situation import Exchange
from pddlego.pddl import Problem
from pddlego.refine.usage import Meter


class ObservedGame:
    """A game under way, with what was seen of it. `seen` is its last answer.

    The actions of its `setting` say what is expected of their commands.
    """

    def __init__(self, setting: GameSetting, game: Game, memory: Memory, meter: Meter, rules: FixedRules) -> None:
        self.seen = Observation("")
        self.setting, self.game, self.memory, self.meter, self.rules = setting, game, memory, meter, rules
        self._worked: list[tuple[str, str]] = []

    def start(self, problem: Problem) -> Observed:
        """The first look."""
        return self._taken_in(None, self.game.start(), problem)

    def send(self, intention: Intention, problem: Problem) -> Observed:
        """Send a command; `problem` is what the agent knew when it planned it."""
        return self._taken_in(intention, self.game.step(intention.command), problem)

    def look(self, command: str, problem: Problem) -> Observed:
        """Look around for nothing: the game has already said what there is to see."""
        return self._taken_in(Intention(command), self._looked(), problem, free=True)

    def go_back(self, restart: Restart, problem: Problem) -> Iterator[Observed]:
        """Bring the game to where another episode was, by its commands. Raises `ReplayError`."""
        check_same("the first look", restart.look, self.seen.text)
        for repeated in restart.commands:
            answer = self._looked() if repeated.free else self.game.step(repeated.command)
            check_same(f"'{repeated.command}'", repeated.text, answer.text)
            intention = Intention(repeated.command)
            yield self._taken_in(intention, answer, problem, repeated.unforeseen, repeated.free)

    def rewind(self, problem: Problem) -> Iterator[Observed]:
        """Begin the game anew and repeat the commands that had worked (PDDLego+). Raises `ReplayError`."""
        self.seen = self.game.start()
        for command, text in self._worked:
            answer = self.game.step(command)
            check_same(f"'{command}'", text, answer.text)
            self.seen = answer
            yield Observed(self.meter.tally.steps, command, answer.text, "", answer.score, repeated=True)

    def _looked(self) -> Observation:
        return replace(self.seen, text=self.seen.look)

    def _taken_in(
        self, intention: Intention | None, answer: Observation, problem: Problem, told: str = "", free: bool = False
    ) -> Observed:
        """Take in what the game answered, and say whether it was refused or surprising. `told` is what the model was
        told of it in another episode."""
        setting = self.setting
        refused = setting.is_refused(answer.text)
        difference, exchange = "", Exchange(intention.command if intention else None, setting.read(answer.text))
        if intention is not None and intention.step is not None and not answer.won:
            said = [exchange.text for exchange in self.memory.history]
            difference = surprise(setting, intention.step, answer.text, problem, said)
            known = says_nothing_new(setting, intention.step, exchange.text, said)
            if known and not (difference or refused) and answer.score == self.seen.score:
                exchange = replace(exchange, after=intention.after)
        if intention is not None:
            exchange = replace(exchange, unforeseen=told or unforeseen(intention, difference, refused))
            if setting.score:
                exchange = replace(exchange, score=answer.score, gained=answer.score - self.seen.score)
        self.seen = answer
        self.meter.score = answer.score
        self.rules.take_in(exchange.command, answer.text)
        by_rule = intention is not None and intention.by_rule
        self.memory.take(exchange, refused, told=self.rules.told or not by_rule)
        if intention is not None and not free:
            self.meter.step(refused)
            if not refused:
                self._worked.append((intention.command, answer.text))
        return Observed(
            step=self.meter.tally.steps,
            command=exchange.command,
            text=answer.text,
            read=exchange.text,
            score=answer.score,
            won=answer.won,
            lost=answer.lost,
            refused=refused,
            surprise=difference,
            unforeseen=exchange.unforeseen,
            free=free,
        )
