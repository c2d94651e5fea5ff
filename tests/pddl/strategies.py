"""What hypothesis draws: names, atoms, problems and edits over a small world, so that they meet each other often."""

from __future__ import annotations

from hypothesis import strategies as st

from pddlego.pddl import Atom, Domain, Edit, Formula, Problem, SectionEdit, TypedName
from pddlego.pddl.conditions import And, AtTime, Change, Compare, Equal, Exists, Forall, Imply, Not, Or, Term, When
from pddlego.pddl.domain import Action, DurativeAction, Function, Predicate, Rule
from pddlego.pddl.numbers import DURATION

ROOMS = ["kitchen", "pantry", "loc1", "loc10", "loc2", "living_room"]
names = st.sampled_from(ROOMS) | st.from_regex(r"[a-z][a-z0-9²_-]{0,6}", fullmatch=True).filter(
    lambda name: name not in ("and", "or", "not", "exists", "forall", "imply", "when")
)
types = st.sampled_from(["location", "item", "object"])
typed_names = st.builds(TypedName, names, types)
atoms = st.builds(Atom, st.sampled_from(["at", "visited", "connected", "closed_door"]), st.tuples(names, names))
variables = st.sampled_from(["?x", "?y", "?z1"])
variable_lists = st.lists(st.builds(TypedName, variables, types | st.just("(either location item)")), max_size=3).map(
    tuple
)
terms = st.recursive(
    st.builds(Term, st.sampled_from(["0", "2.5", "-1"])),
    lambda inner: st.builds(
        Term, st.sampled_from(["+", "*", "distance"]), st.lists(inner, min_size=1, max_size=2).map(tuple)
    ),
    max_leaves=3,
)
fluents = st.builds(Term, st.just("total-cost"), st.just(()))
literals = st.builds(
    Atom, st.sampled_from(["at", "connected", "have"]), st.lists(names | variables, max_size=3).map(tuple)
)


def _conditions(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(inner, max_size=3).map(tuple)
    return (
        st.builds(And, several)
        | st.builds(Or, several)
        | st.builds(Not, inner)
        | st.builds(Imply, inner, inner)
        | st.builds(Exists, variable_lists.filter(bool), inner)
        | st.builds(Forall, variable_lists.filter(bool), inner)
    )


def _effects(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return (
        st.builds(And, st.lists(inner, max_size=3).map(tuple))
        | st.builds(When, conditions, inner)
        | st.builds(Forall, variable_lists.filter(bool), inner)
    )


equalities = st.builds(Equal, names | variables, names | variables)
comparisons = st.builds(Compare, st.sampled_from(["=", "<", ">="]), fluents, terms)
conditions: st.SearchStrategy[Formula] = st.recursive(literals | equalities, _conditions, max_leaves=8)
effects = st.recursive(
    literals | st.builds(Not, literals) | st.builds(Change, st.sampled_from(["increase", "assign"]), fluents, terms),
    _effects,
    max_leaves=6,
)
_times = st.sampled_from(["start", "end"])
_timed_conditions = st.builds(AtTime, _times | st.just("all"), conditions | comparisons)
durative_actions = st.builds(
    DurativeAction,
    names,
    variable_lists,
    st.builds(And, st.lists(_timed_conditions, max_size=3).map(tuple)),
    st.builds(And, st.lists(st.builds(AtTime, _times, effects), max_size=3).map(tuple)),
    st.builds(Compare, st.sampled_from(["=", "<="]), st.just(DURATION), terms),
)
domains = st.builds(
    Domain,
    names,
    st.lists(st.sampled_from([":adl", ":typing"]), max_size=2).map(tuple),
    st.lists(typed_names, max_size=3).map(tuple),
    st.lists(typed_names, max_size=3).map(tuple),
    st.lists(st.builds(Predicate, names, variable_lists), max_size=3).map(tuple),
    st.lists(st.builds(Function, names, variable_lists), max_size=2).map(tuple),
    st.lists(st.builds(Action, names, variable_lists, conditions | comparisons, effects), max_size=2).map(tuple),
    st.lists(st.builds(Rule, st.builds(Predicate, names, variable_lists), conditions), max_size=2).map(tuple),
    st.lists(durative_actions, max_size=2).map(tuple),
)
problems = st.builds(
    Problem,
    names,
    names,
    st.dictionaries(names, types, max_size=6).map(lambda item: frozenset(TypedName(*pair) for pair in item.items())),
    st.frozensets(atoms, max_size=8),
    conditions,
)

object_lines = typed_names.map(str) | names
fact_lines = atoms.map(str)
junk = st.text(alphabet="()ab -?\n\x00é;", max_size=12)


def _section(lines: st.SearchStrategy[str]) -> st.SearchStrategy[SectionEdit]:
    return st.builds(
        SectionEdit,
        st.lists(lines, max_size=4).map(tuple),
        st.lists(st.tuples(lines, st.none() | lines), max_size=3).map(tuple),
        st.lists(lines, max_size=3).map(tuple),
    )


edits = st.builds(Edit, _section(object_lines), _section(fact_lines))
wild_edits = st.builds(Edit, _section(object_lines | junk), _section(fact_lines | junk))
