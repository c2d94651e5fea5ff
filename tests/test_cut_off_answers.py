"""An answer that was cut off is rejected, or gives nothing that the whole answer does not give.

The endpoint says that it ended an answer for its length. The readers of all methods read such an answer up to any
character, and what they accept is compared with what they accept of the whole answer.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.episode.budget import Budget
from pddlego.episode.events import Limits
from pddlego.methods.builders.draft import ComponentError, read_component
from pddlego.methods.graphplan.advisers import Advisers, paper_form
from pddlego.methods.programs.trial import code_of as program_of
from pddlego.methods.textgames.formalize import CommandProposal, ProblemProposal, Terms
from pddlego.methods.textgames.formalize.act import ActionGen
from pddlego.methods.textgames.formalize.full import FullEditor, FullFormalizer
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen, unless_incomplete
from pddlego.methods.textgames.knowledge import EMPTY_DOMAIN, Knowledge
from pddlego.methods.textgames.loading import load
from pddlego.methods.thought_of_search.functions import function_code as function_of
from pddlego.methods.thought_of_search.space import Which
from pddlego.models.base import Completion, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, PddlSyntaxError, Problem, TypedName, parse_domain, parse_problem
from pddlego.planning.graphplan.values import AdviceQuestion
from pddlego.planning.plan_text import plan_in
from pddlego.util.answers import file_in
from tests.lamps import DOMAIN, PROBLEM
from tests.methods.textgames.situations import situation_with

COIN = load("coin")
PROMPTS = Prompts(COIN.asking.prompts)
ROOMS = ("kitchen", "pantry", "loc1", "loc10", "loc2", "living_room")
BEFORE = Problem(
    "house",
    "coin-collector",
    frozenset(TypedName(room, "location") for room in ("loc1", "loc10")),
    frozenset((Atom("at", ("loc1",)), Atom("visited", ("loc1",)), Atom("connected", ("loc1", "loc10", "east")))),
    COIN.start.problem.goal,
)
COMMANDS = ("move north", "open door to east", "look around")
SITUATION = situation_with(COIN.asking.prompts, "", COIN.start.domain, BEFORE, valid_commands=COMMANDS)
BLANK = Knowledge(EMPTY_DOMAIN, Problem("game", "unwritten"))

cuts = st.floats(0, 1)
"""The share of an answer that arrives."""
rooms = st.lists(st.sampled_from(ROOMS), unique=True, min_size=1)
framed = st.sampled_from(["{}", "```\n{}\n```", "<think>A door?</think>\n{}", "Here it is:\n\n{}", "{}\nThat is all."])
"""What is around the content of an answer."""
edits = st.fixed_dictionaries(
    {
        "objects": st.fixed_dictionaries(
            {}, optional={"add": rooms.map(lambda names: [f"{n} - location" for n in names])}
        ),
        "init": st.fixed_dictionaries(
            {},
            optional={
                "add": rooms.map(lambda names: [f"(visited {name})" for name in names]),
                "delete": rooms.map(lambda names: [f"(visited {name})" for name in names]),
                "replace": rooms.map(lambda names: {"(at loc1)": f"(at {names[0]})"}),
            },
        ),
    }
)


def cut(text: str, share: float) -> str:
    return text[: round(share * len(text))]


def changes(proposal: ProblemProposal) -> tuple[set[object], set[object]]:
    """The objects and facts that an accepted proposal adds to the problem, and those that it removes."""
    before: set[object] = {*BEFORE.objects, *BEFORE.facts}
    after: set[object] = {*proposal.problem.objects, *proposal.problem.facts}
    return after - before, before - after


def check_proposals(method: PddlEdit | PddlGen | FullFormalizer | FullEditor, whole: str, part: str) -> None:
    read = unless_incomplete(method.read(part, SITUATION), Completion(part, finish="length"))
    assert isinstance(read, ProblemProposal)
    if read.feedback is not None:
        return
    added, removed = changes(read)
    all_added, all_removed = changes(method.read(whole, SITUATION))
    assert added <= all_added
    assert removed <= all_removed


@given(edits, framed, st.sampled_from([None, 2]), cuts)
def test_an_edit(edit: dict[str, Any], frame: str, indent: int | None, share: float) -> None:
    whole = frame.replace("{}", json.dumps(edit, indent=indent))
    check_proposals(PddlEdit(PROMPTS), whole, cut(whole, share))
    check_proposals(FullEditor(PROMPTS, BLANK, Terms()), whole, cut(whole, share))


@given(rooms, framed, cuts)
def test_a_problem_file(names: list[str], frame: str, share: float) -> None:
    """The facts that a file does not mention are removed, so that a part may remove more than the whole does."""
    objects = frozenset(TypedName(name, "location") for name in names)
    facts = frozenset(Atom("visited", (name,)) for name in names) | {Atom("at", (names[0],))}
    whole = frame.replace("{}", str(Problem("house", "coin-collector", objects, facts, BEFORE.goal)))
    part = cut(whole, share)
    read = unless_incomplete(PddlGen(PROMPTS).read(part, SITUATION), Completion(part, finish="length"))
    assert isinstance(read, ProblemProposal)
    assert read.feedback is not None or (read.problem.objects, read.problem.facts) == (objects, facts)


@given(rooms, cuts, st.booleans())
def test_a_domain_with_a_problem_file(names: list[str], share: float, tagged: bool) -> None:
    objects = frozenset(TypedName(name, "location") for name in names)
    problem = str(Problem("house", "coin-collector", objects, frozenset((Atom("at", (names[0],)),)), BEFORE.goal))
    domain = COIN.start.domain.text
    whole = f"<domain>\n{domain}</domain>\n<problem>\n{problem}</problem>" if tagged else f"{domain}\n{problem}"
    part = cut(whole, share)
    method = FullFormalizer(PROMPTS, BLANK, Terms())
    situation = situation_with(COIN.asking.prompts, "", EMPTY_DOMAIN, BLANK.problem, valid_commands=COMMANDS)
    read = unless_incomplete(method.read(part, situation), Completion(part, finish="length"))
    assert isinstance(read, ProblemProposal)
    if read.feedback is None:
        given_ = method.read(whole, situation)
        assert read.problem.facts <= given_.problem.facts
        assert read.problem.objects <= given_.problem.objects
        assert read.knowledge.domain.actions == given_.knowledge.domain.actions


@given(
    st.sampled_from(COMMANDS),
    st.sampled_from(["{}", "**{}**", '{"action": "{}"}', 'act("{}")', "<action>{}</action>", "I see a door.\n> {}\n"]),
    cuts,
)
def test_a_command(command: str, frame: str, share: float) -> None:
    part = cut(frame.replace("{}", command), share)
    read = unless_incomplete(ActionGen(PROMPTS).read(part, SITUATION), Completion(part, finish="length"))
    assert isinstance(read, CommandProposal)
    assert read.feedback is not None or read.command == command


COMPONENTS = {
    "domain": DOMAIN,
    "problem": PROBLEM,
    "types": {"types": [{"name": "room", "parent": "place"}, {"name": "place", "parent": "object"}]},
    "predicates": {"predicates": [{"name": name, "parameters": [{"name": "?x"}]} for name in ("lit", "dark", "at")]},
    "action": {
        "name": "go",
        "parameters": [{"name": "?x"}],
        "precondition": "(and (at ?x) (lit ?x))",
        "effect": "(dark ?x)",
    },
    "objects": {"objects": [{"name": "hall", "type": "room"}, {"name": "attic", "type": "room"}]},
    "init": {"facts": ["(at hall)", "(dark hall)", "(dark attic)"]},
    "goal": {"goal": "(and (lit hall) (lit attic))"},
}
"""An answer for each kind of component."""


PARSERS: Mapping[str, Callable[[str], object]] = {"domain": parse_domain, "problem": parse_problem}


@pytest.mark.parametrize("kind", COMPONENTS)
@given(framed, cuts)
def test_a_component(kind: str, frame: str, share: float) -> None:
    content = COMPONENTS[kind]
    whole = frame.replace("{}", content if isinstance(content, str) else json.dumps(content))
    try:
        read = read_component(kind, cut(whole, share))
    except ComponentError:
        return
    if kind in ("domain", "problem"):
        text = str(getattr(read, kind))
        with suppress(PddlSyntaxError):  # a file without its end is rejected by the draft
            assert PARSERS[kind](file_in(text)) == PARSERS[kind](file_in(whole))
    else:
        assert read == read_component(kind, whole)


CODE = '''import math


def helper(state):
    """Return the neighbours."""
    return [item for item in state if item]


def successors(state):
    result = []
    for item in helper(state):
        result.append(item + 1)
    return result


def is_goal(state):
    return not state


def get_plan(objects, init, goal):
    plan = []
    plan.append("(go a b)")
    return plan
'''


WHICH: tuple[Which, ...] = ("successors", "goal")


def defined(code: str) -> bool:
    """Whether a text is Python that defines a function; anything else is rejected when it is loaded."""
    try:
        return any(isinstance(node, ast.FunctionDef) for node in ast.parse(code).body)
    except SyntaxError:
        return False


def check_lines(code: str) -> None:
    """All lines but the last one are lines of the whole program, in its order, and the last one begins its line."""
    *lines, last = [line for line in code.splitlines() if line.strip()]
    wanted = [line for line in CODE.splitlines() if line.strip()]
    begin = next(number for number, line in enumerate(wanted) if line.startswith(lines[0] if lines else last))
    assert lines == wanted[begin : begin + len(lines)]
    assert wanted[begin + len(lines)].startswith(last)


@given(st.sampled_from(["```python\n{}```", "Here it is:\n\n```\n{}```\nThat is all.", "{}"]), cuts)
def test_programs_and_functions(frame: str, share: float) -> None:
    part = cut(frame.replace("{}", CODE), share)
    texts = [program_of(part), *(code.text for which in WHICH if (code := function_of(part, which)) is not None)]
    for text in texts:
        if defined(text):
            check_lines(text)


MOVES = parse_domain(
    "(define (domain d) (:predicates (at ?x)) (:action move :parameters (?from ?to) :precondition (at ?from) "
    ":effect (and (at ?to) (not (at ?from)))))"
)
PLACES = ("a", "b1", "b12", "c")
STEPS = [f"(move {first} {second})" for first in PLACES for second in PLACES if first != second]
steps = st.lists(st.sampled_from(STEPS), min_size=1, max_size=5, unique=True)


def listed(actions: Sequence[str], frame: str) -> str:
    return "\n".join(
        frame.format(number=number, action=action, paper=paper_form(action, MOVES))
        for number, action in enumerate(actions, 1)
    )


@given(steps, st.sampled_from(["{action}", "{number}. {action}", "- `{action}`"]), cuts)
def test_a_plan(actions: list[str], frame: str, share: float) -> None:
    problem = parse_problem(f"(define (problem p) (:domain d) (:objects {' '.join(PLACES)}) (:init) (:goal (and)))")
    with suppress(PddlSyntaxError):
        read = plan_in(cut(listed(actions, frame), share), MOVES, problem).plan.steps
        assert list(map(str, read)) == actions[: len(read)]


class CutOffModel:
    """Its answer ended because of its length."""

    name = "cut off"
    description: Mapping[str, Any] = {}

    def __init__(self, text: str) -> None:
        self.text = text

    def complete(self, request: Request) -> Completion:
        return Completion(self.text, finish="length")


@given(steps, st.sampled_from(["{action}", "{number}. {action}", "- `{action}`", "{paper}"]), cuts)
def test_advice(actions: list[str], frame: str, share: float) -> None:
    problem = parse_problem("(define (problem p) (:domain d) (:objects a) (:init) (:goal (and)))")
    question = AdviceQuestion("prune", 1, (), tuple(STEPS), MOVES, problem)
    asking = Advisers(Budget(Limits(None)), prune=CutOffModel(cut(listed(actions, frame), share))).ask(question)
    try:
        while True:
            next(asking)
    except StopIteration as stopped:
        assert set(stopped.value) <= set(actions)
