"""The loop: every kind of feedback, the paper's bloopers, models that fix and regress, and what ends an episode."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pddlego.episode.approval import Decision, Question
from pddlego.episode.events import Answered, Asked, Limits, Outcome, Rejected
from pddlego.methods.thought_of_search import METHOD
from pddlego.methods.thought_of_search.events import Attempted, Coded, Finished, Prepared, Tested
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import load
from pddlego.methods.thought_of_search.measure import measure
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.models.transcript import Conversation, ConversationModel, Turn
from pddlego.runs.cells import Cell
from tests.methods.thought_of_search.playing import FEW, ending, events_of, fenced, kinds, right, small
from tests.sandbox.ordinary import needs_locks
from tests.traces import trace_of

pytestmark = needs_locks

SUCC, GOAL = right("24game")
QUICK = SearchOptions(instances=1, call_timeout=0.3, search_timeout=2.0)


def in_successors(old: str, new: str) -> str:
    assert old in SUCC
    return SUCC.replace(old, new)


RAISES = in_successors("    results = []", "    results = [][0]")
CHANGES = in_successors("    return results", "    state.append(0)\n    return results")
CHANGES_LATER = in_successors(
    "    return results",
    "    successors.calls = getattr(successors, 'calls', 0) + 1\n"
    "    if successors.calls == 2:\n        state.append(0)\n    return results",
)
MISSES = in_successors("                results.append([*rest, x * y])\n", "")
UNSOUND = in_successors("results.append([*rest, x - y])", "results.append([x - y])")
SLOW = in_successors("    results = []", "    results = []\n    while len(state) == 3:\n        pass")
STUBBORN = in_successors(
    "    results = []",
    "    results = []\n    while True:\n        try:\n            while True:\n                pass\n"
    "        except:\n            pass",
)
ENDLESS = fenced("def successors(state):\n    return [[state[0] + 1, *state[1:]]]")
WRONG_GOAL = fenced("def is_goal(state):\n    return True")
LENIENT_GOAL = fenced("def is_goal(state):\n    return len(state) == 1 and state[0] in (24, 23.999999999999993, 12, 2)")
GOAL_RAISES = fenced("def is_goal(state):\n    return abs(state[0] - 24) < 0.001 and len(state) == 1")
SLOW_GOAL = fenced(
    "def is_goal(state):\n    while len(state) == 2:\n        pass\n"
    "    return len(state) == 1 and abs(state[0] - 24) < .001"
)
NO_CODE = "I am afraid that I cannot do that."
NO_PYTHON = fenced("def successors(state)\n    return []")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((UNSOUND, GOAL, SUCC), "unsound transition"),
        ((CHANGES, GOAL, SUCC), "input changed"),
        ((CHANGES_LATER, GOAL, SUCC), "input changed"),
        ((MISSES, GOAL, SUCC), "successors missing"),
        ((SUCC, WRONG_GOAL, GOAL), "wrong goal test"),
        ((RAISES, GOAL, SUCC), "successor exception"),
        ((SUCC, GOAL_RAISES, GOAL), "goal exception"),
        ((ENDLESS, GOAL, SUCC), "search timeout"),
        ((SLOW, GOAL, SUCC), "successor timeout"),
        ((STUBBORN, GOAL, SUCC), "successor timeout"),
        ((SUCC, SLOW_GOAL, GOAL), "goal timeout"),
        ((NO_CODE, SUCC, GOAL), "no function"),
        ((NO_PYTHON, SUCC, GOAL), "no function"),
        ((SUCC, NO_CODE, GOAL), "no function"),
    ],
)
def test_each_kind_of_fault_goes_back_once_and_is_mended(answers: tuple[str, ...], kind: str) -> None:
    mode = "tos-no-check" if kind == "search timeout" else "tos"
    options = QUICK if "timeout" in kind else FEW
    events = events_of(small("24game", soundness=1), answers, mode, options)
    assert kinds(events) == [kind]
    assert ending(events).outcome is Outcome.WON, ending(events)
    asked = [event for event in events if isinstance(event, Answered)]
    assert len(asked) == 3
    assert [event.kind for event in events if isinstance(event, Tested) and not event.passed] in ([], [kind])


def test_a_goal_test_that_a_search_proves_wrong_goes_back_and_is_tested_again() -> None:
    setting = small("24game", soundness=1)
    assert isinstance(setting.space, FileSpace)
    texts = {**setting.space.texts, "non_goals": "[3]\n[24, 1]\n"}
    events = events_of(replace(setting, space=replace(setting.space, texts=texts)), (SUCC, LENIENT_GOAL, GOAL))
    assert kinds(events) == ["wrong goal test"]
    text = next(event for event in events if isinstance(event, Rejected))
    assert text.feedback.evidence[0] in ("state: [12]", "state: [2]", "state: [2.0]", "state: [12.0]")
    stages = [event.stage for event in events if isinstance(event, Tested)]
    assert stages.index("soundness") < len(stages) - stages[::-1].index("goal")  # step 2 again, after step 3
    assert ending(events).outcome is Outcome.WON


def test_one_that_never_mends_it_ends_at_ten_answers() -> None:
    events = events_of(small("24game"), (SUCC, *([WRONG_GOAL] * 12)))
    assert ending(events).outcome is Outcome.LOST
    assert ending(events).message == "not finished: the goal test still fails after 10 answers; 0 of 2 instances solved"
    assert len([event for event in events if isinstance(event, Coded) and event.which == "goal"]) == 10
    assert ending(events).score == 0.0


@pytest.mark.parametrize(
    ("mode", "answers", "expected"),
    [
        ("tos-no-check", (UNSOUND, GOAL, SUCC), ["successors missing"]),
        ("tos-no-completeness", (MISSES, GOAL), []),
        ("tos-no-soundness", (UNSOUND, GOAL, SUCC), ["successors missing"]),
        ("tos-no-goal-tests", (SUCC, GOAL_RAISES), []),
        ("tos-no-soundness-no-completeness", (UNSOUND, GOAL), []),
    ],
)
def test_what_is_left_out_is_not_noticed(mode: str, answers: tuple[str, ...], expected: list[str]) -> None:
    events = events_of(small("24game"), answers, mode)
    assert kinds(events) == expected


def test_a_wrong_function_that_passes_is_found_out_by_the_validator() -> None:
    wrong = in_successors("x + y]", "x + y + 1]")
    events = events_of(small("24game"), (wrong, GOAL), "tos-no-soundness-no-completeness")
    assert ending(events).outcome is Outcome.LOST
    tried = [event for event in events if isinstance(event, Attempted)]
    assert {event.kind for event in tried} <= {"wrong solution", "no solution"}
    assert next(event for event in events if isinstance(event, Finished)).solved == 0


def test_prose_two_fences_and_helpers_are_read() -> None:
    helper = fenced(
        "def combine(x, y):\n    return [x + y, x - y, y - x, x * y] + [a / b for a, b in ((x, y), (y, x)) if b]"
    )
    body = (
        "from itertools import combinations\n\n\ndef successors(state):\n    results = []\n"
        "    for i, j in combinations(range(len(state)), 2):\n"
        "        rest = [n for k, n in enumerate(state) if k not in (i, j)]\n"
        "        results += [rest + [made] for made in combine(state[i], state[j])]\n    return results"
    )
    text = f"First a helper:\n\n{helper}\n\nThen the function itself.\n\n{fenced(body)}\n\nThat is all."
    events = events_of(small("24game"), (text, f"Here it is:\n{GOAL}"))
    assert kinds(events) == []
    assert ending(events).outcome is Outcome.WON


def test_time_that_is_up_ends_the_episode() -> None:
    events = events_of(small("24game"), (SUCC, GOAL), limits=Limits(None, seconds=0.0))
    assert ending(events).outcome is Outcome.BUDGET


SPOILED = fenced("def successors(state, rules):\n    return [state | {rules.pop()[1]}] if rules else []")


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        (SearchOptions(states=10), "states (the search met more than 10 states)"),
        (SearchOptions(call_timeout=0.1), "call_timeout (it took longer than 0.1 seconds)"),
    ],
)
def test_a_record_that_ends_after_a_limit_names_the_limit(options: SearchOptions, limit: str) -> None:
    endless = fenced("def successors(state):\n    while True: pass")
    answers = right("24game") if options.states == 10 else (endless, right("24game")[1])
    recorded = Conversation(model="m", domain="game24", turns=tuple(Turn(answer=answer) for answer in answers))
    events = events_of(small("24game"), ConversationModel(recorded, "f", "m"), options=options)
    assert ending(events).outcome is Outcome.MODEL_ERROR
    assert limit in ending(events).message


def test_an_argument_besides_the_state_may_not_be_changed_either() -> None:
    successors, goal = right("deduction")
    events = events_of(small("deduction"), (SPOILED, goal, successors))
    assert kinds(events) == ["input changed"]
    assert ending(events).outcome is Outcome.WON


@pytest.mark.parametrize(
    "goal",
    [
        "from fractions import Fraction\ndef is_goal(state):\n"
        "    return Fraction(int(len(state) == 1 and abs(state[0] - 24) < .001))",
        "class Yes:\n    def __bool__(self):\n        return len(self.s) == 1 and abs(self.s[0] - 24) < .001\n"
        "def is_goal(state):\n    made = Yes()\n    made.s = state\n    return made",
    ],
)
def test_the_truth_of_a_result_is_what_the_function_says(goal: str) -> None:
    assert kinds(events_of(small("24game"), (SUCC, fenced(goal)))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    yield from results", []),
        ("    return tuple(results)", []),
        ("    return {str(each): each for each in results}", ["successor exception"]),
        ("    return str(results)", ["successor exception"]),
        ("    while True:\n        yield [1]", ["successor timeout"]),
        ("    return [results[0]] * 3_000 if results else []", ["successors missing"]),
        ("    return [results[0]] * 400_000 if results else []", ["successor exception"]),
        ("    return results if len(state) < 4 else [['x' * 3_000_000, 2, 3]] * 100", ["successor exception"]),
    ],
)
def test_whatever_is_returned_is_a_list_of_states_or_a_fault(body: str, expected: list[str]) -> None:
    answers = (in_successors("    return results", body), GOAL, SUCC)
    events = events_of(small("24game", soundness=1), answers, options=QUICK)
    assert kinds(events) == expected
    assert ending(events).outcome is Outcome.WON


def test_numbers_of_numpy_are_numbers() -> None:
    goal = fenced("import numpy as np\ndef is_goal(state):\n    return len(state) == 1 and np.isclose(state[0], 24)")
    scalars = in_successors(
        "    return results", "    import numpy as np\n    return [[np.float64(n) for n in s] for s in results]"
    )
    arrays = in_successors("    return results", "    import numpy as np\n    return [np.array(s) for s in results]")
    for successors in (scalars, arrays):
        events = events_of(small("24game"), (successors, goal))
        assert kinds(events) == []
        assert ending(events).outcome is Outcome.WON


# The four bloopers that the paper tells of (section 6).


def test_unstacking_with_a_full_hand_passes_all_tests_and_is_found_out_by_the_validator() -> None:
    """As in the paper's logs, which solve 369 of 502: neither a count of blocks nor known successors show it."""
    successors, goal = right("blocksworld")
    wrong = successors.replace(
        '        return results\n    held = state["holding"]\n',
        '        return results\n    held = state["holding"]\n    for upper, lower in on:\n        if upper in clear:\n'
        "            rest = without(on, (upper, lower))\n"
        "            results.append(made([*without(clear, upper), lower], list(table), upper, rest))\n",
    )
    assert wrong != successors
    options = SearchOptions(instances=40)
    events = events_of(small("blocksworld", options), (wrong, goal), options=options)
    assert kinds(events) == []
    assert ending(events).outcome is Outcome.LOST
    assert {event.kind for event in events if isinstance(event, Attempted)} == {"solved", "wrong solution"}


