"""Sentences in `benchmarks/sentences`: the facts are those of the built-in reader, and no example has their names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reading.engine import read_news
from pddlego.methods.textgames.reading.template import sentences
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom, Domain, parse_domain
from pddlego.pddl.names import is_name
from tests.shared import SHARED

ROOT = Path(__file__).parents[2]
SENTENCES = ROOT / "benchmarks" / "sentences"
GAMES = {"coin": "coin", "mapreader": "mapreader", "cooking": "cooking-hard", "twc": "twc"}
"""The files whose games have a reader, each with a setting."""

FILES = sorted(path.stem for path in SENTENCES.glob("*.txt"))
EXAMPLES = sorted((ROOT / "prompts").glob("*/facts-example.j2"))
SUBMARINE = "cases/turn6/played/engine/domains/submarine.pddl"
HIDDEN = "loc2"
"""The room behind the door that the command opens; `loc3` is the next unknown room."""

_FRAME = """
a also an and another are bring can empty find has have here in is it of on pick see some take task that the there this
through to up with you your block box closed coin contains cookbook door east knife loc3 map north nothing open
put raw read revealing room south west
"""
"""Words that sentences and examples may have in common: those of the frames, and names that cannot be avoided."""


@dataclass(frozen=True)
class Row:
    """A line of a file: the facts that a sentence makes true and false, in the agent's room after a command."""

    room: str
    command: str
    sentence: str
    true: tuple[Atom, ...]
    false: tuple[Atom, ...]


def atoms(text: str) -> tuple[Atom, ...]:
    assert not re.sub(r"\([a-z_]+( [\w-]+)*\)", "", text).strip(), text
    words = [fact.split() for fact in re.findall(r"\((.*?)\)", text)]
    return tuple(Atom(predicate, tuple(args)) for predicate, *args in words)


def read_rows(path: Path) -> list[Row]:
    text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"))
    parts = [[*map(str.strip, line.split("|")), ""][:5] for line in text.splitlines() if "|" in line and line[0] != "#"]
    return [Row(room, command, sentence, atoms(true), atoms(false)) for room, command, sentence, true, false in parts]


@cache
def setting(name: str) -> GameSetting:
    return load(GAMES[name])


def by_reader(game: GameSetting, row: Row, before: frozenset[Atom]) -> tuple[frozenset[Atom], bool]:
    """The facts after the sentence as the reader reads it, and whether it has a rule for it."""
    news = (Exchange(row.command or None, row.sentence),)
    knowledge = game.start.with_problem(replace(game.start.problem, facts=before))
    found = read_news(PromptContext(knowledge, "", Observations(news, news), placeholder="loc3", reader=game.reader))
    return found.problem.facts, not found.unread


def before(row: Row) -> frozenset[Atom]:
    """The facts before a sentence: the agent's room, those that become false, and an exit to what a door hides."""
    known = {Atom("at", (row.room,)), Atom("visited", (row.room,))} if row.room else set[Atom]()
    for fact in row.false:
        if fact.predicate == "closed_door":
            there = Atom("connected", (row.room, HIDDEN, next(one.args[2] for one in row.true)))
            known |= {there, back(there), Atom("closed_door", (row.room, HIDDEN))}
        else:
            known.add(fact)
    return frozenset(known)


def back(exit_: Atom) -> Atom:
    start, end, direction = exit_.args
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}
    return Atom("connected", (end, start, opposite[direction]))


def completed(row: Row, known: frozenset[Atom]) -> frozenset[Atom]:
    """The facts after a sentence by its row, with what the machine knows: ways back, rooms visited, one place."""
    facts = {fact for fact in known if HIDDEN not in fact.args} | {*row.true}
    for fact in row.true:
        if fact.predicate == "connected":
            facts.add(back(fact))
        elif fact.predicate == "at":
            facts = {one for one in facts if one.predicate != "at" or one == fact} | {Atom("visited", fact.args)}
    return frozenset(facts - {*row.false})


def comparable(facts: frozenset[Atom]) -> set[tuple[str, ...]]:
    """The facts with doors in one order of their rooms."""
    return {(one.predicate, *(sorted(one.args) if one.predicate == "closed_door" else one.args)) for one in facts}


@pytest.mark.parametrize("name", GAMES)
def test_the_facts_are_those_of_the_reader(name: str) -> None:
    for row in read_rows(SENTENCES / f"{name}.txt"):
        known = before(row)
        facts, is_read = by_reader(setting(name), row, known)
        assert comparable(facts) == comparable(completed(row, known)), row
        assert is_read or not (row.true or row.false), row


def check_against(domain: Domain, row: Row) -> None:
    """The row is one sentence, and its facts fit the domain."""
    assert tuple(sentences(row.sentence)) == (row.sentence,)
    assert row.room == "" or is_name(row.room)
    for fact in (*row.true, *row.false):
        assert len(domain.predicates_by_name[fact.predicate].parameters) == len(fact.args), row
        assert all(map(is_name, fact.args)), row


@pytest.mark.parametrize("name", GAMES)
def test_the_facts_are_of_the_domain(name: str) -> None:
    for path in (SENTENCES / f"{name}.txt", ROOT / "prompts" / name / "facts-example.j2"):
        for row in read_rows(path):
            check_against(setting(name).start.domain, row)


@pytest.mark.shared(SUBMARINE)
def test_the_facts_of_the_submarine_are_of_its_domain() -> None:
    domain = parse_domain((SHARED / SUBMARINE).read_text(encoding="utf-8"))
    bearings = {constant.name for constant in domain.constants if constant.type == "bearing"}
    for row in read_rows(SENTENCES / "submarine.txt"):
        check_against(domain, row)
        assert all(fact.args[2] in bearings for fact in row.true if fact.predicate == "leads"), row


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_predicates_before_the_examples_are_those_of_their_facts(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("(")]
    heads = {line[1 : line.index(")")].split()[0]: len(line[: line.index(")")].split()) - 1 for line in lines}
    used = {fact.predicate: len(fact.args) for row in read_rows(path) for fact in (*row.true, *row.false)}
    assert used.items() <= heads.items()


def words(rows: list[Row]) -> set[str]:
    """The words of names and sentences that are not those of the frames of sentences."""
    found = set[str]()
    for row in rows:
        names = " ".join((row.room, *(arg for fact in (*row.true, *row.false) for arg in fact.args))).replace("_", " ")
        found |= {*re.findall(r"[\w'-]+", f"{row.command} {row.sentence} {names}".lower())}
    return found - {*_FRAME.split()}


def test_no_example_has_a_name_of_a_sentence() -> None:
    examples = {word for path in EXAMPLES for word in words(read_rows(path))}
    for name in FILES:
        assert not sorted(words(read_rows(SENTENCES / f"{name}.txt")) & examples), name
    asked = [row.sentence for name in FILES for row in read_rows(SENTENCES / f"{name}.txt")]
    assert len(asked) in range(60, 81)
