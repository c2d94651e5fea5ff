"""The loop of generalized planning: what is asked, what goes back, what is kept, when it ends."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Literal

import pytest

from pddlego.episode.events import Answered, Asked, Event, Isolated, Limits, Outcome, Rejected
from pddlego.methods.programs.events import Evaluated, ProgramWritten, Ran
from pddlego.methods.programs.measure import measure
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.reference_model import reference
from pddlego.methods.programs.trial import code_of, grown
from pddlego.models.transcript import Conversation, ConversationModel, Turn
from tests.methods.programs.playing import ending, events_of, small
from tests.sandbox.ordinary import needs_locks
from tests.traces import trace_of

pytestmark = needs_locks

CODE = reference("ferry") or ""
RIGHT = f"Here it is:\n```python\n{CODE}```\n"
WRONG = "```python\ndef get_plan(objects, init, goal):\n    return None\n```"


def asked(events: list[Event]) -> list[str]:
    return [event.purpose for event in events if isinstance(event, Asked)]


def test_a_right_program_wins_after_three_questions() -> None:
    events = events_of(small("ferry"), ("a summary", "a strategy", RIGHT))
    assert asked(events) == ["summarize", "strategy", "implement"]
    assert (ending(events).outcome, ending(events).score) == (Outcome.WON, 1.0)
    ran = [event for event in events if isinstance(event, Ran)]
    assert [event.split for event in ran] == ["training"] * 3 + ["evaluation"] * 4
    assert all(event.solved for event in ran)
    isolated = next(event for event in events if isinstance(event, Isolated))
    assert "seccomp" in isolated.layers


def test_the_conversation_grows_and_the_first_failure_goes_back() -> None:
    events = events_of(small("ferry"), ("a summary", "a strategy", WRONG, WRONG, RIGHT))
    assert asked(events) == ["summarize", "strategy", "implement", "debug", "debug"]
    requests = [event.messages for event in events if isinstance(event, Asked)]
    assert [len(messages) for messages in requests] == [1, 3, 5, 7, 9]
    assert all(later[: len(first)] == first for first, later in itertools.pairwise(requests))
    last = requests[-1][-1].content
    assert "It returned None, which is not a list of actions." in last
    assert last.count("(define (problem") == 1
    tried = [event.task for event in events if isinstance(event, Ran) and event.split == "training"]
    assert tried == ["training-0", "training-0", "training-0", "training-1", "training-2"]  # one failure at a time
    assert ending(events).outcome is Outcome.WON


def test_the_first_prompt_shows_two_abbreviated_tasks_and_no_evaluation_task() -> None:
    setting = small("heavy", training=10)
    events = events_of(setting, ("a", "b", WRONG), options=ProgramOptions(debug_rounds=0))
    first = next(event for event in events if isinstance(event, Asked)).messages[0].content
    assert first.count("(define (problem") == 2
    assert first.count("(define (domain heavy)") == 1
    assert first.count("(heavier item") <= 20


def test_helpers_of_earlier_answers_are_still_there() -> None:
    helper = (
        "```python\ndef helper(plan):\n    return plan\n\ndef get_plan(objects, init, goal):\n    return helper(1)\n```"
    )
    fixed = f"```python\n{CODE.replace('return plan', 'return helper(plan)')}```"
    events = events_of(small("ferry"), ("a", "b", helper, fixed))
    assert ending(events).outcome is Outcome.WON
    assert [event.answer for event in events if isinstance(event, ProgramWritten)] == [1, 2]


@pytest.mark.parametrize(
    "broken", ["def get_plan(objects, init, goal)\n    return []", "def get_plan(o, i, g):\nreturn []"]
)
def test_what_is_no_python_is_not_kept(broken: str) -> None:
    """The paper's code keeps an answer that is wrongly indented, and so breaks every later one."""
    answers = ("a", "b", f"```python\n{broken}\n```", RIGHT)
    assert ending(events_of(small("ferry"), answers)).outcome is Outcome.WON
    paper = ProgramOptions(parity="paper", debug_rounds=1)
    expected = Outcome.WON if "return []" in broken and broken.startswith("def get_plan(objects") else Outcome.LOST
    assert ending(events_of(small("ferry", paper), answers, options=paper)).outcome is expected


def test_prose_is_a_program_that_is_no_python() -> None:
    events = events_of(small("ferry"), ("a", "b", "First sail, then board.", RIGHT))
    (rejected,) = (event for event in events if isinstance(event, Rejected))
    assert rejected.feedback.category == "python exception"
    assert "SyntaxError" in rejected.feedback.evidence[0]


