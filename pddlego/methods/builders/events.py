"""What happens while something is built, besides what happens everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent
from pddlego.planning import PlanStatus
from pddlego.util.text import count


class BuilderEvent(MethodEvent):
    """An event of the builders."""

    method = "builders"


@dataclass(frozen=True)
class DefectsFound(BuilderEvent):
    """A look at what is there: by the `checks`, or an opinion by its kind; `fine` says that nothing is to be done."""

    type = "found"
    by: str
    fine: bool
    lines: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        mark, style = (glyphs.done, "green") if self.fine else (glyphs.failed, "yellow")
        text = (
            "nothing is wrong"
            if self.fine and self.by == "checks"
            else "nothing to do"
            if self.fine
            else "needs repair"
        )
        brief = [Line(f"     {mark} {self.by}: {text}", style)]
        lines = tuple(Line(f"       {line}", style) for line in self.lines)
        return Description("", brief[0], (*brief, *(() if self.fine else lines)), lines)


@dataclass(frozen=True)
class PlanTried(BuilderEvent):
    """A planner tried the domain and the problem that were built."""

    type = "tried"
    status: PlanStatus
    message: str
    plan: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        solved = self.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
        text = f"plan of {count(len(self.plan), 'step')}" if self.plan else self.status.value
        line = Line(f"     {glyphs.done if solved else glyphs.failed} planner: {text}", "green" if solved else "yellow")
        reason = (Line(self.message, "yellow"),) if self.message else ()
        return Description("planned", line, (line,), (*reason, *(Line(step) for step in self.plan)))


@dataclass(frozen=True)
class BuildConcluded(BuilderEvent):
    """The result of a build. `read`: both files are PDDL; `valid`: no blocking defects; `solvable`: a plan was
    found. `plan_valid` says that the plan works in the gold domain, and `equivalent` that the task is the gold one but
    for names; None without a gold task, if it is too large, or if no goal can be reached in either. `first_error` is
    the first part that differs from the gold files, if the plan does not work."""

    type = "concluded"
    read: bool
    valid: bool
    solvable: bool
    plan_valid: bool | None = None
    equivalent: bool | None = None
    first_error: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        marks = {True: glyphs.done, False: glyphs.failed, None: "?"}
        named = {"read": self.read, "valid": self.valid, "solvable": self.solvable, "plan works": self.plan_valid}
        named["equivalent to the reference"] = self.equivalent
        line = Line("     " + "  ".join(f"{marks[value]} {name}" for name, value in named.items()), "bold")
        return Description("", line, (line,))


EVENTS = tuple(BuilderEvent.__subclasses__())
