"""A domain and a problem file taken apart into their sections, and written again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pddlego.pddl.problem import TypedName
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.structure import Section


@dataclass
class Parts:
    """Both files as sections, while they are repaired. `goals` are the goals of the problem, of which there is one.

    `others` and `problem_others` are sections that nobody knows: they stay, so that the check can say so.
    """

    name: str = "unnamed"
    problem_name: str = "unnamed"
    asked_domain: str | None = None
    requirements: list[str] = field(default_factory=list)
    types: list[TypedName] = field(default_factory=list)
    constants: list[TypedName] = field(default_factory=list)
    predicates: list[Section] = field(default_factory=list)
    actions: list[Section] = field(default_factory=list)
    others: list[Section] = field(default_factory=list)
    problem_others: list[Section] = field(default_factory=list)
    objects: list[TypedName] | None = None
    unread_objects: Section = ()
    init: Section | None = None
    goals: list[Section] = field(default_factory=list)

    @property
    def goal(self) -> Section:
        """The conditions of all goals."""
        return tuple(each for goal in self.goals for each in goal)

    @property
    def objects_and_constants(self) -> tuple[TypedName, ...]:
        return (*self.constants, *(self.objects or ()))

    def domain_text(self) -> str:
        """The domain file."""
        parts: list[Section] = [("domain", self.name)]
        lists: list[tuple[str, Iterable[Sexpr]]] = [
            (":requirements", self.requirements),
            (":types", untyped(self.types)),
            (":constants", untyped(self.constants)),
            (":predicates", self.predicates),
        ]
        parts += [(name, *items) for name, items in lists if tuple(items)]
        return _written([*parts, *self.others, *self.actions])

    def problem_text(self) -> str:
        """The problem file."""
        parts: list[Section] = [("problem", self.problem_name), (":domain", self.asked_domain or self.name)]
        if self.objects is not None:
            parts.append((":objects", *untyped(self.objects), *self.unread_objects))
        if self.init is not None:
            parts.append((":init", *self.init))
        parts += self.problem_others
        parts += [(":goal", *goal) for goal in self.goals]
        return _written(parts)


def untyped(names: Iterable[TypedName]) -> Section:
    """Typed names as a list again."""
    return tuple(word for each in names for word in (each.name, "-", each.type))


def _written(parts: Iterable[Section]) -> str:
    return "(define\n" + "\n".join(f"  {show(each)}" for each in parts) + "\n)"
