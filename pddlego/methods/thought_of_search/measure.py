"""The measures of Thought of Search, with the tables and figures of the paper (Cao et al., 2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pddlego.episode.events import Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring
from pddlego.methods.setting_files import published
from pddlego.methods.thought_of_search.events import Attempted, Coded, Finished, Prepared, Tested
from pddlego.methods.thought_of_search.functions import FunctionFault
from pddlego.runs.summary import REJECTED, LastingError, Measures, unusable_answer

_POINTS = ("first", "sound", "complete")
_CURVE = "accuracy by point"
"""The points of the paper's Figure 3: without feedback, after the soundness tests, and at the end."""


def measure(trace: Trace) -> Measures:
    """Measure the number of answers, whether all tests were passed (`finished`), and the share of solved instances.

    `accuracy` exists only for finished episodes: read both together. `accuracy_first` and `accuracy_sound` are those of
    the earlier points of the paper's Figure 3, where they were evaluated. Expansions per second are of CPU time.
    A dialogue that an error or a limit ended has no number of answers: it would have had more.
    """
    coded, evaluated = trace.all(Coded), {event.point: event for event in trace.all(Finished)}
    done = evaluated.get("complete")
    answers = Counter(event.which for event in coded)
    numbers: dict[str, int | float] = {"finished": int(done is not None)}
    if trace.ended is None or trace.ended.outcome in (Outcome.WON, Outcome.LOST):
        numbers |= {"answers": len(coded), "goal_answers": answers["goal"], "successor_answers": answers["successors"]}
    shares = {point: event.solved / event.total for point, event in evaluated.items()}
    numbers |= {f"accuracy_{point}": shares[point] for point in ("first", "sound") if point in shares}
    curve = tuple((float(place), shares[point]) for place, point in enumerate(_POINTS) if point in shares)
    if done is not None:
        numbers["accuracy"] = done.solved / done.total
        numbers["expansions"] = done.expansions
        if done.seconds > 0:
            numbers["expansions_per_second"] = done.expansions / done.seconds
    lost = Counter(event.kind for event in trace.all(Attempted) if not event.solved)
    counts = {"unsolved": lost, "phases": _phases(trace)}
    return Measures(
        numbers, counts, {_CURVE: curve} if {"first", "sound"} & shares.keys() else {}, tuple(_first_error(trace))
    )


def _phases(trace: Trace) -> Counter[str]:
    """How often feedback of each phase was sent: of a stage of the tests, of a person, or on an answer that cannot be
    loaded.

    The last fault of an unfinished dialogue is not sent.
    """
    sent, phase, failed = Counter[str](), "", ""
    is_tested = False
    for event in trace.since(trace.place(Prepared)):
        if isinstance(event, Tested):
            is_tested, failed = True, failed if event.passed else event.stage
        elif isinstance(event, Rejected):
            category = event.feedback.category
            is_kept = category == FunctionFault.GOAL.value  # the paper's code sends such feedback twice
            phase = (
                failed if is_tested or is_kept else "person" if category == FunctionFault.PERSON.value else "loading"
            )
        elif isinstance(event, Coded):
            sent.update([phase] if phase else [])
            phase, is_tested = "", False
    return sent


def _first_error(trace: Trace) -> Iterator[LastingError]:
    """The first test or instance that the last function failed."""
    rejected, tested = trace.last(Rejected), trace.last(Tested)
    is_tested = trace.place(Tested) > trace.place(Coded)
    if is_tested and tested is not None and not tested.passed:
        evidence = "; ".join(rejected.feedback.evidence[:2]) if rejected is not None else ""
        shown = f" ({evidence:.200})" if evidence else ""
        text = f"{tested.stage} test {tested.number + 1}: {tested.message or tested.kind}{shown}"
        yield LastingError(f"{tested.stage} test", text)
    elif not is_tested and trace.place(Rejected) > trace.place(Coded) >= 0 and rejected is not None:
        yield unusable_answer(rejected)
    else:
        for failed in [event for event in trace.all(Attempted) if not event.solved][:1]:
            yield LastingError(failed.kind, f"instance {failed.instance}: {failed.kind}: {failed.message}")


_PHASES = CountTable("phases", "Feedback by phase", "phase")

MEASURING = Measuring(
    of=measure,
    columns=(
        Column("answers", blank_zero=True),
        Column("finished", counted=True),
        Column("accuracy"),
        Column("accuracy_first", shown=False),
        Column("accuracy_sound", shown=False),
        Column("successor_answers", shown=False),
        Column("goal_answers", shown=False),
        Column("expansions", digits=0, shown=False),
        Column("expansions_per_second", digits=0, shown=False, listed=False),
    ),
    counts=(
        CountTable("unsolved", "Why instances were not solved", "reason"),
        _PHASES,
    ),
    bars=(_PHASES, CountTable(REJECTED, "Errors by category", "error")),
    figures=(Figure(_CURVE, "Accuracy at three points: first answers, sound, complete", "point", "accuracy"),),
    published=published,
    printed="answers",
)
