"""The events of text games: observations, plans, resumptions, and checks of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pddlego.display.console import Glyphs
from pddlego.display.description import NOTHING, Description, Line, MethodEvent, change_lines, changes
from pddlego.planning import PlanStatus, TriedRung
from pddlego.planning.result import NOTHING_THERE
from pddlego.util.text import one_line, shown_command


class GameEvent(MethodEvent):
    """An event of a text game."""

    method = "textgames"


@dataclass(frozen=True)
class Observed(GameEvent):
    """An observation: the game's answer to `command`, which is None for the first observation of an episode.

    `text` is the whole answer, and `read` the part that the model reads. `refused`: the command had no effect.
    `mismatch` is the difference from the expectation of the plan, and `unforeseen` the sentence about it for the model.
    Two kinds do not count as steps: a `free` one is the description of the place that the game has printed already, and
    a `repeated` one belongs to a command that is sent again after a restart. `continues`: the command is of the same
    answer as the one before. Only the first observation has the `task`.
    """

    type = "observed"
    step: int
    command: str | None
    text: str
    read: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    refused: bool = False
    mismatch: str = ""
    unforeseen: str = ""
    free: bool = False
    repeated: bool = False
    continues: bool = False
    task: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        style = "yellow" if self.refused else ""
        command = f"{shown_command(self.command)} {glyphs.arrow} " if self.command is not None else ""
        brief = [Line(f"{self.step:>3}  {command}{one_line(self.read or self.text, 2000)}", style)]
        if self.mismatch:
            brief.append(Line(f"     ! {self.mismatch}", "yellow"))
        title = shown_command(self.command, "the game begins")
        note = "refused" if self.refused else self.mismatch
        body = (Line(self.text), *([Line(note)] if note else []))
        return Description(Line(f"{self.step}. {title}"), tuple(brief), body)


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan: the ground action, its command, and the facts that it is expected to add and remove."""

    action: str
    command: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planned(GameEvent):
    """The planner tried the goals of the ladder. `rung` is the name of the plan's goal; None if no goal has a plan."""

    type = "planned"
    times = ("tried.seconds",)
    tried: tuple[TriedRung, ...]
    rung: str | None
    plan: tuple[PlannedStep, ...]

    @property
    def may_be_cut_short(self) -> bool:
        return self.rung is None

    @property
    def plan_actions(self) -> tuple[str, ...]:
        return tuple(step.action for step in self.plan)

    @property
    def gave_up(self) -> str:
        exhausted = (rung for rung in self.tried if rung.status in (PlanStatus.TIMEOUT, PlanStatus.MEMORY))
        return next((f"({rung.status.value}): {rung.name}" for rung in exhausted), "")

    def describe(self, glyphs: Glyphs) -> Description:
        tried = (Line(f"{rung.name}: {status_of(rung)}") for rung in self.tried)
        steps = (Line(f"{step.action}  {step.command}") for step in self.plan)
        if self.rung is None:
            return Description(Line("no goal has a plan"), (), (*tried, *steps))
        title = f"plan for '{self.rung}'"
        commands = ", ".join(step.command or step.action for step in self.plan)
        return Description(Line(title), (Line(f"     {title}: {commands}", "green"),), (*tried, *steps))


@dataclass(frozen=True)
class Resumed(GameEvent):
    """The episode was restarted from the journal `source`: the game was brought to `step` by the recorded commands.

    `before` is the last accepted problem, which covers the first `known` observations. `corrected` is the user's
    version of it, with the lines `added` and `removed`. `written` is the model's own domain with the commands of its
    actions; it is empty if the model wrote none. See `world.Restart`.
    """

    type = "resumed"
    source: str
    step: int
    before: str
    known: int
    corrected: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    written: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        brief = [Line(f"     goes on after step {self.step} of {self.source}", "cyan")]
        if self.corrected is not None:
            corrected = changes(self.added, self.removed, glyphs) or "nothing"
            brief.append(Line(f"     corrected by a person: {corrected}", "cyan"))
        title = Line(f"resumed after step {self.step} of {self.source}")
        return Description(title, tuple(brief), change_lines(self.added, self.removed, glyphs))


KEPT, BROKEN, BROKEN_UNKNOWN, UNSEEN = "kept", "broken", "broken by an unknown room", "untested"
PREVENTS = "what prevents a plan"


