"""The measures of Thought of Search, with the tables and figures of the paper (Cao et al., 2024)."""

from __future__ import annotations

from collections import Counter

from pddlego.episode.events import Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Measuring
from pddlego.methods.setting_files import published
from pddlego.methods.thought_of_search.events import Attempted, Coded, Finished, Tested
from pddlego.runs.summary import Measures


def measure(trace: Trace) -> Measures:
    """Measure the number of answers, whether all tests were passed (`finished`), and the share of solved instances.

    `accuracy` exists only for finished episodes: read both together. Expansions per second are of CPU time.
    """
    coded, done = trace.all(Coded), trace.last(Finished)
    answers = Counter(event.which for event in coded)
    numbers: dict[str, int | float] = {
        "answers": len(coded),
        "successor_answers": answers["successors"],
        "goal_answers": answers["goal"],
        "finished": int(done is not None),
    }
    if done is not None:
        numbers["accuracy"] = done.solved / done.total
        numbers["expansions"] = done.expansions
        if done.seconds > 0:
            numbers["expansions_per_second"] = done.expansions / done.seconds
    lost = Counter(event.kind for event in trace.all(Attempted) if not event.solved)
    return Measures(numbers, {"unsolved": lost}, first_error=_first_error(trace))


def _first_error(trace: Trace) -> str:
    """The first test or instance that the last function failed."""
    rejected, tested = trace.last(Rejected), trace.last(Tested)
    is_tested = trace.place(Tested) > trace.place(Coded)
    if is_tested and tested is not None and not tested.passed:
        evidence = "; ".join(rejected.feedback.evidence[:2]) if rejected is not None else ""
        shown = f" ({evidence:.200})" if evidence else ""
        return f"{tested.stage} test {tested.number + 1}: {tested.message or tested.kind}{shown}"
    if not is_tested and trace.last(Coded) is not None and rejected is not None:
        return f"unusable answer ({rejected.feedback.category}): {rejected.feedback.message}"
    failed = next((event for event in trace.all(Attempted) if not event.solved), None)
    return f"instance {failed.instance}: {failed.kind}: {failed.message}" if failed else ""


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("answers", blank_zero=True),
        Column("finished", counted=True),
        Column("accuracy"),
        Column("successor_answers", shown=False),
        Column("goal_answers", shown=False),
        Column("expansions", digits=0, shown=False),
        Column("expansions_per_second", digits=0, shown=False, listed=False),
    ),
    counts=(CountTable("unsolved", "Why instances were not solved", "reason"),),
    published=published,
    printed="answers",
)