def test_stones_pushed_onto_stones_are_caught() -> None:
    successors, goal = right("sokoban")
    wrong = successors.replace(" and place not in stones", "")
    assert wrong != successors
    assert kinds(events_of(small("sokoban", soundness=3), (wrong, goal, successors))) == ["unsound transition"]
    blind = events_of(small("sokoban", soundness=3), (wrong, goal, successors), "tos-no-check-no-completeness")
    assert kinds(blind) == []
    assert ending(blind).outcome is Outcome.LOST


def test_columns_taken_for_words_of_one_list_are_caught() -> None:
    successors, goal = right("crosswords")
    wrong = goal.replace(
        "zip(rows + columns, horizontal_answers + vertical_answers)",
        "zip(rows + columns, horizontal_answers + [[words[k] for words in vertical_answers] for k in range(5)])",
    )
    assert wrong != goal
    assert kinds(events_of(small("crosswords", soundness=1), (successors, wrong, goal))) == ["wrong goal test"]


def test_both_copies_of_a_number_that_is_there_twice() -> None:
    wrong = in_successors("if place not in (i, j)", "if number not in (state[i], state[j])")
    assert kinds(events_of(small("24game"), (wrong, GOAL, SUCC))) == ["unsound transition"]
    assert kinds(events_of(small("24game"), (wrong, GOAL, SUCC), "tos-no-check")) == ["successors missing"]