@dataclass(frozen=True)
class ConstraintJudged(GameEvent):
    """The verdict on a constraint after a step, and on the whole one at the end, unless it is broken already.

    `room` was entered without its name, `forced` if no other plan was left. Things with the names `unseen` never
    appeared in the game: perhaps they are misspelt.
    """

    type = "constraint_judged"
    derived = True
    step: int
    constraint: str
    verdict: str
    room: str = ""
    forced: bool = False
    unseen: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        entered = f": {self.room} was entered before its name was known" if self.room else ""
        reason = ", because no other plan was left" if self.forced else ""
        unseen = f": the game never named {', '.join(self.unseen)}" if self.unseen else ""
        title = f"{self.constraint} is {self.verdict}{entered}{reason}{unseen}"
        style = {KEPT: "green", UNSEEN: "yellow"}.get(self.verdict, "red")
        return Description(Line(title, style), (Line(f"     {title}", style),))


Verdict = Literal["wrong", "stale", "missing"]
"""A fact of the problem was never true (wrong) or is no longer true (stale), or a true fact is not in it (missing)."""


@dataclass(frozen=True)
class FactError:
    """An error in a problem: the fact in the model's names, and the step `since` which the problem has the error."""

    verdict: Verdict
    fact: str
    since: int

    @property
    def predicate(self) -> str:
        return self.fact.strip("()").split(" ")[0]

    @property
    def kind(self) -> str:
        """The verdict and the predicate, such as `wrong at`: tables count errors by it."""
        return f"{self.verdict} {self.predicate}"

    def __str__(self) -> str:
        return f"{self.verdict} {self.fact}"


@dataclass(frozen=True)
class FactsChecked(GameEvent):
    """The problem was compared with the problem of a reference (`--truth`).

    `right` is the number of right facts by predicate. `errors` are sorted by the step at which they began. `unknown`
    are facts that the player cannot know yet. `new` are objects of the reference that the problem does not declare.
    `rejected`: the problem is in a rejected answer, of which all readable lines are compared. `unread`: it has no such
    line, so the problem is the one before it.
    """

    type = "facts_checked"
    derived = True
    right: Mapping[str, int]
    errors: tuple[FactError, ...] = ()
    unknown: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    rejected: bool = False
    unread: bool = False

    @property
    def summary(self) -> str:
        """The numbers of facts with each verdict, such as `facts: 12 right, 1 missing`."""
        if self.unread:
            return "the rejected answer has no facts that could be read"
        of = " of the rejected answer" if self.rejected else ""
        right, counts = sum(self.right.values()), Counter(error.verdict for error in self.errors)
        if not counts:
            return f"all {right} facts{of} are right"
        return ", ".join((f"facts{of}: {right} right", *(f"{number} {verdict}" for verdict, number in counts.items())))

    def describe(self, glyphs: Glyphs) -> Description:
        errors = () if self.unread else self.errors
        lines = tuple(Line(f"{error.verdict} since step {error.since}: {error.fact}", "magenta") for error in errors)
        brief = tuple(Line(f"     {error.verdict}: {error.fact}", "magenta") for error in errors)
        return Description(Line(self.summary), brief, lines)


@dataclass(frozen=True)
class GameRead(GameEvent):
    """The built-in reader updated its own problem, from which the map is drawn in modes without problems."""

    type = "game_read"
    derived = True
    problem: str

    def describe(self, glyphs: Glyphs) -> Description:
        return NOTHING


@dataclass(frozen=True)
class ActionsCertified(GameEvent):
    """The actions that an episode ended with were compared with those of the setting.

    Each of the `certificates` names an action and says `same`, `safe`, `wrong` in which state, or what is not known.
    Those that say `wrong` are also in `wrong`.
    """

    type = "actions_certified"
    derived = True
    certificates: tuple[str, ...]
    wrong: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        lines = tuple(Line(f"     {one}", "red" if one in self.wrong else "") for one in self.certificates)
        return Description(Line("learned actions, compared with those of the setting"), lines, lines)


def status_of(tried: TriedRung) -> str:
    """The status of a goal without a plan, as displays name it: `done`, `not yet`, or what failed.

    `not yet`: no plan reaches the goal from what is known, or the goal is true only because it has no objects yet.
    """
    if tried.status is PlanStatus.UNSOLVABLE or tried.message == NOTHING_THERE:
        return NOT_YET
    return DONE if tried.status is PlanStatus.ALREADY_TRUE else tried.status.value


NOT_YET, DONE = "not yet", "done"
"""The states of goals without a plan that are not failures."""


EVENTS = tuple(GameEvent.__subclasses__())