def test_after_the_last_round_the_last_program_is_evaluated_all_the_same() -> None:
    half = f"```python\n{CODE.replace('return plan', 'return plan if len(goal) > 8 else None')}```"
    events = events_of(small("ferry"), ("a", "b", half))
    assert asked(events) == ["summarize", "strategy", "implement", *["debug"] * 4]
    assert ending(events).score == 1.0


def test_parts_can_be_taken_out() -> None:
    assert asked(events_of(small("ferry"), (RIGHT,), "program-no-cot")) == ["implement"]
    events = events_of(small("ferry"), ("a", "b", WRONG), "program-no-debug")
    assert asked(events) == ["summarize", "strategy", "implement"]
    assert ending(events).score == 0.0
    nameless = events_of(small("spanner"), ("a", "b", WRONG), "program-no-names")
    sent = "".join(event.messages[-1].content for event in nameless if isinstance(event, Asked))
    assert "predicate0" in sent and "operator0" in sent
    assert not {"spanner", "nut", "tighten", "gate"} & set(sent.replace("(", " ").replace(")", " ").split())


def test_the_curve_is_measured_where_it_is_asked_for() -> None:
    options = ProgramOptions(curve=True)
    events = events_of(small("ferry", options), ("a", "b", WRONG, RIGHT), options=options)
    assert [(event.answer, event.solved) for event in events if isinstance(event, Evaluated)] == [(1, 0), (2, 4)]
    result = measure(trace_of(events))
    assert result.series["debug rounds"] == ((0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0))
    assert result.numbers["answers"] == 2
    assert "debug rounds" not in {
        name
        for name, points in measure(trace_of(events_of(small("ferry"), ("a", "b", RIGHT)))).series.items()
        if points
    }


