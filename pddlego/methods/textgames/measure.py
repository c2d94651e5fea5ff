"""The measures, tables and figures of text games."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any, get_args

from pddlego.episode.events import Accepted, Asked, Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, Published, ShareTable, base_mode
from pddlego.methods.setting_files import published
from pddlego.methods.textgames.events import ActionsCertified, FactsChecked, Observed, Planned, PlannedStep, Verdict
from pddlego.methods.textgames.first_error import check_recorded, check_running, lasting_errors
from pddlego.methods.textgames.formalize.constraint import CONSTRAINT
from pddlego.methods.textgames.keeping import TESTED, kept, prevents_plans
from pddlego.methods.textgames.options import PLANNING
from pddlego.pddl import same_name
from pddlego.runs.summary import LastingError, Measures
from pddlego.util import resources
from pddlego.util.files import parse_toml
from pddlego.util.text import count, shown_command


def measure(trace: Trace) -> Measures:
    """The measures of an episode: its steps, refused commands, mismatches, goals that were planned for, and errors."""
    observed, usage = trace.all(Observed), trace.usage
    rungs = Counter(event.rung for event in trace.all(Planned) if event.rung is not None)
    repeated = sum(event.repeated for event in observed)
    without_news, verdict = _without_news(trace), kept(trace)
    numbers = {
        "steps": usage.steps,
        "refused": usage.refused,
        "surprises": sum(bool(event.mismatch) for event in observed),
        **({"repeated": repeated} if repeated else {}),
        **_first_answers(trace),
        **({"without_news": without_news.total()} if trace.all(Planned) else {}),
        **({"kept": int(verdict == "yes")} if verdict in TESTED else {}),
    }
    return Measures(
        numbers,
        {
            "rungs": rungs,
            WITHOUT_NEWS: without_news,
            "kept": Counter(filter(None, [verdict])),
            **_fact_counts(trace),
            **_certificates(trace),
        },
        {**_by_step(trace), _INPUT: _input_lengths(trace)},
        tuple(error.summary for error in lasting_errors(trace)) or tuple(_errors_of_choice(trace)),
        _ending(trace),
    )


def _ending(trace: Trace) -> LastingError | None:
    """What ended the episode: a command, unusable answers, or commands after which the score did not rise."""
    ended, observed, rejected = trace.ended, trace.all(Observed), trace.all(Rejected)
    if ended is None or not observed:
        return None
    if ended.outcome is Outcome.LOST:
        text = f"'{shown_command(observed[-1].command)}' lost the game"
        return LastingError("fatal command", text, observed[-1].step, fatal=True)
    if constraint := prevents_plans(trace):
        return LastingError("constraint", f"no plan was found that keeps {constraint}", observed[-1].step)
    if ended.outcome is Outcome.NO_PLAN and rejected:
        last = [event.feedback.category for event in rejected[-1 - rejected[-1].attempt :]]
        ((category, times),) = Counter(last).most_common(1)
        text = f"answers could not be used: {category}, {times} of {len(last)}"
        return LastingError("unusable answers", text, observed[-1].step)
    if ended.outcome is Outcome.STEP_LIMIT:
        helped = max((after.step for before, after in pairwise(observed) if after.score > before.score), default=0)
        if (useless := observed[-1].step - helped) > observed[-1].step / 2:  # else it was short of time
            return LastingError("no command that helps", f"the score did not rise in {count(useless, 'step')}", helped)
    return None


def _errors_of_choice(trace: Trace) -> Iterator[LastingError]:
    """What can be said of a model that chooses commands: the last one lost the game, or many failed or are the same."""
    chosen = [event for event in trace.all(Observed) if event.command is not None and not event.repeated]
    if trace.started is None or base_mode(trace.started.mode) in PLANNING or not chosen:
        return
    if (ending := _ending(trace)) is not None and ending.fatal:
        yield ending
    empty = [event for event in chosen if not event.command]
    refused = [event for event in chosen if event.command and event.refused]
    if len(empty) + len(refused) > _LARGE_PART * len(chosen):
        kind, text = "refused commands", f"{len(refused)} of {count(len(chosen), 'command')} refused"
        if len(empty) > len(refused):
            answers = count(sum(not event.continues for event in chosen), "answer")
            kind, text = "answers without a command", f"{len(empty)} of {answers} without a command"
        yield LastingError(kind, text, max(refused, empty, key=len)[0].step)
    ((command, times),) = Counter(event.command for event in chosen if event.command).most_common(1) or [("", 0)]
    if times > max(2, _LARGE_PART * len(chosen)):
        first = next(event.step for event in chosen if event.command == command)
        yield LastingError("the same command", f"'{command}' {times} of {len(chosen)} times", first)


_LARGE_PART = 0.25
"""The part of all commands from which refused or equal ones are an error."""


def _first_answers(trace: Trace) -> dict[str, float]:
    """How often the model's first answer succeeded, in modes that plan. Empty for other modes.

    The first answer to a question succeeds if it is accepted (the inner loop of PDDLego+ is not needed), and the game
    refuses no command until the next question (nor is the outer loop). `first_answers` is the share of such questions.
    `first_try` is 1 if the episode was won and all first answers succeeded, else 0.
    """
    started, succeeded, retried = trace.started, list[bool](), False
    for step in trace.steps:
        if succeeded and any(isinstance(event, Observed) and event.refused for event in step.events):
            succeeded[-1] = False
        calls = (call for call in step.calls if call.purpose != CONSTRAINT)
        verdicts = {id(call.verdict): call.verdict for call in calls}  # one for each attempt
        for verdict in verdicts.values():
            if isinstance(verdict, (Accepted, Rejected)):
                succeeded += [] if retried else [isinstance(verdict, Accepted)]
                retried = isinstance(verdict, Rejected)
    if started is None or base_mode(started.mode) not in PLANNING or not succeeded:
        return {}
    won = trace.ended is not None and trace.ended.outcome is Outcome.WON
    return {"first_try": int(won and all(succeeded)), "first_answers": sum(succeeded) / len(succeeded)}


WITHOUT_NEWS = "without news"


def _without_news(trace: Trace) -> Counter[str]:
    """How many requests held nothing that the plan had not predicted, by the last action of the plan.

    That is so if all commands since the last problem are steps of the plan, the game answered as expected, and the
    accepted answer makes no other changes than these steps.
    """
    counts: Counter[str] = Counter()
    steps, changes, last, surprised = deque[PlannedStep](), set[str](), "", True
    for event in trace.events:
        if isinstance(event, Planned):
            steps = deque(event.plan)
        elif isinstance(event, Observed):
            step = steps.popleft() if steps and same_name(steps[0].command, event.command or "") else None
            surprised = surprised or step is None or event.refused or bool(event.mismatch)
            if step is not None:
                changes |= {*step.added, *step.removed}
                last = step.action.strip("()").split(" ")[0]
        elif isinstance(event, Accepted):
            surprised = surprised or event.kind != "problem" or bool(event.renamed)
            if last and not surprised and event.source == "model":
                counts[last] += changes.issuperset((*event.added, *event.removed))
            changes, last, surprised = set(), "", event.kind != "problem"
    return +counts


def _certificates(trace: Trace) -> dict[str, Counter[str]]:
    """The certificates of the learned actions."""
    certified = trace.last(ActionsCertified)
    return {CERTIFIED: Counter(certified.certificates)} if certified is not None else {}


CERTIFIED = "learned actions"

_INPUT = "input length"


def _input_lengths(trace: Trace) -> tuple[tuple[float, float], ...]:
    """The characters of each request, by the step in which it was sent (PDDLEGO, section "Limitations")."""
    asked = ((step.number, event) for step in trace.steps for event in step.events if isinstance(event, Asked))
    return tuple((float(number), float(event.characters)) for number, event in asked)


RIGHT, PRECISION, RECALL = "right facts", "precision", "recall"


def _fact_counts(trace: Trace) -> dict[str, Counter[str]]:
    """How many facts of each predicate were right, wrong, stale and missing, over all problems."""
    checked = [event for event in trace.all(FactsChecked) if not event.rejected]
    counts = {name: Counter[str]() for name in (RIGHT, *get_args(Verdict))} if checked else {}
    for event in checked:
        counts[RIGHT].update(event.right)
        for error in event.errors:
            counts[error.verdict][error.predicate] += 1
    return counts


def _by_step(trace: Trace) -> dict[str, tuple[tuple[float, float], ...]]:
    """Precision and recall of the facts of each problem, by the step after which it was written."""
    points: dict[str, list[tuple[float, float]]] = {PRECISION: [], RECALL: []}
    step = 0
    for event in trace.events:
        if isinstance(event, Observed):
            step = event.step
        elif isinstance(event, FactsChecked) and not event.rejected:
            right = sum(event.right.values())
            missing = sum(error.verdict == "missing" for error in event.errors)
            for name, total in ((PRECISION, right + len(event.errors) - missing), (RECALL, right + missing)):
                points[name] += [(float(step), right / total)] if total else []
    return {name: tuple(line) for name, line in points.items() if line}


_DEVELOPMENT, _DEVELOPMENT_SEEDS = "_paper-dev", frozenset(range(10))
"""The file with the success on the development seeds (PDDLEGO, appendix F), and these seeds (appendix C)."""


def _published(name: str, options: Mapping[str, Any], seeds: Collection[int]) -> Published:
    """The paper's success: that of the development table if exactly its seeds were played, else that of Table 1."""
    if frozenset(seeds) != _DEVELOPMENT_SEEDS:
        return published(name, options, seeds)
    tables: Mapping[str, Published] = parse_toml(resources.read("envs", f"{_DEVELOPMENT}.toml"))
    return tables.get(name, {})


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("kept", counted=True),
        Column("steps", over="won", median=True, compared=True),
        Column("refused", blank_zero=True),
        Column("surprises", shown=False),
        Column("repeated", blank_zero=True),
        Column("first_try", counted=True, shown=False),
        Column("first_answers", shown=False),
        Column("without_news", shown=False),
    ),
    counts=(
        CountTable("kept", "Whether the constraint was kept", "kept"),
        CountTable("rungs", "Goals that plans were made for", "goal"),
        CountTable(WITHOUT_NEWS, "Requests without news", "last action"),
        CountTable(CERTIFIED, "Learned actions, compared with those of the setting", "action"),
    ),
    shares=(
        ShareTable(
            "Facts of the model, checked against a reference",
            "predicate",
            part=RIGHT,
            columns=(("precision", ("wrong", "stale")), ("recall", ("missing",))),
        ),
    ),
    figures=(
        Figure(PRECISION, "Precision of facts by step", "step", "precision"),
        Figure(RECALL, "Recall of facts by step", "step", "recall"),
        Figure(_INPUT, "Input length by step", "step", "characters of a request"),
    ),
    published=_published,
    printed="success",
    baseline="act",
    checked=check_recorded,
    checker=check_running,
)
