"""Plays a cell of Thought of Search: a model writes both functions, tests correct them, a search solves instances."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from pddlego.events import Event, Isolated, Outcome, Started
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.thought_of_search.dialogue import Dialogue, Stages
from pddlego.methods.thought_of_search.events import SOLVED, Attempted, Finished, Prepared
from pddlego.methods.thought_of_search.functions import Functions
from pddlego.methods.thought_of_search.loading import SearchSetting, call_limits, search_limits
from pddlego.methods.thought_of_search.modes import MODES, NO_CHECK, NO_COMPLETENESS, NO_GOAL_TESTS, NO_SOUNDNESS
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.search import Found, StateSearch
from pddlego.methods.thought_of_search.space import Instance, Judge
from pddlego.methods.thought_of_search.testing import Tests, searched
from pddlego.refine.chat import Chat
from pddlego.refine.episode import Body, played
from pddlego.refine.usage import Meter, OverError
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox


UNFINISHED = "not finished"


def play(cell: Cell, setting: SearchSetting, options: SearchOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    meter = Meter(replace(tools.limits, steps=None))
    return played(_episode(cell, setting, options, tools, meter), meter)


def _episode(cell: Cell, setting: SearchSetting, options: SearchOptions, tools: Tools, meter: Meter) -> Body:
    yield Started(
        setting.name,
        setting.title,
        cell.mode,
        tools.model.name,
        cell.seed,
        setting.about,
        limits=meter.limits,
        played_by="thought_of_search",
    )
    with Sandbox(options.isolation) as sandbox:
        yield Isolated(options.isolation, sandbox.layers())
        with setting.space.judge(sandbox, cell.seed) as judge:
            functions = Functions(sandbox, call_limits(options))
            try:
                yield from _Episode(cell, setting, options, judge, functions, meter).run(Chat(tools.model, meter))
            finally:
                functions.close()


class _Episode:
    """One episode, from the first question to the last instance."""

    def __init__(
        self,
        cell: Cell,
        setting: SearchSetting,
        options: SearchOptions,
        judge: Judge,
        functions: Functions,
        meter: Meter,
    ) -> None:
        without = parse_variant(cell.mode, MODES).without
        paper = options.parity == "paper"
        self.options, self.judge, self.functions, self.meter = options, judge, functions, meter
        self.space = setting.space
        self.instances = judge.instances[: options.instances]
        self.tests = Tests(setting.space, judge, functions, search_limits(options, False), NO_CHECK not in without)
        if paper:
            self.tests.as_the_paper()
        stages = Stages(
            NO_GOAL_TESTS not in without, NO_SOUNDNESS not in without, NO_COMPLETENESS not in without, paper
        )
        self.dialogue = Dialogue(setting.space, judge, functions, self.tests, stages, options.answers)

    def run(self, chat: Chat) -> Body:
        """Ends by raising `OverError`."""
        judge, most = self.judge, self.options.answers
        tests = (judge.goal_tests, judge.soundness, judge.successor_tests, self.instances)
        yield Prepared(*map(len, tests))
        passed = yield from self.dialogue.run(chat, self.meter)
        if not passed:
            which = "goal test" if self.dialogue.failing == "goal" else "successor function"
            raise OverError(Outcome.LOST, f"{UNFINISHED}: the {which} still fails after {most} answers")
        yield from self._evaluate()

    def _evaluate(self) -> Body:
        """Solve every instance, with nothing looked at on the way; what is found is validated."""
        solved = expansions = generated = 0
        seconds = 0.0
        total = len(self.instances)
        for number, instance in enumerate(self.instances):
            self.meter.check_time()
            attempt = yield from self._attempt(number, instance)
            solved += attempt.solved
            expansions += attempt.expansions
            generated += attempt.generated
            seconds += attempt.seconds
            self.meter.score = solved / total
            yield attempt
        self.meter.step()
        codes = self.functions.codes
        yield Finished(
            self.meter.tally.steps,
            f"evaluation: {solved} of {total}",
            solved,
            total,
            expansions=expansions,
            generated=generated,
            seconds=seconds,
            successors=codes["successors"].text,
            goal=codes["goal"].text,
        )
        raise OverError(Outcome.WON if solved == total else Outcome.LOST, f"{solved} of {total} instances solved")

    def _attempt(self, number: int, instance: Instance) -> Generator[Event, None, Attempted]:
        expansions = generated = 0
        seconds = 0.0
        limits, left = search_limits(self.options, True), self.meter.seconds_left
        shorter = left is not None and left < limits.seconds
        if shorter and left is not None:
            limits = replace(limits, seconds=left, patience=1.0)
        search = StateSearch(self.functions, self.space.order, self.tests.key, limits)
        found = Found(None, 0, 0, 0.0)
        last = 0
        for number_of_search, task in enumerate(instance.searches):
            last = number_of_search
            found = yield from searched(search, task, instance.name)
            expansions += found.expansions
            generated += found.generated
            seconds += found.seconds
            if found.path is not None or found.fault is not None:
                break
        if found.fault is not None:
            self.meter.check_time(shorter and "search" in found.fault.kind.value)
            kind, message = found.fault.kind.value, found.fault.message
        else:
            why = self.judge.fault(instance, last, found.path)
            kind, message = (
                (SOLVED, "") if not why else ("no solution" if found.path is None else "wrong solution", why)
            )
        length = len(found.path) - 1 if found.path is not None else 0
        return Attempted(
            number,
            instance.name,
            kind,
            message,
            length=length,
            expansions=expansions,
            generated=generated,
            seconds=seconds,
        )