def test_functions_are_evaluated_at_three_points_of_a_dialogue() -> None:
    """The paper's Figure 3: the first answers without feedback, after the soundness tests, and at the end."""
    options = SearchOptions(instances=2, curve=True)
    events = events_of(small("24game", options), (UNSOUND, GOAL, MISSES, SUCC), options=options)
    points = {event.point: event.solved for event in events if isinstance(event, Finished)}
    assert list(points) == ["first", "sound", "complete"]
    assert points["complete"] == 2
    numbers = measure(trace_of(events))
    assert numbers.numbers["accuracy_sound"] == points["sound"] / 2
    expected = tuple((float(place), solved / 2) for place, solved in enumerate(points.values()))
    assert numbers.series["accuracy by point"] == expected
    assert len([event for event in events if isinstance(event, Attempted)]) == 2, "only those at the end are reported"


def test_first_answers_that_hold_no_functions_solve_nothing() -> None:
    options = SearchOptions(instances=2, curve=True)
    events = events_of(small("24game", options), ("prose", SUCC, GOAL), options=options)
    points = {event.point: event.solved for event in events if isinstance(event, Finished)}
    assert points == {"first": 0, "sound": 2, "complete": 2}


def test_hopeless_functions_of_an_unfinished_dialogue_are_not_searched_with_for_ever() -> None:
    options = SearchOptions(instances=9, answers=1, call_timeout=0.1, eval_timeout=0.25)
    endless = fenced("def successors(state):\n    while True: pass")
    events = events_of(small("24game", options), (endless, GOAL), options=options)
    tried = [event.kind for event in events if isinstance(event, Attempted)]
    assert 1 <= len(tried) < 9, "they have the time of one search for all instances together"
    assert set(tried) <= {"successor timeout", "search timeout"}
    done = next(event for event in events if isinstance(event, Finished))
    assert (done.solved, done.total) == (0, 9)


