"""A model writes the plan, and corrects it with the advice of the validator: the baseline LLM as planner."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from pddlego.events import Event, Rejected
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.graphplan.episode import Proposal, TaskEpisode
from pddlego.methods.graphplan.events import Proposed
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.modes import MODES, NO_FEEDBACK
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.methods.planning_settings import example_action
from pddlego.models.feedback import Feedback, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import PddlSyntaxError
from pddlego.planning import Plan, Search
from pddlego.planning.plan_text import plan_in
from pddlego.refine.chat import Chat
from pddlego.refine.loop import Attempt, Retry, refine
from pddlego.refine.usage import Meter
from pddlego.runs.cells import Cell
from pddlego.util.text import count

UNREADABLE = "not a plan"
"""The category of an answer that holds no plan."""

SEARCH = Search("gbf", "hff")
"""The search of the built-in model: it is fast, and any plan is good."""


@dataclass(frozen=True)
class PlanRequest:
    """The context of a request, for the built-in model."""

    episode: TaskEpisode

    def solve(self) -> Plan | None:
        """Plan with the planner in the domain that the prompt shows. None if it finds no plan."""
        episode = self.episode
        return episode.tools.planner.solve(episode.domain, episode.task.problem, SEARCH).plan


class ModelEpisode(TaskEpisode):
    """The model writes a plan; if it is not valid, its fault goes back to the model."""

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, meter: Meter
    ) -> None:
        if options.bound == "levels":  # a sequence has no parallel steps
            options = options.model_copy(update={"bound": "none"})
        super().__init__(cell, setting, options, tools, meter)
        self._retries = 0 if NO_FEEDBACK in parse_variant(cell.mode, MODES).without else tools.retries
        self._prompts = Prompts("graphplan")
        self._chat = Chat(tools.model, meter)
        self._last: Plan | None = None

    def plan(self) -> Generator[Event, None, Proposal]:
        """Ask for a plan until one is valid or no retry is left. The last answer counts."""
        attempt = yield from refine(self._propose, self._retries)
        if self._last is None:
            return Proposal("no plan", None, kind=UNREADABLE, message=attempt.failure)
        steps = tuple((str(step),) for step in self._last.steps)
        return Proposal(f"plan: {count(len(steps), 'action')}", self._last, steps)

    def _propose(self, retry: Retry) -> Generator[Event, None, Attempt[Plan]]:
        answer = yield from self._chat.say("plan", self._question(retry), retry.attempt, PlanRequest(self))
        feedback = self._read(answer)
        if self._last is not None:
            self.meter.step()
            command = f"plan {retry.attempt + 1}: {count(len(self._last), 'action')}"
            yield Proposed(self.meter.tally.steps, command, tuple(map(str, self._last.steps)))
        if feedback is None:
            return Attempt(answer, self._last)
        yield Rejected(retry.attempt, feedback)
        return Attempt(answer, None, feedback)

    def _question(self, retry: Retry) -> str:
        if retry.feedback is not None:
            return self._prompts.render("graphplan/plan-again", feedback=retry.feedback, unreadable=UNREADABLE)
        domain, problem = self.domain.text.strip(), str(self.task.problem).strip()
        return self._prompts.render(
            "graphplan/plan", domain=domain, problem=problem, action=f"({example_action(self.domain)})"
        )

    def _read(self, answer: str) -> Feedback | None:
        """Keep the plan of an answer, and return its fault; None for a valid plan."""
        self._last = None
        try:
            plan = plan_in(answer)
        except PddlSyntaxError as error:
            return Feedback(UNREADABLE, error.faults[0], tuple(error.faults[1:]))
        fault = self.faults(plan)[self.options.judge]
        if fault is not None and not plan.steps:
            return Feedback(UNREADABLE, "it has no line of the form (action object …)")
        self._last = plan
        if fault is None:
            return None
        return Feedback(fault.kind.value, shortened(fault.what), (fault.advice,) if fault.advice else ())
