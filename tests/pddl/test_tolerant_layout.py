"""Edits of a text: they make it read as is wanted, leave the rest, and know where everything was."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from pddlego.pddl.sexpr import Expression, Sexpr, read_sexprs
from pddlego.pddl.tolerant.layout import EditedText, edits

WORDS = st.sampled_from(["a", "b", "?x", "-", "t", ":init"])
TREES = st.recursive(WORDS, lambda parts: st.lists(parts, max_size=5).map(tuple), max_leaves=25)
LISTS = st.lists(TREES, max_size=6).map(tuple)
SPACES = st.sampled_from([" ", "\n", "  \n  ", " ; a comment (b\n", "\r\n", "\t"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A list with spaces and comments between its parts, and none where none is needed."""

    def text(part: Sexpr) -> str:
        if isinstance(part, str):
            return part if draw(st.booleans()) else part.upper()
        inner = "".join(draw(SPACES) + text(child) for child in part)
        return f"({inner}{draw(SPACES) if draw(st.booleans()) else ''})"

    return text(draw(LISTS))


@given(texts(), LISTS)
@example("(a\n ; c\n b)", ("a",))
@example("((a) ; c\n)", (("a",), ("b",)))
@example("(a(b)c)", ("a", "c"))
@example("(a?x)", ("b", "?x"))
def test_after_the_edits_a_text_reads_as_is_wanted(text: str, wanted: tuple[Sexpr, ...]) -> None:
    (node,) = read_sexprs(text).expressions
    assert isinstance(node, Expression)
    draft = EditedText.of(text).edited(edits(node, wanted))
    assert read_sexprs(draft.text).expressions == (wanted,)
    if node == wanted:
        assert draft.text == text


@given(st.text(alphabet="ab(\n\r ;", max_size=40), st.data())
def test_a_position_leads_back_to_the_same_character(text: str, data: st.DataObject) -> None:
    draft = EditedText.of(text)
    for _ in range(3):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(draft.text)), min_size=4, max_size=4)))
        draft = draft.edited([(cuts[0], cuts[1], "xy\nz"), (cuts[2], cuts[3], "")])
    for here, there, length in draft.kept:
        assert draft.text[here : here + length] == text[there : there + length]
        line, column = draft.text[:here].count("\n") + draft.text[:here].count("\r") + 1, 1
        if "\r" not in draft.text and "\r" not in text:
            column = here - draft.text.rfind("\n", 0, here)
            origin = (text[:there].count("\n") + 1, there - text.rfind("\n", 0, there))
            assert draft.original_place((line, column)) == origin


def test_what_moves_takes_its_text_along() -> None:
    text = "(define\n  (:goal (AND  (b))) ; why\n  (:init\n    (a)   ; here\n    (c)))"
    (node,) = read_sexprs(text).expressions
    assert isinstance(node, Expression)
    draft = EditedText.of(text).edited(edits(node, (node[0], node[2], node[1])))
    assert "(:init\n    (a)   ; here\n    (c))" in draft.text
    assert "(:goal (AND  (b)))" in draft.text
    assert read_sexprs(draft.text).expressions[0] == (node[0], node[2], node[1])


def test_a_new_part_stands_as_its_neighbours_do() -> None:
    text = "(:init\n    (a)\n    (b))"
    (node,) = read_sexprs(text).expressions
    assert isinstance(node, Expression)
    assert EditedText.of(text).edited(edits(node, (*node, ("c",)))).text == "(:init\n    (a)\n    (b)\n    (c))"
