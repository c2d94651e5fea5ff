"""What a model thought aloud and what it said; and the file that it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.util.answers import blanked, file_in, last_file, reasoning, spoken, unspoken

THOUGHTS = [
    "<think>no</think>",
    "<THINK>no</THINK>",
    "<thinking>no</thinking>",
    "<reasoning>a\n<b>no</reasoning>",
    "<seed:think>no</seed:think>",
    "[THINK]no[/THINK]",
    "<|START_THINKING|>no<|END_THINKING|>",
    "<|begin_of_thought|>no<|end_of_thought|>",
    "<|think|>no<|/think|>",
    "<|channel>thought\nno<channel|>",
    "thought\nno<channel|>",
    "\u25c1think\u25b7no\u25c1/think\u25b7",
    "<unused94>thought\nno<unused95>",
    "<longcat_think>no</longcat_think>",
    "<thoughts>no</thoughts>",
    "<reflection>no</reflection>",
    "<analysis>no</analysis>",
    "<analysis>\n<draft>no</draft>\n</analysis>",
    "<rationale>no</rationale>",
    "<inner_monologue>no</inner_monologue>",
    "<chain-of-thought>no</chain-of-thought>",
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
    "answer", ["<think>no", "<analysis>no", "[THINK]no", "<|channel|>analysis<|message|>no", "a<think>no</thinking>"]
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


END_MARKERS = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|EOT|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
    "[EOS]",
    "[PAD][PAD]",
    "<eot>",
    "<eom>",
    "<eod>",
    "<endoftext>",
    "[SEP]",
    "</s>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "[|endofturn|]",
]
BEGIN_MARKERS = [
    "",
    "<|im_start|>assistant\n",
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "<start_of_turn>model\n",
    "<\uff5cAssistant\uff5c>",
    "<|turn>model\n",
    "<s>",
    "[/INST]",
    "<|begin_of_box|>",
    "<|ACTION|>",
]
ANSWERS = [
    "look around",
    '{"init": {"add": ["(at x)"]}}',
    "(define (problem p) (:init (a b)))",
    "x = {1: '<b>'}\nprint(x)",
]


@pytest.mark.parametrize("end", END_MARKERS)
@pytest.mark.parametrize("begin", BEGIN_MARKERS)
def test_markers_of_chat_templates_around_an_answer_are_left_out(begin: str, end: str) -> None:
    for answer in ANSWERS:
        for after in ("", "\n", f"\n{end}", "<|start_header_id|>assistant<|end_header_id|>"):
            assert spoken(f"{begin}{answer}{end}{after}") == answer
        assert spoken(f"<think>no</think>{begin}{answer}{end}") == answer
        assert spoken(f"{begin}<think>no</think>{answer}{end}") == answer


@pytest.mark.parametrize(
    "turn", ["<|im_end|>\n<|im_start|>user\n", "<|user|>\n", "<end_of_turn>\n<start_of_turn>user\n", "</s><s>[INST]"]
)
def test_the_turn_that_a_model_invents_for_the_other_side_is_left_out(turn: str) -> None:
    assert spoken(f"look around\n{turn}(define (problem no))").strip() == "look around"


@pytest.mark.parametrize("marker", [*END_MARKERS, "<|channel|>", "<|channel>", "<|im_start|>"])
def test_a_marker_that_a_file_or_a_program_mentions_stays(marker: str) -> None:
    for text in (
        f"(define (problem p)\n  ; ends with {marker}, says the manual\n  (:init (a b)))",
        f"text = text.replace('{marker}', '')\nprint(text)",
        f"if text == '{marker}':  # {marker} is the end\n    pass",
    ):
        assert spoken(text) == text
        assert spoken(f"{text}<|im_end|>") == text


@pytest.mark.parametrize("tag", ["<think>", "</think>", "<channel|>", "<|END_THINKING|>"])
def test_a_tag_of_reasoning_in_quotation_marks_stays(tag: str) -> None:
    text = f'answer = answer.split("{tag}")[-1]\nprint(answer)'
    assert spoken(text) == text


def test_what_is_in_the_comment_of_a_file_hides_nothing_before_it() -> None:
    text = "(define (problem p)\n  ; </think> ends the reasoning\n  (:init (a b)))"
    assert spoken(text) == text


@given(
    st.lists(
        st.sampled_from(
            [*THOUGHTS, *END_MARKERS, *BEGIN_MARKERS, "<think>", "</think>", "yes", "user", "\n", " ", "'", ";"]
        ),
        max_size=8,
    )
)
def test_what_is_unspoken_are_parts_in_order(pieces: list[str]) -> None:
    answer = "".join(pieces)
    done = 0
    for start, end in unspoken(answer):
        assert done <= start < end <= len(answer)
        done = end
    assert len(blanked(answer, unspoken(answer))) == len(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["<|im_end|>", "<think>", "</think>", " ", "<|im_end|> ", "\n<|x|>a", "<|channel>", "'<|"]
)
def test_long_answers_of_markers_are_read_in_linear_time(part: str) -> None:
    """A quadratic reader would take minutes for these."""
    spoken(part * (200_000 // len(part)))
    spoken("yes" + part * (200_000 // len(part)) + "yes")