def test_there_are_nineteen_answers_at_most() -> None:
    """Ten for each function and nineteen for both, as the paper counts."""
    answers = (*([MISSES, WRONG_GOAL] + [WRONG_GOAL] * 8), GOAL, *([MISSES] * 12))
    events = events_of(small("24game"), answers)
    coded = Counter(event.which for event in events if isinstance(event, Coded))
    assert coded == {"goal": 10, "successors": 9}
    assert "still fails after 19 answers for both" in ending(events).message


def test_feedback_is_counted_by_phase_when_it_is_sent() -> None:
    answers = (MISSES, "prose", WRONG_GOAL, GOAL, UNSOUND, SUCC)
    events = events_of(small("24game"), answers)
    counts = measure(trace_of(events)).counts["phases"]
    assert counts == {"loading": 1, "goal": 1, "completeness": 1, "soundness": 1}
    unfinished = events_of(small("24game"), (SUCC, *([WRONG_GOAL] * 12)))
    assert measure(trace_of(unfinished)).counts["phases"] == {"goal": 9}, "the fault of the tenth answer is not sent"


class Person:
    """A person who gives the listed decisions, and then accepts."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions, self.shown = list(decisions), list[str]()

    def wants(self, what: str) -> bool:
        return what == "functions"

    def decide(self, question: Question) -> Decision:
        self.shown.append(question.text)
        return self.decisions.pop(0) if self.decisions else Decision()


def test_a_person_gives_feedback_in_place_of_the_tests() -> None:
    strict = "def is_goal(s):\n    return s == [24]"
    person = Person(Decision("rejected", "it forgets quotients"), Decision(), Decision("replaced", strict))
    events = events_of(small("24game"), (MISSES, SUCC, WRONG_GOAL), "tos+human", approver=person)
    asked = [event for event in events if isinstance(event, Asked)]
    assert [event.purpose for event in asked] == ["successors", "successors again", "goal"]
    assert "it forgets quotients" in asked[1].messages[-1].content
    assert kinds(events) == ["feedback of a person"]
    assert not [event for event in events if isinstance(event, Tested)]
    assert ending(events).outcome is Outcome.WON
    assert measure(trace_of(events)).counts["phases"] == {"person": 1}


def test_a_mode_with_a_person_is_refused_without_one() -> None:
    end = ending(events_of(small("24game"), (SUCC, GOAL), "tos+human"))
    assert end.outcome is not Outcome.WON
    assert "needs a person" in end.message


OWN = """GOALS = [([24],)]
NON_GOALS = [([24, 1],), ([3],)]
SUCCESSORS = [(([1, 1],), [[2], [0], [1]])]


def check(state, successor):
    return "" if len(successor) == len(state) - 1 else "a successor has one number fewer"
