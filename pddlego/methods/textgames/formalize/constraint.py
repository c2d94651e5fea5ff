"""What the plans of an episode must keep: the request that turns a sentence into PDDL 3, and the check of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, islice, product

from pddlego.episode.loop import Retry
from pddlego.errors import TooManyCasesError, UsageError
from pddlego.methods.textgames.formalize import PromptContext
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import ReaderRules
from pddlego.models import Message, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl import TRUE, Atom, Domain, Formula, Problem, TypedName, check
from pddlego.pddl.conditions import And, Trajectory, atoms_of
from pddlego.pddl.constraints import constraints_in, read_constraint
from pddlego.pddl.domain import outline
from pddlego.pddl.invariants import contradictions
from pddlego.pddl.rules import Defect, Level
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning.trajectories import contradict, instances
from pddlego.planning.world import World

CONSTRAINT = "constraint"
"""The purpose of the request, and the kind of what was accepted."""


def is_pddl(text: str) -> bool:
    """Whether a constraint is in PDDL. Other texts are sentences."""
    return text.startswith(("(", ";"))


def constraint_request(prompts: Prompts, sentence: str, reader: ReaderRules, start: Knowledge, retry: Retry) -> Request:
    """The request for a sentence in PDDL, with the predicates of the domain of `start`."""
    here = reader.map.here if reader.map else ""
    variables = {"outline": outline(start.domain, start.unused), "here": here, "sentence": sentence, "retry": retry}
    message = Message("user", prompts.render("textgames/constraint", **variables))
    return Request(CONSTRAINT, (message,), PromptContext(start, sentence, retry=retry, reader=reader), {})


def read_kept(text: str) -> tuple[Formula, tuple[Defect, ...]]:
    """The constraints in a text, and the defects of the text.

    Words outside of parentheses are ignored, because models explain what they write.
    """
    reading = read_sexprs(text)
    lists = [part for part in reading.expressions if isinstance(part, tuple)]
    inner = [part for one in lists for part in (one[1:] if one[:1] == (":constraints",) else (one,))]
    formula = And(tuple(map(read_constraint, inner))) if inner[1:] else read_constraint(inner[0]) if inner else TRUE
    return formula, tuple(reading.defects)


def kept_faults(text: str, start: Knowledge) -> tuple[str, ...]:
    """What is wrong with the constraints in a text. What they name need not be known yet."""
    (formula, defects), domain = read_kept(text), start.domain
    task = Problem("kept", domain.name, frozenset(named_in(domain, formula)), constraints=formula)
    defects = (*defects, *check(domain, task, Level.TIME))
    faults = tuple(defect.message for defect in defects if defect.blocking)
    if not faults and next(constraints_in(formula), None) is None:
        faults = ("there is no constraint in it; write one such as (always (not (…)))",)
    try:
        return faults or tuple(_faults(World(domain, task), formula, start))
    except TooManyCasesError:
        return ("it stands for too many constraints; write fewer, or over fewer things",)


def named_in(domain: Domain, formula: Formula) -> Iterator[TypedName]:
    """The things that a constraint names, apart from constants, each with the narrowest type that a predicate takes."""
    constants, types = {constant.name for constant in domain.constants}, dict[str, str]()
    for atom in atoms_of(formula):
        predicate = domain.predicates_by_name.get(atom.predicate)
        for name, parameter in zip(atom.args, predicate.parameters if predicate else (), strict=False):
            known = types.get(name, parameter.type)
            if name not in constants and not name.startswith("?"):
                types[name] = parameter.type if domain.is_a(parameter.type, known) else known
    yield from (TypedName(*typed) for typed in types.items())


_MOST = 40
"""The maximum number of constraints over objects in a text: a model may write thousands, and pairs are compared."""


def _faults(world: World, formula: Formula, start: Knowledge) -> Iterator[str]:
    every = tuple(islice(instances(world, formula), _MOST + 1))
    if len(every) > _MOST:
        yield f"it stands for more than {_MOST} constraints; write fewer, or over fewer things"
        return
    yield from (f"{own}: games have no clock; write it without a time" for own in every if own.times)
    nameless = (own for own in every if next(atoms_of(own), None) is None)
    yield from (f"{own} is about no fact; write one into it, such as (always (not (…)))" for own in nameless)
    invariants = [own for own in start.invariants if own.unless is None and own.both_ways is None]

    def is_possible(facts: frozenset[Atom]) -> bool:
        return not contradictions(Problem("kept", start.domain.name, facts=facts), invariants)

    for one, other in combinations_with_replacement(every, 2):
        if contradict(world, one, other, is_possible):
            what = f"{one}; leave it out" if one is other else f"both {one} and {other}; leave one of them out"
            yield f"no plan can keep {what}"
            return
    for own, rung in product(every, start.ladder[:1]):
        if contradict(world, own, Trajectory("at end", (rung.goal,)), is_possible):
            yield f"no plan can keep {own} and reach the goal {rung.goal}; leave it out"


def check_kept(text: str, start: Knowledge, what: str, known: str = "Correct the constraint.") -> None:
    """Raise `UsageError` if a text is no constraint that can be kept."""
    if faults := kept_faults(text, start):
        raise UsageError(what, f"{faults[0]}.", known)
