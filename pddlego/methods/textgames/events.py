"""What happens in text games besides what happens everywhere: answers of the game, plans, resumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent, change_lines, changes
from pddlego.planning import TriedRung
from pddlego.planning.result import NOTHING_THERE
from pddlego.util.text import one_line


class GameEvent(MethodEvent):
    """An event of a text game."""

    method = "textgames"


@dataclass(frozen=True)
class Observed(GameEvent):
    """The game answered. `command` is None for the first look; `text` is the whole answer, `read` what is read of it.

    `refused` means that nothing happened; `mismatch` says how the answer differs from what the plan expected,
    `unforeseen` what the model reads about it. `free` marks a look around without a step: the game shows it anyway.
    `repeated`: the game was restarted after a refusal, and the command was sent again; this does not count as a step.
    The first look has the `task` as the game states it.
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
    task: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        style = "yellow" if self.refused else ""
        command = f"{self.command} {glyphs.arrow} " if self.command is not None else ""
        brief = [Line(f"{self.step:>3}  {command}{one_line(self.read or self.text, 2000)}", style)]
        if self.mismatch:
            brief.append(Line(f"     ! {self.mismatch}", "yellow"))
        title = "the game begins" if self.command is None else self.command
        note = "refused" if self.refused else self.mismatch
        body = (Line(self.text), *([Line(note)] if note else []))
        return Description("observed", Line(f"{self.step}. {title}"), tuple(brief), body)


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan: the ground action, its command, and the facts that it is expected to add and remove."""

    action: str
    command: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planned(GameEvent):
    """The ladder was climbed. `rung` names the goal of the plan, or is None if no goal can be reached."""

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

    def describe(self, glyphs: Glyphs) -> Description:
        tried = (Line(f"{rung.name}: {status_of(rung)}") for rung in self.tried)
        steps = (Line(f"{step.action}  {step.command}") for step in self.plan)
        if self.rung is None:
            return Description("planned", Line("no goal has a plan"), (), (*tried, *steps))
        title = f"plan for '{self.rung}'"
        commands = ", ".join(step.command or step.action for step in self.plan)
        return Description("planned", Line(title), (Line(f"     {title}: {commands}", "green"),), (*tried, *steps))


@dataclass(frozen=True)
class Resumed(GameEvent):
    """The episode goes on where another one was left, after `step`: the game was brought there by its commands.

    `source` is the journal of the other. `corrected` says that a person corrected the problem: `added` and `removed`
    are what they changed. `known` is of how many observations the problem `before` the correction was made. `written`
    is the domain of the model's, with its commands, where it wrote one.
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
        return Description("accepted", title, tuple(brief), change_lines(self.added, self.removed, glyphs))


Verdict = Literal["wrong", "stale", "missing"]
"""Of a fact that is not right: it was never true, it was true before, or it is true and the problem lacks it."""


@dataclass(frozen=True)
class FactError:
    """A fact that is not right, in the model's names. `since` is the step after which it was first so."""

    verdict: Verdict
    fact: str
    since: int

    @property
    def predicate(self) -> str:
        return self.fact.strip("()").split(" ")[0]

    @property
    def kind(self) -> str:
        """What tables count."""
        return f"{self.verdict} {self.predicate}"

    def __str__(self) -> str:
        return f"{self.verdict} {self.fact}"


@dataclass(frozen=True)
class FactsChecked(GameEvent):
    """The problem was compared with what the reference has read (`--truth`).

    `right` is how many facts of each predicate are right; `errors` come in the order in which they began. `unknown` are
    facts that cannot be known yet, and `new` objects of the facts that the problem does not declare. `rejected`: the
    problem is that of a rejected answer, as far as it could be read.
    """

    type = "facts_checked"
    right: Mapping[str, int]
    errors: tuple[FactError, ...] = ()
    unknown: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    rejected: bool = False

    def describe(self, glyphs: Glyphs) -> Description:
        of = " of the rejected answer" if self.rejected else ""
        summary = f"facts{of}: {sum(self.right.values())} right"
        counts = Counter(error.verdict for error in self.errors)
        summary = ", ".join((summary, *(f"{number} {verdict}" for verdict, number in counts.items())))
        lines = tuple(
            Line(f"{error.verdict} since step {error.since}: {error.fact}", "magenta") for error in self.errors
        )
        brief = tuple(Line(f"     {error.verdict}: {error.fact}", "magenta") for error in self.errors)
        return Description("facts", Line(summary), brief, lines)


@dataclass(frozen=True)
class GameRead(GameEvent):
    """The problem that the built-in reader has made of the game so far, where the model writes none: for the map."""

    type = "game_read"
    problem: str

    def describe(self, glyphs: Glyphs) -> Description:
        return Description("", Line("the built-in reader's problem"), (), tuple(map(Line, self.problem.splitlines())))


def status_of(tried: TriedRung) -> str:
    """What came of a goal; one that is true because nothing is there yet is called that."""
    return "nothing there yet" if tried.message == NOTHING_THERE else tried.status.value


EVENTS = tuple(GameEvent.__subclasses__())
