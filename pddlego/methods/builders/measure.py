"""What tables say of builders: read, valid, solvable, plan valid in the gold domain, equivalent."""

from __future__ import annotations

from pddlego.episode.events import Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, Measuring
from pddlego.methods.builders.events import BuildConcluded, DefectsFound
from pddlego.runs.summary import Measures


def measure(trace: Trace) -> Measures:
    """Shares that the specification asks for, answers that could not be used, and rounds of opinions."""
    numbers: dict[str, int | float] = {
        "unusable": len(trace.all(Rejected)),
        "reviews": sum(event.by != "checks" for event in trace.all(DefectsFound)),
    }
    done = trace.last(BuildConcluded)
    if done is None:  # it ended before there was anything to judge: none of it was reached
        numbers |= dict.fromkeys(("read", "valid", "solvable", "plan_valid", "equivalent"), 0)
    else:
        numbers |= {"read": int(done.read), "valid": int(done.valid), "solvable": int(done.solvable)}
        numbers |= {"plan_valid": int(bool(done.plan_valid))}
        if done.equivalent is not None:
            numbers["equivalent"] = int(done.equivalent)
    rejected = trace.last(Rejected)
    unusable = ""
    if rejected is not None:
        feedback = rejected.feedback
        unusable = (
            f"unusable answer ({feedback.category}): {feedback.evidence[0] if feedback.evidence else feedback.message}"
        )
    return Measures(numbers, first_error=done.first_error if done is not None else unusable)


MEASURING = Measuring(
    of=measure,
    columns=(
        *(Column(name, counted=True) for name in ("read", "valid", "solvable", "plan_valid", "equivalent")),
        Column("unusable", blank_zero=True),
        Column("reviews", blank_zero=True),
    ),
)
