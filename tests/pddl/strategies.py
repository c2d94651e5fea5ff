"""What hypothesis draws: names, atoms, problems and edits over a small world, so that they meet each other often."""

from __future__ import annotations

from hypothesis import strategies as st

from pddlego.pddl import Atom, Edit, Problem, SectionEdit, TypedName

ROOMS = ["kitchen", "pantry", "loc1", "loc10", "loc2", "living_room"]
names = st.sampled_from(ROOMS) | st.from_regex(r"[a-z][a-z0-9²_-]{0,6}", fullmatch=True).filter(
    lambda name: name not in ("and", "or", "not", "exists", "forall", "imply", "when")
)
types = st.sampled_from(["location", "item", "object"])
typed_names = st.builds(TypedName, names, types)
atoms = st.builds(Atom, st.sampled_from(["at", "visited", "connected", "closed_door"]), st.tuples(names, names))
problems = st.builds(
    Problem,
    names,
    names,
    st.dictionaries(names, types, max_size=6).map(lambda each: frozenset(TypedName(*pair) for pair in each.items())),
    st.frozensets(atoms, max_size=8),
    st.just(("exists", ("?x", "-", "location"), ("and", ("at", "?x"), ("not", ("visited", "?x"))))),
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
