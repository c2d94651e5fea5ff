"""The events of a build, and the numbers that tables of builds contain."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent
from pddlego.episode.events import Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, Measuring
from pddlego.planning import PlanStatus
from pddlego.runs.summary import LastingError, Measures, unusable_answer
from pddlego.util.text import count


class BuilderEvent(MethodEvent):
    """An event of the builders."""

    method = "builders"


@dataclass(frozen=True)
class Reviewed(BuilderEvent):
    """The result of a review by the `checks`, by a person, or by a model: then `by` is the purpose of the request.

    `fine` is true if nothing has to be rewritten.
    """

    type = "found"
    by: str
    fine: bool
    lines: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        mark, style = (glyphs.done, "green") if self.fine else (glyphs.failed, "yellow")
        fine = "nothing is wrong" if self.by == "checks" else "nothing to do"
        title = Line(f"     {mark} {self.by}: {fine if self.fine else 'needs repair'}", style)
        lines = tuple(Line(f"       {line}", style) for line in self.lines)
        return Description(title, (title, *(() if self.fine else lines)), lines)


@dataclass(frozen=True)
class PlanTried(BuilderEvent):
    """The planner's result for the domain and the problem that were built."""

    type = "tried"
    status: PlanStatus
    message: str
    plan: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        solved = self.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
        text = f"plan of {count(len(self.plan), 'step')}" if self.plan else self.status.value
        line = Line(f"     {glyphs.done if solved else glyphs.failed} planner: {text}", "green" if solved else "yellow")
        reason = (Line(self.message, "yellow"),) if self.message else ()
        return Description(line, (line,), (*reason, *(Line(step) for step in self.plan)))


@dataclass(frozen=True)
class BuildConcluded(BuilderEvent):
    """How the files that were built compare with the gold files.

    `read`: both files are PDDL. `valid`: they have no errors. `solvable`: a plan was found. `plan_valid`: the plan
    works in the gold domain. `equivalent`: the task is the gold task except for names; None if the tasks are too large
    to be compared, or if no goal can be reached. `first_error` is the first part that differs from the gold files if
    the plan does not work.
    """

    type = "concluded"
    read: bool
    valid: bool
    solvable: bool
    plan_valid: bool | None = None
    equivalent: bool | None = None
    first_error: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        marks = {True: glyphs.done, False: glyphs.failed, None: "?"}
        results = {
            "read": self.read,
            "valid": self.valid,
            "solvable": self.solvable,
            "plan works": self.plan_valid,
            "equivalent to the reference": self.equivalent,
        }
        line = Line("     " + "  ".join(f"{marks[value]} {name}" for name, value in results.items()), "bold")
        return Description(line, (line,))


EVENTS = tuple(BuilderEvent.__subclasses__())

_CRITERIA = ("read", "valid", "solvable", "plan_valid", "equivalent")


def _measure(trace: Trace) -> Measures:
    """Which criteria the build meets, and how many answers were unusable and how many reviews there were.

    A build that ended early meets none of the criteria.
    """
    concluded, rejected = trace.last(BuildConcluded), trace.last(Rejected)
    criteria = vars(concluded) if concluded is not None else {}
    numbers: dict[str, int | float] = {
        "unusable": len(trace.all(Rejected)),
        "reviews": sum(event.by != "checks" for event in trace.all(Reviewed)),
        **{name: int(bool(criteria.get(name))) for name in _CRITERIA},
    }
    if concluded is not None:
        if concluded.equivalent is None:
            del numbers["equivalent"]
        error = concluded.first_error
        return Measures(numbers, errors=(LastingError("difference from the reference", error),) if error else ())
    return Measures(numbers, errors=(unusable_answer(rejected),) if rejected is not None else ())


MEASURING = Measuring(
    of=_measure,
    columns=(
        *(Column(name, counted=True) for name in _CRITERIA),
        Column("unusable", blank_zero=True),
        Column("reviews", blank_zero=True),
    ),
)
