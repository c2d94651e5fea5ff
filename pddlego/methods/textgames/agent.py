"""The loop: read what the game says, decide what to do, execute, and again (paper, section 2)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pddlego.episode.approval import Question, Verdict, judge
from pddlego.episode.budget import Meter, OverError
from pddlego.episode.events import Event, Outcome
from pddlego.episode.lifecycle import played
from pddlego.episode.loop import Retry
from pddlego.methods.textgames.decider import Decider, Thinking
from pddlego.methods.textgames.episode import Episode, Restart
from pddlego.methods.textgames.event_builders import resumed, started
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.fixed_rules import FixedRules
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.world import Intention, ObservedGame, as_said


class Agent:
    """Plays one episode. `run` yields every event as it happens; it is the only way to see inside."""

    def __init__(
        self,
        episode: Episode,
        game: Game,
        thinking: Thinking,
        clock: Callable[[], float] = time.monotonic,
        restart: Restart | None = None,
    ) -> None:
        self.episode, self.setting = episode, episode.setting
        self.overseer, self.restart = thinking.overseer, restart
        self._model = thinking.model
        self._meter = Meter(episode.limits, clock)
        self._memory = Memory(episode.plans and "remedies" not in episode.without, episode.whole_memory)
        self._rules = FixedRules(self.setting.fixed.rules, self.setting.fixed.script if episode.plans else "")
        self._world = ObservedGame(self.setting.observing, game, self._memory, self._meter, self._rules)
        self._decider = Decider(episode, thinking, self._world, self._look_again)

    def run(self) -> Iterator[Event]:
        """Play to the end. The last event is always `Ended`, whatever happens; see `played`."""
        return played(self._episode(), self._meter)

    @property
    def seconds(self) -> float:
        """The episode's time: it stands still while somebody looks or judges."""
        return self._meter.seconds

    def _episode(self) -> Generator[Event, None, None]:
        yield started(self.episode, self._model)
        yield self._world.start()
        if self.restart is not None:
            yield from self._go_back(self.restart)
        while True:
            yield from self._follow_rules()
            intentions = yield from self._decider.decide()
            yield from self._execute(intentions)

    def _go_back(self, restart: Restart) -> Iterator[Event]:
        """Begin where another episode was. Raises `ReplayError`."""
        yield from self._world.go_back(restart)
        self._memory.go_back_to(restart.known)
        self._decider.go_back(restart)
        yield resumed(restart)

    def _execute(self, intentions: Sequence[Intention]) -> Generator[Event, None, None]:
        """Send the commands, until the game answers otherwise than the plan expected.

        What a fixed rule asks for comes first. Where a model must read what came of it, that ends the plan.
        """
        for planned in intentions:
            followed = yield from self._follow_rules()
            if followed and self._rules.told:
                return
            intention = replace(planned, command=as_said(planned.command, self._world.seen.valid_commands))
            verdict, intention = yield from self._judge_command(intention)
            if verdict.kind == "rejected":
                self._decider.hint = Retry(0, intention.command, verdict.feedback)
                return
            observed = yield from self._send(intention)
            if observed.refused and self.episode.rewinds:
                yield from self._world.rewind()
            surprised = self.episode.monitors and (observed.refused or observed.surprise)
            if surprised or self.episode.replan_every_step or verdict.kind == "replaced":
                return
            self._meter.check_time()
        self._rules.plan_ended(self._decider.rung)

    def _follow_rules(self) -> Generator[Event, None, bool]:
        """Send what fixed rules ask for. Whether there was anything."""
        followed = False
        while (command := self._rules.due()) is not None:
            followed = True
            verdict, intention = yield from self._judge_command(Intention(command, by_rule=True))
            if verdict.kind != "rejected":
                yield from self._send(intention)
        return followed

    def _judge_command(self, intention: Intention) -> Generator[Event, None, tuple[Verdict, Intention]]:
        """What a person says of a command, and what is to be sent in its place."""
        question = partial(Question, "commands", "a command", intention.command)
        verdict = yield from judge(self.overseer, "commands", question, self._meter)
        if verdict.kind == "replaced":
            intention = Intention(as_said(" ".join(verdict.text.split()), self._world.seen.valid_commands))
        return verdict, intention

    def _send(self, intention: Intention) -> Generator[Event, None, Observed]:
        """Send one command. Raises `OverError` where that ends the game or the steps."""
        observed = self._world.send(intention, self._decider.known)
        yield observed
        if observed.won:
            raise OverError(Outcome.WON)
        if observed.lost:
            raise OverError(Outcome.LOST, "the game says that it can no longer be won")
        self._meter.check_steps()
        return observed

    def _look_again(self) -> Iterator[Event]:
        """Look around: what was missed may be seen again."""
        command = self.setting.observing.look
        if command and self._world.seen.look:
            yield self._world.look(command)
        elif command in self._world.seen.valid_commands:
            verdict, intention = yield from self._judge_command(Intention(command))
            if verdict.kind != "rejected":
                yield from self._send(intention)