"""


def test_a_model_writes_the_tests() -> None:
    """They are asked for before the dialogue, and are not part of it."""
    answers = (fenced(OWN), UNSOUND, WRONG_GOAL, GOAL, SUCC)
    events = events_of(small("24game"), answers, "tos+own-tests")
    asked = [event for event in events if isinstance(event, Asked)]
    assert [event.purpose for event in asked][:2] == ["tests", "successors"]
    assert not any(OWN in message.content for message in asked[-1].messages)
    prepared = next(event for event in events if isinstance(event, Prepared))
    assert (prepared.goal, prepared.completeness) == (3, 1)
    assert kinds(events) == ["wrong goal test", "unsound transition"]
    assert "one number fewer" in asked[-1].messages[-1].content
    assert ending(events).outcome is Outcome.WON


@pytest.mark.parametrize(
    "unusable",
    [
        "prose",
        fenced("GOALS = []\nNON_GOALS = [([1],)]\nSUCCESSORS = []\ndef check(a, b): return ''"),
        fenced(OWN.replace("([24],)", "[24]")),
        fenced(OWN.partition("def check")[0]),
        fenced("while True: pass"),
        fenced("import os\nos.system('true')"),
        fenced(OWN.replace('return "" if', 'return "no" if')),
        fenced(OWN.replace("GOALS = [", "list = len\nGOALS = [", 1)),
    ],
)
def test_tests_that_cannot_be_used_are_rejected(unusable: str) -> None:
    events = events_of(small("24game"), (unusable, "prose", "prose"), "tos+own-tests")
    assert ending(events).outcome is Outcome.LOST
    assert "no usable tests" in ending(events).message
    assert kinds(events) == ["unusable tests"] * 3


def test_a_check_of_the_model_that_fails_rejects_nothing() -> None:
    broken = OWN.replace('return ""', 'return "" if state == [1, 1] else state.missing')
    events = events_of(small("24game"), (fenced(broken), SUCC, GOAL), "tos+own-tests")
    assert ending(events).outcome is Outcome.WON


def test_feedback_of_own_tests_is_no_feedback_on_a_function() -> None:
    answers = ("prose", fenced(OWN), UNSOUND, GOAL, SUCC)
    counts = measure(trace_of(events_of(small("24game"), answers, "tos+own-tests"))).counts["phases"]
    assert counts == {"soundness": 1}


def test_a_first_goal_test_that_is_no_function_makes_the_first_point_zero() -> None:
    options = SearchOptions(instances=2, curve=True, answers=3)
    events = events_of(small("24game", options), (SUCC, "prose", GOAL), options=options)
    points = {event.point: event.solved for event in events if isinstance(event, Finished)}
    assert points == {"first": 0, "sound": 2, "complete": 2}
    never = events_of(small("24game", options), ("prose",), options=options)
    assert [event.point for event in never if isinstance(event, Finished)] == ["first"]


def test_an_edit_of_a_person_is_shown_as_the_function() -> None:
    person = Person(Decision("replaced", SUCC.removeprefix("```python\n").removesuffix("\n```")))
    events = events_of(small("24game"), (MISSES, GOAL), "tos+human", approver=person)
    coded = [event for event in events if isinstance(event, Coded) and event.which == "successors"]
    assert [event.command for event in coded] == ["successor function 1", "successor function 1, edited"]
    assert ending(events).outcome is Outcome.WON


def test_what_took_too_long_before_the_end_is_searched_again_at_the_end() -> None:
    """The same functions are evaluated once, apart from instances that a share of the time was not enough for."""
    options = SearchOptions(instances=3, curve=True, eval_timeout=0.5)
    slow = in_successors("    results = []", "    results = []\n    for _ in range(100_000):\n        pass")
    events = events_of(small("24game", options), (slow, GOAL), options=options)
    points = {event.point: event.solved for event in events if isinstance(event, Finished)}
    assert set(points) == {"first", "sound", "complete"}
    tried = [event for event in events if isinstance(event, Attempted)]
    assert [event.number for event in tried] == [0, 1, 2]


def test_a_model_writes_the_tests_of_a_planning_domain() -> None:
    options = SearchOptions(instances=1)
    setting = load("ferry", options)
    model = METHOD.builtin_model("reader", Cell("ferry", "tos+own-tests", "reader", 0), setting)
    assert model is not None
    events = events_of(setting, model, "tos+own-tests", options)
    assert next(event for event in events if isinstance(event, Asked)).purpose == "tests"
    assert ending(events).outcome is Outcome.WON