ENDLESS = "while True: pass"
BOMB = """start = time.process_time()
    while time.process_time() - start < 0.5: pass
    blocks = []
    while True: blocks.append(bytearray(1 << 20))"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "seconds", "parity", "message"),
    [(ENDLESS, 0.5, "paper", "it took longer than 0.5 seconds"), (BOMB, 30.0, "off", "it needs more than 128 MiB")],
)
def test_a_hopeless_program_keeps_its_whole_time_unless_it_is_hurried(
    body: str, seconds: float, parity: Literal["off", "paper"], message: str
) -> None:
    answers = ("a", "b", f"```python\nimport time\n\ndef get_plan(objects, init, goal):\n    {body}\n```")
    for hurry in (False, True):
        options = ProgramOptions(task_timeout=seconds, task_memory=128, debug_rounds=0, parity=parity, hurry=hurry)
        events = events_of(small("ferry", options, evaluation=2), answers, options=options)
        first, second = (event for event in events if isinstance(event, Ran) and event.split == "evaluation")
        assert first.message.startswith(message)
        hurried = f"it took longer than {max(0.1, seconds / 100):g} seconds"
        assert second.message.startswith(hurried if hurry else message)


def test_a_record_that_ends_after_a_limit_names_the_limit() -> None:
    program = f"import time\n\ndef get_plan(objects, init, goal):\n    {ENDLESS}"
    answers = ("a summary", "a strategy", f"```python\n{program}\n```")
    recorded = Conversation(model="m", domain="ferry", turns=tuple(Turn(answer=answer) for answer in answers))
    options = ProgramOptions(task_timeout=0.1)
    ended = ending(events_of(small("ferry"), ConversationModel(recorded, "f", "m"), options=options))
    assert ended.outcome is Outcome.MODEL_ERROR
    assert "task_timeout (it took longer than 0.1 seconds)" in ended.message
    wrong = recorded.model_copy(update={"turns": (*recorded.turns[:2], Turn(answer=WRONG))})
    ended = ending(events_of(small("ferry"), ConversationModel(wrong, "f", "m")))
    assert ended.message.startswith("The conversation is at its end")


def test_memory_is_told_as_a_time_out_where_the_paper_would() -> None:
    bomb = (
        "```python\ndef get_plan(objects, init, goal):\n    x = []\n    while True: x.append(bytearray(1 << 20))\n```"
    )
    for parity, words in (("off", "more than 128 MiB of memory"), ("paper", "did not end within 30 seconds")):
        options = ProgramOptions(task_memory=128, debug_rounds=1, parity=parity)  # type: ignore[arg-type]
        events = events_of(small("ferry", options, evaluation=1), ("a", "b", bomb, RIGHT), options=options)
        assert words in [event.messages[-1].content for event in events if isinstance(event, Asked)][-1]


def test_a_limit_of_calls_ends_it_as_budget() -> None:
    events = events_of(small("ferry"), ("a", "b", WRONG), limits=Limits(None, calls=4))
    assert (ending(events).outcome, ending(events).cause) == (Outcome.BUDGET, "calls")
    (evaluated,) = (event for event in events if isinstance(event, Evaluated))
    assert (evaluated.answer, evaluated.final) == (2, True), "what was written before the limit is evaluated"


def test_time_that_is_up_ends_it_as_budget() -> None:
    endless = "```python\ndef get_plan(objects, init, goal):\n    while True: pass\n```"
    events = events_of(small("ferry"), ("a", "b", endless), limits=Limits(None, seconds=1.0))
    assert (ending(events).outcome, ending(events).cause) == (Outcome.BUDGET, "seconds")


def test_thinking_aloud_is_no_program() -> None:
    assert code_of(f"<think>```python\nx\n```</think>{RIGHT}") == CODE.rstrip()


@pytest.mark.parametrize(
    ("answer", "code", "paper"),
    [
        ("a\n```python\nx = 1\n```\nb", "x = 1", "\nx = 1\n"),
        (
            "```python\nx = 1\n```\n```python\ndef get_plan(): pass\n```",
            "x = 1\n\n\n\ndef get_plan(): pass",
            "\nx = 1\n",
        ),
        (
            "```python\ndef get_plan(): pass\n```\n```python\nprint(1)\n```",
            "def get_plan(): pass",
            "\ndef get_plan(): pass\n",
        ),
        ("```\nx = 1\n```", "x = 1", "```\nx = 1\n```"),
        ("x = 1", "x = 1", "x = 1"),
        ("", "", ""),
    ],
)
def test_which_code_is_taken(answer: str, code: str, paper: str) -> None:
    assert code_of(answer) == code
    assert code_of(answer, paper=True) == paper
    assert grown("", "a") == "a"
    assert grown("a", "b") == "a\n\n\nb"


def test_prompts_of_the_users_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompts" / "programs").mkdir(parents=True)
    (tmp_path / "prompts" / "programs" / "strategy.j2").write_text("How?")
    monkeypatch.chdir(tmp_path)
    events = events_of(small("ferry"), ("a", "b", RIGHT))
    assert [event.messages[-1].content for event in events if isinstance(event, Asked)][1] == "How?"
    assert sum(isinstance(event, Answered) for event in events) == 3


def test_what_is_evaluated_is_what_a_run_hands_on(tmp_path: Path) -> None:
    from pddlego.methods.programs.trial import program_in
    from pddlego.runs.journal import dump_line

    half = f"```python\n{CODE.replace('return plan', 'return plan if len(goal) > 8 else None')}```"
    events = events_of(small("ferry", training=1), ("a", "b", half, "Sorry, I cannot do that."))
    (tmp_path / "episodes").mkdir()
    journal = tmp_path / "episodes" / "ferry-program-m-seed0.jsonl"
    journal.write_text("".join(dump_line(event, 0.0) for event in events))
    assert program_in(tmp_path).count("def get_plan") == 1
    assert "Sorry" not in program_in(tmp_path)


def test_what_only_raises_a_syntax_error_is_kept_and_what_cannot_be_compiled_is_not() -> None:
    raising = "```python\ndef helper(x):\n    return x\n\neval('1 +')\n```"
    using = f"```python\n{CODE.replace('return plan', 'return helper(plan)')}```"
    assert ending(events_of(small("ferry"), ("a", "b", raising, using))).outcome is Outcome.LOST  # it raises again
    deep = f"```python\nx = {'-' * 100_000}1\n```"
    assert ending(events_of(small("ferry"), ("a", "b", deep, RIGHT))).outcome is Outcome.WON


def test_half_a_surrogate_pair_reaches_no_prompt() -> None:
    odd = "```python\ndef get_plan(objects, init, goal):\n    return ['(\\ud800)']\n```"
    raised = "```python\ndef get_plan(objects, init, goal):\n    raise ValueError('\\ud800')\n```"
    events = events_of(small("ferry"), ("a", "b", odd, raised, RIGHT))
    sent = [event.messages[-1].content for event in events if isinstance(event, Asked)]
    assert len(sent) == 5
    assert all(text.encode() for text in sent)
