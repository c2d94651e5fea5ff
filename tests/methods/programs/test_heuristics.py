"""The modes in which a model writes heuristics: the questions, the choice, the feedback, the removable parts."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

import pytest

from pddlego.episode.events import Answered, Asked, Ended, Event, Limits, Outcome, Rejected
from pddlego.errors import BudgetSpentError, ModelError, RecordEndedError, UsageError
from pddlego.methods.base import Tools
from pddlego.methods.programs import METHOD
from pddlego.methods.programs.events import Chosen, Evaluated, ProgramWritten, Ran, Sampled
from pddlego.methods.programs.heuristics import HEURISTIC
from pddlego.methods.programs.limits import candidates_of, heuristic_limits
from pddlego.methods.programs.measure import measure
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.reference_model import builtin_model, examples, reference
from pddlego.methods.programs.setting import ProgramSetting, upper_bound
from pddlego.methods.programs.trial import code_of
from pddlego.models.base import Completion, Model, Request, ScriptedModel
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import Cell
from tests.clock import unhurried
from tests.methods.programs.guiding import DOMAINS, GOAL_COUNT, heuristic, improving
from tests.methods.programs.playing import ending, events_of, small
from tests.sandbox.ordinary import needs_locks
from tests.traces import trace_of

pytestmark = needs_locks

QUICK = ProgramOptions(candidates=3, training_timeout=5.0, task_timeout=5.0)
CHOOSING = QUICK.model_copy(update={"eval_timeout": 0.1})
"""For tests that only look at the choice: counting goals takes seconds for each of the larger tasks."""


def fenced(text: str) -> str:
    return f"Here it is:\n```python\n{text}\n```\n"


GOOD, COUNT, WRONG = (
    fenced(text) for text in (reference("blocks", "heuristics") or "", GOAL_COUNT, heuristic("return node.value"))
)


def built_in(setting: ProgramSetting, mode: str, name: str = "reader") -> Model:
    model = builtin_model(name, Cell(setting.name, mode, name, 0), setting)
    assert model is not None
    return model


def all_of(events: list[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


@cache
def first_prompt(mode: str, options: ProgramOptions = QUICK) -> str:
    events = events_of(small("ferry", options, 2, 1), (WRONG,), mode, options, limits=Limits(None, calls=1))
    return next(event for event in events if isinstance(event, Asked)).messages[0].content


def test_every_candidate_gets_the_same_prompt_and_the_best_is_evaluated(planner: ProcessPlanner) -> None:
    events = events_of(small("blocks", QUICK), (WRONG, COUNT, GOOD), "heuristic", QUICK, planner)
    asked = [event for event in events if isinstance(event, Asked)]
    assert [(event.purpose, event.attempt) for event in asked] == [("heuristic", 0), ("heuristic", 1), ("heuristic", 2)]
    assert len({event.messages for event in asked}) == 1 and len(asked[0].messages) == 1
    sampled = [event for event in events if isinstance(event, Sampled)]
    assert [(event.solved, event.total) for event in sampled] == [(0, 3), (3, 3), (3, 3)]
    assert sampled[0].failure == "exception in __call__"
    chosen = next(event for event in events if isinstance(event, Chosen))
    assert chosen.answer == 3  # both solve all; this one expands fewer states
    ran = [event for event in events if isinstance(event, Ran)]
    assert [(event.split, event.answer) for event in ran] == [
        *[("training", answer) for answer in (1, 2, 3) for _ in range(3)],
        *[("evaluation", 3)] * 4,
    ]
    assert (ending(events).outcome, ending(events).score) == (Outcome.WON, 1.0)
    assert next(event for event in events if isinstance(event, Evaluated)).answer == 3


def test_most_solved_tasks_win_before_speed(planner: ProcessPlanner) -> None:
    half = heuristic(
        "if len(self.goals) > 5:\n    raise ValueError\nreturn len(self.goals - node.state)"
    )  # quicker on what it solves
    events = events_of(small("blocks", CHOOSING, 6, 1), (fenced(half), COUNT, WRONG), "heuristic", CHOOSING, planner)
    first, second, _ = (event for event in events if isinstance(event, Sampled))
    assert 0 < first.solved < second.solved
    assert next(event for event in events if isinstance(event, Chosen)).answer == 2


def test_what_fails_in_the_same_way_everywhere_is_tried_once(planner: ProcessPlanner) -> None:
    answers = ("I cannot write one.", fenced("def h(node):\n    return 0"), GOOD)
    events = events_of(small("blocks", QUICK), answers, "heuristic", QUICK, planner)
    ran = [event for event in events if isinstance(event, Ran) and event.split == "training"]
    assert [event.answer for event in ran] == [1, 2, 3, 3, 3]
    assert [event.kind for event in ran[:2]] == ["exception in loading", "no heuristic"]
    counts = measure(trace_of(events)).counts["candidates"]
    assert counts == {"exception in loading": 1, "no heuristic": 1}


def test_without_a_working_candidate_the_evaluation_is_lost(planner: ProcessPlanner) -> None:
    events = events_of(small("blocks", QUICK), (WRONG,), "heuristic", QUICK, planner)
    assert (ending(events).outcome, ending(events).score) == (Outcome.LOST, 0.0)
    assert [error.kind for error in measure(trace_of(events)).errors] == ["exception in __call__ in training"]


def test_the_counterexample_goes_back_in_names(planner: ProcessPlanner) -> None:
    events = events_of(small("blocks", QUICK), (COUNT, GOOD), "heuristic-direct", QUICK, planner)
    asked = [event for event in events if isinstance(event, Asked)]
    assert [(event.purpose, len(event.messages)) for event in asked] == [("heuristic", 1), ("correct", 3)]
    text = asked[1].messages[-1].content
    for part in ("is not direct", "These goals are not true in it:", "(hand-empty)", "no longer true:", "value is 5:"):
        assert part in text
    (rejected,) = (event for event in events if isinstance(event, Rejected))
    assert rejected.feedback.category == "not direct"
    assert rejected.feedback.evidence[1].startswith("its value: 5; successors: (")
    assert ending(events).outcome is Outcome.WON
    climbed = [event for event in events if isinstance(event, Ran) and event.split == "evaluation"]
    assert climbed and all(event.length == event.expanded for event in climbed)


NOISY = fenced(
    (reference("blocks", "heuristics") or "")
    + """

