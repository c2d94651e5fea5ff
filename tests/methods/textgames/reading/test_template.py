from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.reading.template import (
    LONGEST,
    MOST_SLOTS,
    parse_template,
    read_names,
    sentences,
    without_words,
)
from tests.growth import is_linear

MATCHES = [
    ("You are in the {room}.", "You are in the living room.", {"room": ("living room",)}),
    ("You are in the {room}.", "You are in the TV room.", {"room": ("TV room",)}),
    ("To the {d} you see a closed {kind} door.", "To the North you see a closed frosted-glass door.", None),
    (
        "There is also {t...}.",
        "There is also a knife, some raw salt, and an apple.",
        {"t": ("knife", "raw salt", "apple")},
    ),
    ("{t...} lie here.", "A rope and a hat lie here.", {"t": ("rope", "hat")}),
]
OTHERS = [
    ("You see {t}.", "You see a fridge that is closed."),
    ("You see {t}.", "You see a fridge, and a stove."),
    ("You see {t}.", "You see ."),
    ("You see {t}.", "You see a knife"),
    ("You see {t}.", "Then you see a knife."),
    ("You see {t}.", "You see a one two three four five six seven."),
    ("{i}", "Ingredients:"),
    ("You wait.", "You wait. "),
]
INVALID = [
    "",
    "  ",
    "two {a} {b}",
    "{a}{b}",
    "{a",
    "a}",
    "{A}",
    "{a} and {a}",
    "x" * (LONGEST + 1),
    "one\ntwo",
    "{a...} or {b...}",
]


@pytest.mark.parametrize(("template", "sentence", "values"), MATCHES)
def test_a_slot_holds_a_name_or_a_list(template: str, sentence: str, values: dict[str, tuple[str, ...]] | None) -> None:
    found = parse_template(template).match(sentence)
    assert found is not None
    assert values is None or found == values


@pytest.mark.parametrize(("template", "sentence"), OTHERS)
def test_other_sentences_do_not_match(template: str, sentence: str) -> None:
    assert parse_template(template).match(sentence) is None


@pytest.mark.parametrize("text", [*INVALID, " or ".join(f"{{s{n}}}" for n in range(MOST_SLOTS + 1))])
def test_an_invalid_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_template(text)


WORDS = st.lists(st.sampled_from(["red", "oak", "door", "lamp", "key"]), min_size=1, max_size=3).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_match_is_what_a_regular_expression_finds(names: list[str]) -> None:
    literals = ["you see ", " beside ", " under ", " before ", " here."]
    template = "".join(f"{literal}{{s{n}}}" for n, literal in enumerate(literals[: len(names)])) + literals[-1]
    sentence = "".join(f"{literal}the {name}" for literal, name in zip(literals, names, strict=False)) + literals[-1]
    pattern = re.sub(r"\\\{(s\d)\\\}", r"(?:the )?(?P<\1>.+?)", re.escape(template))
    match, found = re.fullmatch(pattern, sentence), parse_template(template).match(sentence)
    assert match is not None
    assert found == {slot: (value,) for slot, value in match.groupdict().items()}


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_is_a_template_or_an_error_and_any_sentence_matches_or_not(text: str, sentence: str) -> None:
    try:
        template = parse_template(text)
    except ValueError:
        return
    template.match(sentence)


def test_time_grows_with_the_length() -> None:
    template = parse_template(" a ".join(f"{{s{number}}}" for number in range(MOST_SLOTS)))
    small, large = (" a b" * (length // 4) for length in (25_000, 100_000))
    assert is_linear(lambda: template.match(small), lambda: template.match(large), 4)


def test_lists_sentences_and_words_before_names() -> None:
    assert read_names("a knife, and nothing that is seen") == ()
    assert list(sentences("One. Two! Three\nFour.")) == ["One.", "Two!", "Three", "Four."]
    assert without_words("raw sliced carrot", ("raw", "sliced")) == "carrot"
    assert without_words("raw", ("raw",)) == "raw"
