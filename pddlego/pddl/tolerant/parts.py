"""Splits a domain and a problem file into sections, and joins the sections again.

Each section keeps its place and, if its content does not change, its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pddlego.pddl.conditions import TypedName
from pddlego.pddl.domain import DECLARATIONS, FIELDS_OF
from pddlego.pddl.problem import PROBLEM_SECTIONS
from pddlego.pddl.sexpr import Sexpr
from pddlego.pddl.tolerant.layout import Section, same_or
from pddlego.pddl.tolerant.structure import STRAY, changed_list, joined_lists

_RANKS = {"domain": 0, ":derived": 2} | dict.fromkeys(FIELDS_OF, 2) | dict.fromkeys(DECLARATIONS, 1)
_PROBLEM_RANKS = {name: rank for rank, name in enumerate(PROBLEM_SECTIONS)}
"""The order in which planners read sections; sections of one rank may be in any order."""


@dataclass
class Slot:
    """A section as it was read, at its place in a file. `Parts` has the repaired content of some sections."""

    kind: str
    section: Section


@dataclass
class Parts:
    """Both files as sections, during their repair.

    `words` are the typed lists as they were read; `types`, `constants` and `objects` are their repaired contents.
    """

    name: str = "unnamed"
    problem_domain: str | None = None
    in_domain: list[Slot] = field(default_factory=list)
    in_problem: list[Slot] = field(default_factory=list)
    words: dict[str, Section] = field(default_factory=dict)
    requirements: list[str] = field(default_factory=list)
    types: list[TypedName] = field(default_factory=list)
    constants: list[TypedName] = field(default_factory=list)
    predicates: list[Sexpr] = field(default_factory=list)
    functions: Section = ()
    objects: list[TypedName] | None = None
    unread_objects: Section = ()
    init: Section | None = None

    def add_words(self, kind: str, words: Section) -> None:
        """Append a typed list to the lists of its kind as they were read."""
        self.words[kind] = joined_lists((self.words.get(kind, ()), words))

    def _of(self, slots: Sequence[Slot], *kinds: str) -> list[Slot]:
        return [slot for slot in slots if slot.kind in kinds]

    @property
    def actions(self) -> list[Section]:
        return [slot.section for slot in self._of(self.in_domain, *FIELDS_OF)]

    @actions.setter
    def actions(self, sections: Iterable[Section]) -> None:
        for slot, section in zip(self._of(self.in_domain, *FIELDS_OF), sections, strict=True):
            slot.section = section

    @property
    def goals(self) -> list[Section]:
        """The conditions of each goal."""
        return [slot.section[1:] for slot in self._of(self.in_problem, ":goal")]

    @goals.setter
    def goals(self, goals: Iterable[Section]) -> None:
        for slot, goal in zip(self._of(self.in_problem, ":goal"), goals, strict=True):
            slot.section = same_or(slot.section, (":goal", *goal))

    @property
    def goal(self) -> Section:
        """The conditions of all goals."""
        return tuple(part for goal in self.goals for part in goal)

    @property
    def derived_heads(self) -> Iterator[Section]:
        for slot in self._of(self.in_domain, ":derived"):
            if len(slot.section) > 1 and isinstance(slot.section[1], tuple) and slot.section[1]:
                yield slot.section[1]

    @property
    def declared_predicates(self) -> list[Section]:
        """The predicates that can be read."""
        return [predicate for predicate in self.predicates if isinstance(predicate, tuple) and predicate]

    @property
    def objects_and_constants(self) -> tuple[TypedName, ...]:
        return (*self.constants, *(self.objects or ()))

    def domain_sections(self) -> Section:
        contents: dict[str, Section] = {
            ":requirements": tuple(self.requirements),
            ":types": self._typed(":types", self.types),
            ":constants": self._typed(":constants", self.constants),
            ":predicates": tuple(self.predicates),
            ":functions": self.functions,
        }
        return _arranged(self.in_domain, contents, _RANKS)

    def problem_sections(self) -> Section:
        contents: dict[str, Section] = {}
        if self.problem_domain is not None:
            contents[":domain"] = (self.problem_domain,)
        if self.objects is not None:
            contents[":objects"] = (*self._typed(":objects", self.objects), *self.unread_objects)
        if self.init is not None:
            contents[":init"] = self.init
        return _arranged(self.in_problem, contents, _PROBLEM_RANKS)

    def _typed(self, kind: str, names: Sequence[TypedName]) -> Section:
        return changed_list(self.words.get(kind, ()), names)


def _arranged(slots: Sequence[Slot], contents: dict[str, Section], ranks: dict[str, int]) -> Section:
    """The sections in the order that planners demand. Each kind in `contents` occurs once."""
    waiting = dict(contents)
    placed: list[Slot] = []
    for slot in slots:
        if slot.kind not in contents:
            placed.append(slot)
        elif slot.kind in waiting:
            content = waiting.pop(slot.kind)
            if content or len(slot.section) == 1:
                placed.append(Slot(slot.kind, same_or(slot.section, (slot.kind, *content))))
    for kind, content in waiting.items():
        if content:
            before = {"domain", "problem", *[*contents][: [*contents].index(kind)]}
            last = max((number for number, slot in enumerate(placed) if slot.kind in before), default=-1)
            placed.insert(last + 1, Slot(kind, (kind, *content)))
    order = _ranks_of((slot.kind for slot in placed), ranks)
    ordered = (slot for _, slot in sorted(zip(order, placed, strict=True), key=lambda pair: pair[0]))
    return tuple(part for slot in ordered for part in (slot.section[1:] if slot.kind == STRAY else (slot.section,)))


def _ranks_of(kinds: Iterable[str], ranks: dict[str, int]) -> list[int]:
    """The rank of each section; an unknown section has the rank of the section before it."""
    order: list[int] = []
    for kind in kinds:
        order.append(ranks.get(kind, order[-1] if order else 0))
    return order


def is_in_order(kinds: Iterable[str], in_domain: bool) -> bool:
    """Whether the sections of a file are in an order that planners accept."""
    ranks = _ranks_of(kinds, _RANKS if in_domain else _PROBLEM_RANKS)
    return ranks == sorted(ranks)
