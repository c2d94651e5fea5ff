"""Every parser of model answers takes linear time, whatever 80,000 characters it reads: more than any model writes.

Each parser gets runs of single signs, and its own worst texts: what one of its regular expressions could try again at
every start, and lists that one of its loops could copy or search for every item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Limits
from pddlego.methods.builders.building import ComponentWriter, Target
from pddlego.methods.builders.draft import ACTION_COMPONENTS, COMPONENTS, Draft, components_of
from pddlego.methods.builders.reviewing import Diagnosis, ask_opinion
from pddlego.methods.graphplan.advisers import named_actions
from pddlego.methods.programs.trial import code_of as program_of
from pddlego.methods.programs.trial import read_action
from pddlego.methods.textgames.formalize import Exchange, Terms
from pddlego.methods.textgames.formalize.act import ActionGen
from pddlego.methods.textgames.formalize.full import (
    FullEditor,
    FullFormalizer,
    FullSteps,
    in_braces,
    read_goals,
    take_apart,
)
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.knowledge import EMPTY_DOMAIN, Knowledge
from pddlego.methods.textgames.loading import load
from pddlego.methods.thought_of_search.functions import code_as_the_paper
from pddlego.methods.thought_of_search.functions import function_code as function_of
from pddlego.models.base import ScriptedModel
from pddlego.models.prompts import Prompts
from pddlego.pddl import EditSyntaxError, PddlSyntaxError, Problem, apply_edit, check, parse_domain, parse_edit
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import SectionEdit, apply_domain_edit
from pddlego.pddl.nearly_json import last_object
from pddlego.pddl.partial import problem_so_far
from pddlego.pddl.portable import checked_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs
from pddlego.pddl.tolerant import is_cut_off, repair, repair_problem
from pddlego.pddl.tolerant.files import read_pair
from pddlego.planning.checked import checked_problem
from pddlego.planning.plan_text import plan_in, read_plan
from pddlego.util.answers import file_in, spoken
from tests.growth import is_linear
from tests.methods.textgames.situations import situation_with

pytestmark = pytest.mark.slow

CHARACTERS, SHORTER, ALIKE = 80_000, 16, 200
"""The length of the texts, how many times shorter the texts are that they are compared with, and the characters that
show what is repeated."""

SIGNS = (" ", "\n", "\t", '"', "'", "`", ";", "(", ")", "{", "[", "\\", "?", ":", "-", "1", "a", "```\n", "<think>")

DOMAIN = "(define (domain d) (:predicates (p ?x)) "
ACTION = "(:action a :parameters (?x) :precondition (p ?x) :effect "
PROBLEM = "(define (problem p) (:domain coin-collector) (:objects k - location) "
GOAL = " (:goal (have coin)))"

Texts = tuple[str, ...]


def filled(before: str, unit: str, after: str = "", characters: int = CHARACTERS) -> str:
    """A text of 80,000 characters: a run of the unit between two others."""
    room = characters - len(before) - len(after)
    return f"{before}{unit * (room // len(unit))}{after}"


def numbered(before: str, unit: str, after: str = "") -> str:
    """A text of at most 80,000 characters: the unit with a different number each time."""
    number = (CHARACTERS - len(before) - len(after)) // len(unit.format(99_999))
    return f"{before}{''.join(unit.format(item) for item in range(number))}{after}"


PDDL: Texts = (
    filled(f"{DOMAIN}", " ", ")"),
    filled(f"{DOMAIN}", " " * 999 + "x\n", ")"),
    filled(f"{DOMAIN}", "; "),
    filled(f"{DOMAIN}(:predicates ", "(p ?x - object) ", "))"),
    filled(f"{DOMAIN}(:predicates", "( \n", "))"),
    numbered(f"{DOMAIN}(:predicates ", "(something-holds-{} ?x) ", "))"),
    numbered(f"{DOMAIN}(:predicates ", "(holds-{0}) (holds-{0}) ", f") {ACTION} (p ?x)))"),
    numbered(f"{DOMAIN}(:types ", "t{} ", "))"),
    numbered(f"{DOMAIN}{ACTION} (and ", "(quite-new-{} ?x) ", ")))"),
    filled(f"{DOMAIN}{ACTION} (p ?x)) ", ":effect (p) ", ")"),
    filled(f"{DOMAIN}{ACTION} (p ?x)) ", "(:effect (p)) ", ")"),
    filled(f"{DOMAIN}{ACTION} (and ", "(:goal (p)) (p) ", ")))"),
    numbered(f"{DOMAIN}{ACTION} (when (and ", "(= ?x thing-{}) ", ") (p ?x))))"),
    filled(f"{DOMAIN})", "(p) "),
    filled(f"{DOMAIN}) :init ", "(p) :x "),
    filled("", "(define (domain "),
    filled("(define", " ", "(domain d))"),
    filled("(define (domain d)", "(" * 90 + ")" * 90),
    filled(f"{PROBLEM}(:init ", "(at k) ", f"){GOAL}"),
    numbered(f"{PROBLEM}(:init ", "(at kitchen-{}) ", f"){GOAL}"),
    numbered(f"{PROBLEM}(:init ", "(holds-{} k) ", f"){GOAL}"),
    filled(f"{PROBLEM}(:init) ", "(at k) ", GOAL),
    filled(f"{PROBLEM}(:init (at k))) ", "(at k) "),
    filled(f"{PROBLEM}(:init (at k)) (:goal ", "(at k) ", "))"),
    filled(f"{PROBLEM}(:init ", "(not (at k)) ", f"){GOAL}"),
    filled(f"{PROBLEM}(:objects ", "a - ", f") (:init){GOAL}"),
)
"""Texts that are bad for readers of PDDL files."""

JSON: Texts = (
    filled("", '{"a":'),
    filled("", '{"a" '),
    filled('{"init": {"add": ["', '\\"'),
    filled('{"init": {"add": ["', '\\"', "\\"),
    filled("{", '"'),
    filled('{"init": {"add": [', '"(at k)", ', '"(at k)"]}}'),
    filled('{"init": {"add": [', "[", ""),
    filled('{"init": {"add": ["', "(at k) ", '"]}}'),
    filled('{"objects": {"add": ["("], "delete": ["', "ab-cd ", '"]}}'),
    filled('{"objects": {"replace": {"', "a ", '": "b"}}}'),
    filled('{"init": {"add": ["(", "', "(not (at k)) ", '"]}}'),
    filled('{"init": ', '{"add": "(at k)"},', "{}}"),
    filled("", "{'a': 1}\n"),
    filled("", "{a: b}\n"),
    filled("", "{'"),
    filled("", "{// "),
    filled("", "{/* "),
    filled("{", "a", ": 1}"),
    filled("{'init': {'add': [", "'(at k)', ", "]}}"),
    filled("{'init': {'add': ['", '"', "']}}"),
    filled('{"init": {"add": [', "“(at\nk)”, ", "]}}"),
    filled("", "{a:"),
    filled("", "{}"),
    filled("", "{}\n"),
    filled("", '{"init":0}'),
    filled("", '{"init":}'),
    filled("{a: [", ", ", "]}"),
)
"""Texts that are bad for readers of JSON answers."""

CODE: Texts = (
    filled("```python\n", "```\n"),
    filled("", "``` \n"),
    filled("", "```" + "a" * 40),
    filled("def get_plan(", "def a("),
    filled("def successor(", "def a("),
    filled("def successor(", "def a(", "):\n    pass"),
    filled("def successor", "\ndef goal"),
    filled("def", "\n"),
    filled("", "async "),
    filled("```\n", "a: ", "\n```\n```\ndef is_goal(s):\n    return 1\n```"),
    filled("```\na", " ", "\n```\n```\ndef is_goal(s):\n    return 1\n```"),
    filled("```\n", "a=\n", "\n```\n```\ndef is_goal(s):\n    return 1\n```"),
)
"""Texts that are bad for what takes code out of an answer."""

LINES: Texts = (
    filled("", 'act("'),
    filled("", 'act("a")\n'),
    filled("", "a("),
    filled("", "<a "),
    filled("", '{"action":"a"}'),
    filled('{"action":', '{"action":'),
    filled("", '\\"'),
    filled("(a", " b"),
    filled("(a", " ", ")x"),
    filled("(", " ", "a"),
    filled("", "1"),
    filled("1.", "1", "("),
    filled("1", " ", "("),
    filled("(a) [", "1."),
    filled("move ", "?a "),
    filled("move ", "?a" + " " * 99),
    filled("move ", "'?a': 'b', "),
    filled("move(", "a, "),
    filled("", "(a "),
    filled("", "1. move a b\n"),
    filled("-", " ", "x"),
    filled("", "action "),
    filled("action", " ", "x"),
)
"""Texts that are bad for readers of plans, actions and commands."""

TAGS: Texts = (
    filled("", "<domain>"),
    filled("<domain>", "</problem>"),
    filled("<think>", "</think"),
    filled("", "</think>"),
    filled("<", "think"),
    filled("<commands>", "a: {?b\n"),
    filled("<commands>a: ", "{?a-"),
    filled("<goals>", "(and (p)) "),
    filled("", "(define (domain d) (define (problem p) "),
    filled("<domain>", "```pddl\n"),
)
"""Texts that are bad for what takes an answer apart."""


@dataclass(frozen=True)
class Reader:
    """A parser, with texts that are bad for it."""

    name: str
    read: Callable[[str], object]
    texts: Texts


COIN = load("coin")
PROMPTS = Prompts(COIN.asking.prompts)
LOOKED = (Exchange(None, "You are in the kitchen."),)
SITUATION = situation_with(
    COIN.asking.prompts, "task", COIN.start.domain, COIN.start.problem, LOOKED, LOOKED, ("move north", "look around")
)
BLANK = Knowledge(EMPTY_DOMAIN, Problem("game", "unwritten"))
WITHOUT_DOMAIN = replace(SITUATION, knowledge=BLANK)
IN_STEPS = replace(SITUATION, answers=("", f"{PROBLEM}(:init (at k)){GOAL}"))


def unless(error: type[Exception], read: Callable[[str], object]) -> Callable[[str], object]:
    """The parser, where the text may be refused."""

    def reading(text: str) -> object:
        with suppress(error):
            return read(text)
        return None

    return reading


def edited_domain(text: str) -> object:
    sections = ("types", "constants", "predicates", "rules", "actions")
    return [apply_domain_edit(COIN.start.domain, {name: SectionEdit((text,), (), ("x",))}).entries for name in sections]


BUILT = Draft().with_domain(parse_domain(f"{DOMAIN}{ACTION} (p ?x)))"))


def writer(text: str) -> ComponentWriter:
    return ComponentWriter("task", "A tower.", ScriptedModel((text,)), Budget(Limits(None)), retries=0)


def drained(events: Generator[Any, None, object]) -> object:
    with suppress(EpisodeOver):
        return list(events)
    return None


def component_reader(kind: str) -> Callable[[str], object]:
    """A builder asks for a component, and the answer is the text, or holds the text where the component holds PDDL."""
    action = "a" if kind in ACTION_COMPONENTS else ""
    draft = BUILT if kind in components_of(Level.CLASSICAL) else replace(BUILT, level=Level.TIME)

    def reading(text: str) -> object:
        return drained(writer(text).write(draft, Target(kind, action)))

    return reading


def components(kind: str) -> Iterator[str]:
    """Answers that are components of 80,000 characters."""
    name = {"name": "a"}
    unary = [{"name": f"p{number}"} for number in range(9_000)]
    p = {"name": "p", "parameters": [{"name": "?x"}]}
    x = {"name": "?x"}
    room = CHARACTERS - 300
    long = filled("(and ", "(p ?x) ", ")", room)
    values: dict[str, list[dict[str, Any]]] = {
        "types": [{"types": [{"name": f"t{number}", "parent": f"t{number + 1}"} for number in range(5_000)]}],
        "constants": [{"constants": [{"name": f"c{number}"} for number in range(9_000)]}],
        "predicates": [{"predicates": [p, *unary]}],
        "rules": [{"rules": [{"name": f"r{number}", "condition": "(p c)"} for number in range(4_000)]}],
        "action-list": [{"actions": unary}],
        "parameters": [{**name, "parameters": [x, *({"name": f"?x{number}"} for number in range(9_000))]}],
        "preconditions": [{**name, "precondition": long}, {**name, "precondition": "(p ?x)", "new_predicates": unary}],
        "effects": [{**name, "effect": long}, {**name, "effect": filled("(and ", "(q ?x) ", ")", room)}],
        "action": [{**name, "parameters": [x], "precondition": long, "effect": "(p ?x)"}],
        "timed-action": [
            {
                **name,
                "parameters": [x],
                "duration": "(= ?duration 1)",
                "condition": f"(over all {long})",
                "effect": "(p ?x)",
            },
            {**name, "duration": filled("(and ", "(>= ?duration 1) ", ")", room), "effect": "(at end (p ?x))"},
        ],
        "metric": [{"metric": f"minimize {filled('(+ ', '(f) ', ')', room)}"}, {"metric": filled("", "(- ", "", room)}],
        "objects": [{"objects": [{"name": f"o{number}"} for number in range(9_000)]}],
        "init": [
            {"facts": [f"(p o{number})" for number in range(12_000)]},
            {"facts": [filled("", "(not (p o)) ", "", room)]},
        ],
        "goal": [{"goal": filled("(and ", "(p o) ", ")", room)}, {"goal": filled("", "(not ", "", room)}],
    }
    yield from (json.dumps(value) for value in values.get(kind, []))
    yield from PDDL if kind in ("domain", "problem") else ()


def reviewed(text: str) -> object:
    return drained(ask_opinion(writer(text), BUILT, Diagnosis, ""))


def unused(text: str) -> object:
    """A domain whose predicates are many, and whose actions are long."""
    predicates = {f"p{number}": f"(p{number})" for number in range(5_000)}
    return Draft(sections={"predicates": predicates, "actions": {"a": text}}).without_unused()


READERS = (
    Reader("s-expressions", read_sexprs, PDDL),
    Reader("domain", read_domain, PDDL),
    Reader("strict domain", unless(PddlSyntaxError, parse_domain), PDDL),
    Reader("problem", read_problem, PDDL),
    Reader("check of domains", checked_domain, PDDL),
    Reader("check of problems", lambda text: checked_problem(COIN.start.domain, text), PDDL),
    Reader("check", lambda text: check(COIN.start.domain, text), PDDL),
    Reader("cut off", lambda text: is_cut_off(text, "problem"), PDDL),
    Reader("repair of domains", lambda text: repair(text, ""), PDDL),
    Reader("repair of problems", lambda text: repair_problem(COIN.start.domain.text, text), PDDL),
    Reader("pair", lambda text: read_pair(text, f"{PROBLEM}(:init (at k)){GOAL}"), PDDL),
    Reader("goals", read_goals, PDDL),
    Reader("unfinished answer", lambda text: problem_so_far(COIN.start.problem, text), (*PDDL, *JSON)),
    Reader("edit", unless(EditSyntaxError, lambda text: apply_edit(COIN.start.problem, parse_edit(text))), JSON),
    Reader("JSON object", unless(EditSyntaxError, lambda text: last_object(text, ("objects", "init"))), JSON),
    Reader("edit of domains", edited_domain, LINES),
    Reader("plan", unless(PddlSyntaxError, lambda text: read_plan(text, COIN.start.domain, COIN.start.problem)), LINES),
    Reader(
        "plan in an answer",
        unless(PddlSyntaxError, lambda text: plan_in(text, COIN.start.domain, COIN.start.problem)),
        LINES,
    ),
    Reader("action of a program", read_action, LINES),
    Reader("Graphplan", lambda text: named_actions(text, ["(move a b)"], COIN.start.domain, ["(at a)"]), LINES),
    Reader("spoken", spoken, TAGS),
    Reader("file", file_in, PDDL),
    Reader("parts of an answer", take_apart, TAGS),
    Reader("command in braces", in_braces, TAGS),
    Reader("program", program_of, CODE),
    Reader("program as in the paper", lambda text: program_of(text, paper=True), CODE),
    Reader("successors", lambda text: function_of(text, "successors"), CODE),
    Reader("goal", lambda text: function_of(text, "goal"), CODE),
    Reader("successors as in the paper", lambda text: code_as_the_paper(text, "successors"), CODE),
    Reader("mode edit", lambda text: PddlEdit(PROMPTS).read(text, SITUATION), JSON),
    Reader("mode edit, strict", lambda text: PddlEdit(PROMPTS, False).read(text, SITUATION), JSON),
    Reader("mode gen", lambda text: PddlGen(PROMPTS).read(text, SITUATION), PDDL),
    Reader("mode gen, strict", lambda text: PddlGen(PROMPTS, False).read(text, SITUATION), PDDL),
    Reader("mode act", lambda text: ActionGen(PROMPTS).read(text, SITUATION), LINES),
    Reader("mode act, unchecked", lambda text: ActionGen(PROMPTS, False).read(text, SITUATION), LINES),
    Reader(
        "mode full", lambda text: FullFormalizer(PROMPTS, BLANK, Terms()).read(text, WITHOUT_DOMAIN), (*PDDL, *TAGS)
    ),
    Reader("mode full-edit", lambda text: FullEditor(PROMPTS, BLANK, Terms()).read(text, SITUATION), (*JSON, *TAGS)),
    Reader("mode full+steps", lambda text: FullSteps(PROMPTS, BLANK, Terms()).read(text, IN_STEPS), (*PDDL, *TAGS)),
    Reader("review", reviewed, JSON),
    Reader("unused predicates", unused, PDDL),
    *(Reader(f"component {kind}", component_reader(kind), (*components(kind), *JSON[:5])) for kind in COMPONENTS),
)


def shortened(text: str) -> str:
    """The text with fewer repetitions of what stands in its middle again and again, apart from its numbers."""
    shape = re.sub(r"\d", "0", text)
    repeated = shape[len(text) // 2 :][:ALIKE]
    first = shape.index(repeated)
    last = shape.rindex(repeated, first, first + len(text) - len(text) // SHORTER + ALIKE)
    return text[:first] + text[last:]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_the_worst_answers_are_read_in_linear_time(reader: Reader) -> None:
    for text in (*(filled("", sign) for sign in SIGNS), *reader.texts):
        assert len(text) > CHARACTERS / 2
        short = shortened(text)
        factor = len(text) / len(short)
        assert factor > 2.5
        short_read, long_read = partial(reader.read, short), partial(reader.read, text)
        assert is_linear(short_read, long_read, factor), f"{text[:80]!r} … {text[-40:]!r}"