import zlib

_Base = [value for value in list(globals().values()) if isinstance(value, type) and "__call__" in vars(value)][-1]


class Noisy(_Base):
    def __call__(self, node):
        return _Base.__call__(self, node) + 1.5 * zlib.crc32(" ".join(sorted(node.state)).encode()) / 2**32
"""
)
"""A heuristic with which hill climbing reaches the goals of the training tasks, and that is not direct."""


@pytest.mark.slow
def test_a_state_beside_the_path_of_hill_climbing_goes_back(planner: ProcessPlanner) -> None:
    setting = small("blocks", QUICK, 5)
    assert events_of(setting, (NOISY,), "heuristic", QUICK, planner)
    events = events_of(setting, (NOISY, GOOD), "heuristic-direct", QUICK, planner)
    (rejected,) = (event for event in events if isinstance(event, Rejected))
    assert rejected.feedback.category == "not direct"
    text = [event.messages[-1].content for event in events if isinstance(event, Asked)][1]
    assert "whichever it is" in text and "such step" in text
    assert next(event for event in events if isinstance(event, Chosen)).answer == 2
    assert {event.kind for event in events if isinstance(event, Ran) and event.answer == 2} == {"solved"}


def test_a_heuristic_passes_if_the_search_for_a_violation_is_not_finished(planner: ProcessPlanner) -> None:
    """It improves with each call, and a call takes half of the time."""
    slow = fenced(improving(seconds=0.3))
    options = replace_options(training_timeout=0.5, eval_timeout=0.2)
    events = events_of(small("blocks", options, 2, 1), (slow,), "heuristic-direct", options, planner)
    assert not [event for event in events if isinstance(event, Rejected)]
    trained = [event.kind for event in events if isinstance(event, Ran) and event.split == "training"]
    assert trained == ["timeout", "timeout"]
    chosen = next(event for event in events if isinstance(event, Chosen))
    assert (chosen.answer, chosen.solved) == (1, 0)


@pytest.mark.slow
def test_each_failure_goes_back_with_its_own_lines(planner: ProcessPlanner) -> None:
    options = replace_options(candidates=5)
    broken = (
        fenced(heuristic("return 0", init="self.a = task.goal_facts")),
        fenced(heuristic("return None")),
        fenced(heuristic("return len(bytearray(1 << 40))")),
        fenced(heuristic("while True:\n    pass")),
        GOOD,
    )
    options = options.model_copy(update={"training_timeout": 1.0})
    events = events_of(small("blocks", options), broken, "heuristic-direct", options, planner)
    sent = [event.messages[-1].content for event in events if isinstance(event, Asked)][1:]
    expected = (
        "AttributeError: 'Task' object has no attribute 'goal_facts'",
        "__call__ returned None, which is not a number",
        "it needs more than 1024 MiB of memory",
        "it did not end within 1 seconds",
    )
    for text, part in zip(sent, expected, strict=True):
        assert part in text and "The heuristic fails on this task" in text
    assert ending(events).outcome is Outcome.WON


def asked_for(planner: ProcessPlanner, replies: tuple[str, ...], **changes: object) -> int:
    """The number of requests to a model with these replies, on the smallest tasks of Blocks World."""
    options = replace_options(**changes)
    events = events_of(small("blocks", options, 2, 1), replies, "heuristic", options, planner)
    return sum(isinstance(event, Asked) for event in events)


def test_no_heuristic_is_requested_after_one_that_no_other_can_surpass(planner: ProcessPlanner) -> None:
    assert asked_for(planner, (WRONG, GOOD, GOOD)) == 2
    assert asked_for(planner, (GOOD, COUNT, COUNT), parity="paper") == 3


def replace_options(**changes: object) -> ProgramOptions:
    return QUICK.model_copy(update=changes)


def test_after_the_last_answer_the_best_one_is_evaluated_with_the_greedy_search(planner: ProcessPlanner) -> None:
    options = replace_options(candidates=2)
    choosing = replace_options(candidates=2, eval_timeout=0.1)
    with_search = events_of(small("blocks", choosing, 3, 1), (COUNT, WRONG), "heuristic-direct", choosing, planner)
    assert next(event for event in with_search if isinstance(event, Chosen)).answer == 1  # the other one crashes
    without = events_of(small("blocks", options, 3, 2), (COUNT,), "heuristic-direct-no-search", options, planner)
    kinds = {event.kind for event in without if isinstance(event, Ran) and event.split == "evaluation"}
    assert kinds == {"not direct"}
    small_tasks = small("blocks", options, 3, 2)
    file = small_tasks.file.model_copy(update={"evaluation": {"blocks": (4, 6)}})
    again = events_of(replace(small_tasks, file=file), (COUNT,), "heuristic-direct", options, planner)
    assert ending(again).score == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("checklist", "Check before you answer"),
        ("examples", "a good heuristic for another domain"),
        ("domain", "(define (domain ferry)"),
        ("names", "empty-ferry"),
    ],
)
def test_parts_can_be_taken_out_of_the_prompt(part: str, text: str) -> None:
    whole = first_prompt("heuristic")
    assert text in whole
    assert text not in first_prompt(f"heuristic-no-{part}")
    assert "must be direct" not in whole
    assert "must be direct" in first_prompt("heuristic-direct")
    assert "class Heuristic:" in first_prompt(f"heuristic-direct-no-{part}")


def test_the_prompt_shows_the_smallest_and_the_largest_training_task() -> None:
    setting = small("blocks", QUICK, 6, 1)
    sizes = [task.size for task in setting.tasks(0).training]
    events = events_of(setting, (WRONG,), "heuristic", QUICK)
    text = next(event for event in events if isinstance(event, Asked)).messages[0].content
    tasks = text.split("(define (problem")[1:]
    assert [len(task.partition("(:init")[0].split("(:objects")[1].split()) - 1 for task in tasks] == [
        min(sizes),
        min(10, max(sizes)),
    ]
    assert "(define (domain blocks)" in text
    assert "Some facts of the first state of the small task: (clear " in text


def test_examples_are_of_other_domains() -> None:
    for domain in ("gripper", "logistics", "blocks", "ferry", "miconic"):
        (good,) = examples(domain)
        assert f"(define (domain {domain})" not in good["domain"]
        assert "class " in good["code"]


@pytest.mark.parametrize(
    ("domain", "mode"),
    [
        *product(DOMAINS, ["heuristic", "heuristic-direct"]),
        *product(DOMAINS[:1], ["heuristic-no-names", "heuristic-direct-no-names"]),
    ],
)
def test_the_built_in_model_writes_heuristics(planner: ProcessPlanner, domain: str, mode: str) -> None:
    options = ProgramOptions()
    setting = small(domain, options, 2, 1)
    if domain in ("gripper", "blocks"):  # small enough for counting goals, which may be chosen
        ranges = {"gripper": {"rooms": (2, 3), "balls": (3, 6)}, "blocks": {"blocks": (5, 9)}}[domain]
        setting = replace(setting, file=setting.file.model_copy(update={"evaluation": ranges, "training": ranges}))
    events = events_of(setting, built_in(setting, mode), mode, options, planner)
    assert (ending(events).outcome, ending(events).score) == (Outcome.WON, 1.0), ending(events)
    written = [event for event in events if isinstance(event, ProgramWritten)]
    if mode.startswith("heuristic-direct"):
        assert len(written) <= 10
    else:
        assert len(written) == 3, "the third one expands no state beside its plans"
        failures = [event.failure for event in events if isinstance(event, Sampled)]
        assert failures[1] == "exception in __call__"


@pytest.mark.slow
def test_a_built_in_model_that_errs_makes_each_kind_of_fault(planner: ProcessPlanner) -> None:
    options = replace_options(candidates=25, training_timeout=0.5, task_memory=256)
    setting = small("ferry", options, 1, 1)
    name = "reader+noise:1,seed=2"
    events = events_of(setting, built_in(setting, "heuristic", name), "heuristic", options, planner)
    kinds = {event.failure for event in events if isinstance(event, Sampled)}
    assert kinds == {
        "exception in __init__", "exception in __call__", "wrong value", "search space exhausted", "memory", "timeout",
    }  # fmt: skip
    assert ending(events).score == 0.0


def test_the_built_in_model_says_what_it_does_not_know() -> None:
    setting = small("heavy")
    with pytest.raises(UsageError, match="cannot play heavy") as caught:
        built_in(setting, "heuristic")
    assert "no heuristic for the domain heavy" in caught.value.reason


def test_the_papers_numbers_are_those_of_parity() -> None:
    paper, plain = ProgramOptions(parity="paper"), ProgramOptions()
    assert (candidates_of(plain), candidates_of(paper)) == (5, 25)
    assert [heuristic_limits(plain, evaluating).seconds for evaluating in (False, True)] == [10.0, 30.0]
    assert [heuristic_limits(paper, evaluating).seconds for evaluating in (False, True)] == [300.0, 300.0]
    own = ProgramOptions(parity="paper", candidates=3, training_timeout=7, eval_timeout=8)
    assert candidates_of(own) == 3
    assert [heuristic_limits(own, evaluating).seconds for evaluating in (False, True)] == [7.0, 8.0]
    setting = small("blocks")
    assert upper_bound(setting, "heuristic", paper, 5).calls == 25
    for options in (plain, paper):
        assert candidates_of(options, direct=True) == 10
        assert heuristic_limits(options, evaluating=False, direct=True).seconds == 30.0
        assert upper_bound(setting, "heuristic-direct-no-domain", options, 5).calls == 10
    assert heuristic_limits(paper, evaluating=True, direct=True).seconds == 300.0
    assert (candidates_of(own, True), heuristic_limits(own, False, True).seconds) == (3, 7.0)


def test_a_replay_repeats_the_choice_whatever_the_times_are(planner: ProcessPlanner) -> None:
    setting = small("blocks", CHOOSING, 2, 2)
    events = events_of(setting, (COUNT, GOOD, WRONG), "heuristic", CHOOSING, planner)
    recorded = trace_of(replace(event, answer=1) if isinstance(event, Chosen) else event for event in events)
    tools = Tools(ScriptedModel((COUNT, GOOD, WRONG)), planner, Limits(None), recorded=recorded)
    again = list(METHOD.run(Cell("blocks", "heuristic", "script", 0), setting, CHOOSING, tools))
    assert [event.answer for event in again if isinstance(event, Chosen)] == [1]


@dataclass(frozen=True)
class _OneAnswer(ScriptedModel):
    """A model that counts tokens, and has one answer: the next request raises `error`."""

    error: ModelError = field(kw_only=True)

    def complete(self, request: Request) -> Completion:
        if request.attempt:
            raise self.error
        return replace(super().complete(request), tokens_in=1, tokens_out=1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["heuristic", "heuristic-direct"])
@pytest.mark.parametrize("ended", ["calls", "tokens", "evaluation"])
def test_what_was_written_before_a_budget_ended_is_evaluated(planner: ProcessPlanner, mode: str, ended: str) -> None:
    limits = {"calls": Limits(None, calls=1), "tokens": Limits(None, tokens=1)}.get(ended, Limits(None))
    model = _OneAnswer((GOOD if mode == "heuristic" else WRONG,), error=BudgetSpentError("The budget is spent"))
    # The paper asks on after a perfect heuristic.
    options = QUICK.model_copy(update={"parity": "paper"}) if mode == "heuristic" else QUICK
    setting = small("blocks", options, 2, 2)
    events = events_of(setting, model, mode, options, planner, limits)
    (evaluated,) = (event for event in events if isinstance(event, Evaluated))
    assert evaluated.answer == 1
    assert (ending(events).outcome, ending(events).cause) == (Outcome.BUDGET, ended)
    assert ending(events).score == evaluated.solved / 2
    ended_model = replace(model, error=RecordEndedError("No answer is left"))
    tools = Tools(ended_model, planner, limits, recorded=trace_of(events))
    again = list(METHOD.run(Cell("blocks", mode, "scripted", 0), setting, options, tools))
    assert [event.type for event in again] == [event.type for event in events], "a replay does the same"


@pytest.mark.parametrize("mode", ["program", "heuristic", "heuristic-direct"])
def test_without_an_answer_there_is_nothing_to_evaluate(planner: ProcessPlanner, mode: str) -> None:
    events = events_of(small("blocks", QUICK, 2, 2), (GOOD,), mode, QUICK, planner, Limits(None, calls=0))
    assert ending(events).outcome is Outcome.BUDGET
    assert not [event for event in events if isinstance(event, Evaluated)]


def test_the_time_of_the_episode_ends_it(planner: ProcessPlanner) -> None:
    endless = fenced(heuristic("while True:\n    pass"))
    events = events_of(small("blocks", QUICK), (endless,), "heuristic", QUICK, planner, Limits(None, seconds=1.0))
    assert ending(events).outcome is Outcome.BUDGET
    answered = [event for event in events if isinstance(event, Answered)]
    assert len(answered) <= 1, "none on a machine that needs a second to begin"


def test_what_is_measured(planner: ProcessPlanner) -> None:
    events = events_of(small("blocks", QUICK), (COUNT, WRONG, GOOD), "heuristic", QUICK, planner)
    measures = measure(trace_of(events))
    ran = [event for event in events if isinstance(event, Ran) and event.split == "evaluation"]
    assert measures.numbers["answers"] == 3
    assert measures.numbers["trained"] == 1
    assert "used_tasks" not in measures.numbers
    assert measures.numbers["expanded"] == statistics.median(event.expanded for event in ran)
    cactus = measures.series["cactus"]
    assert [x for x, _ in cactus] == [1.0, 2.0, 3.0, 4.0]
    assert [y for _, y in cactus] == sorted(event.seconds for event in ran)
    assert dict(measures.series["coverage"]) == {20.0: 1.0}
    assert measures.series["expansions"] == tuple((float(event.size), float(event.expanded)) for event in ran)


def test_blind_search_is_the_planner_without_its_heuristic(planner: ProcessPlanner) -> None:
    setting = small("blocks", training=2, evaluation=1)
    file = setting.file.model_copy(update={"evaluation": {"blocks": (6, 6)}})
    setting = replace(setting, file=file)
    expanded = []
    with ProcessPlanner(engine="pyperplan", clock=unhurried) as own:
        for mode in ("plan", "plan-no-heuristic"):
            events = events_of(setting, mode=mode, planner=own)
            (last,) = (event for event in events if isinstance(event, Ran) and event.split == "evaluation")
            assert last.solved
            expanded.append(last.expanded)
    assert 0 < expanded[0] < expanded[1]
    with ProcessPlanner(engine="auto", clock=unhurried) as auto:
        events = events_of(setting, mode="plan-no-heuristic", planner=auto)
    assert [event.expanded > 0 for event in events if isinstance(event, Ran)] == [True] * 3  # pyperplan counts them


def test_a_task_that_the_planner_did_not_try_is_not_unsolved() -> None:
    """The planner fails, or cannot read the task: the episode has no result."""
    setting = small("blocks", QUICK, training=1, evaluation=1)
    with ProcessPlanner(engine="mimir", clock=unhurried) as mimir:
        events = events_of(setting, mode="plan-no-heuristic", planner=mimir)
    assert "mimir has no gbf(blind); use pyperplan" in ending(events).message
    closed = ProcessPlanner(clock=unhurried)
    closed.close()
    for mode in ("plan", "heuristic", "heuristic-direct"):
        events += events_of(setting, (GOOD,), mode, QUICK, closed)
        assert ending(events).message.startswith("The planner cannot plan for training-0"), mode
    assert {event.outcome for event in events if isinstance(event, Ended)} == {Outcome.CRASHED}
    assert not [event for event in events if isinstance(event, (Ran, Evaluated, Asked))]


def test_the_code_of_an_answer_ends_with_the_heuristic() -> None:
    blocks = ("class Distance:\n    pass", "class H:\n    def __call__(self, node):\n        return 0", "print(H)")
    code = code_of("Then:\n".join(map(fenced, blocks)), defines=HEURISTIC)
    assert code.startswith("class Distance") and code.endswith("return 0")
