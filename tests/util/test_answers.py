"""What a model thought aloud and what it said; and the file that it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.util.answers import file_in, last_file, reasoning, spoken

THOUGHTS = [
    "<think>no</think>",
    "<THINK>no</THINK>",
    "<thinking>no</thinking>",
    "<reasoning>a\n<b>no</reasoning>",
    "<seed:think>no</seed:think>",
    "[THINK]no[/THINK]",
    "<|START_THINKING|>no<|END_THINKING|>",
    "<think>a</think><think>no</think>",
    "no</think>",
    "<think>a<think>b</think>no</think>",
    "<|channel|>analysis<|message|>no<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>a<|channel|>final<|message|>no<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>no<|end|><|channel|>final <|constrain|>json<|message|>",
    "analysisno, no.assistantfinal",
    "analysis\nnofinal<|message|>".replace("nofinal", "no\nfinal"),
]


@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize("answer", ["(yes)", "look around\n", '{"a": "<b>"}'])
def test_only_the_answer_is_left(thought: str, answer: str) -> None:
    assert spoken(thought + answer) == answer
    assert spoken(spoken(thought + answer)) == answer


@pytest.mark.parametrize("end", ["<|return|>", "<|end|>", "<|end|><|start|>assistant<|channel|>analysis<|message|>no"])
def test_an_answer_in_a_channel_ends_where_the_channel_ends(end: str) -> None:
    assert spoken(f"<|channel|>final<|message|>yes{end}") == "yes"


@pytest.mark.parametrize(
    "answer", ["<think>no", "[THINK]no", "<|channel|>analysis<|message|>no", "a<think>no</thinking>"]
)
def test_thinking_without_an_end_is_not_an_answer(answer: str) -> None:
    assert "no" not in spoken(answer)


@pytest.mark.parametrize(
    "answer", ["", "go north", "(define (problem p))", "a final word: <b>", "analysis of the plan"]
)
def test_an_answer_without_reasoning_stays(answer: str) -> None:
    assert spoken(answer) == answer
    assert reasoning(answer) == []


@given(st.lists(st.sampled_from([*THOUGHTS, "<think>", "</think>", "yes", "final", "<|message|>", "\n"]), max_size=8))
def test_what_is_thought_are_parts_in_order(pieces: list[str]) -> None:
    answer = "".join(pieces)
    done = 0
    for start, end in reasoning(answer):
        assert done <= start <= end <= len(answer)
        done = end


FIRST, SECOND = "(define (problem a) (:init (x)))", "(define (PROBLEM b) (:init (y)))"
DOMAIN = "(define (domain d) (:action a :effect (x)))"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (f"{FIRST} or rather {SECOND}", "problem", SECOND),
        (f"{DOMAIN}\n{FIRST}", "domain", f"{DOMAIN}\n"),
        (f"{FIRST} {DOMAIN}", "problem", f"{FIRST} "),
        (f"{FIRST} As asked it begins with (define (problem a) …", "problem", f"{FIRST} As asked it begins with "),
        ("(define (problem a))", "problem", "(define (problem a))"),
    ],
)
def test_the_last_file_of_a_kind_counts(text: str, kind: str, expected: str) -> None:
    place = last_file(text, kind)
    assert place is not None
    assert text[slice(*place)] == expected


def test_the_file_in_a_text_is_its_last() -> None:
    assert file_in(f"First {FIRST}, then {SECOND}.") == SECOND
    assert file_in("no file (here)") == "no file (here)"
    assert last_file("no file", "domain") is None
