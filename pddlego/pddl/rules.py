"""The rules for PDDL files, each with a stable id, and the defects: violations of these rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TypeAlias


class Level(IntEnum):
    """The levels of PDDL 2.1 (Fox and Long 2003): what a caller of a check can handle."""

    CLASSICAL = 1
    NUMBERS = 2
    TIME = 3


class DefectKind(str, Enum):
    """The rule that a defect breaks. Its value is the name that journals and reports count by."""

    # errors: planning is impossible, or the file means something else
    SYNTAX = "syntax"
    MISSING_SECTION = "missing section"
    BAD_NAME = "bad name"
    RESERVED_WORD = "reserved word"
    UNDECLARED_TYPE = "undeclared type"
    TYPE_CYCLE = "type cycle"
    TWO_TYPES = "object with two types"
    DUPLICATE_ACTION = "duplicate action"
    DUPLICATE_PREDICATE = "duplicate predicate"
    DUPLICATE_PARAMETER = "duplicate parameter"
    PARAMETER_NAME = "parameter without question mark"
    UNDECLARED_PREDICATE = "undeclared predicate"
    UNDECLARED_FUNCTION = "undeclared function"
    UNDECLARED_OBJECT = "undeclared object"
    ARITY = "wrong number of arguments"
    ARGUMENT_TYPE = "wrong argument type"
    VARIABLE = "unbound variable"
    MISPLACED = "misplaced connective"
    DERIVED_EFFECT = "effect on derived predicate"
    RECURSIVE = "recursive rule"
    TWO_VALUES = "two values"
    NEGATED_INIT = "not in init"
    DERIVED_INIT = "derived predicate in init"
    ONLY_PLANNED = "only planned"
    NOT_SUPPORTED = "not supported"
    TOO_LARGE = "too large"
    IMPOSSIBLE_DURATION = "impossible duration"  # a warning where numbers of the problem make it impossible
    # warnings: probably a mistake, but planning is possible
    DUPLICATE_TYPE = "duplicate type"
    DUPLICATE_CONSTANT = "duplicate constant"
    DUPLICATE_OBJECT = "duplicate object"
    OBJECT_IS_CONSTANT = "object is a constant"
    UNDECLARED_SUPERTYPE = "undeclared supertype"
    UNTYPED = "untyped parameter"
    WIDER_TYPE = "wider argument type"
    SHADOWED_VARIABLE = "shadowed variable"
    EMPTY_EFFECT = "empty effect"
    CONTRADICTING_CONDITION = "contradicting condition"
    CONTRADICTING_EFFECT = "contradicting effect"
    CONTRADICTING_GOAL = "contradicting goal"
    NEVER_TRUE = "precondition never true"
    NEVER_APPLICABLE = "action never applicable"
    UNREACHABLE_GOAL = "unreachable goal"
    MISSING_COST = "missing cost"
    MISSING_NUMBER = "missing number"
    DIVISION_BY_ZERO = "division by zero"
    UNUSED_OBJECT = "unused object"
    MISSING_REQUIREMENT = "missing requirement"
    UNKNOWN_REQUIREMENT = "unknown requirement"
    UNUSED_REQUIREMENT = "unused requirement"
    NO_ACTIONS = "no actions"
    EMPTY_GOAL = "empty goal"
    GOAL_TRUE = "goal already true"
    BROKEN_INVARIANT = "broken invariant"
    DOMAIN_NAME = "other domain name"
    GLUED_VARIABLE = "glued variable"
    INVISIBLE = "invisible character"
    UNTIMED_METRIC = "untimed metric"
    IGNORED_METRIC = "ignored metric"
    # reported by readers and games, not by checks
    REPAIRED = "repaired"
    CONTRADICTION = "contradiction"
    LOST_FACT = "lost fact"
    ONE_WAY = "one way"

    @property
    def id(self) -> str:
        """The rule's id on the command line and in documents: `undeclared-predicate`."""
        return self.value.replace(" ", "-")


Position: TypeAlias = tuple[int, int]
"""A position in a text: line and column, both counted from 1."""


@dataclass(frozen=True)
class Defect:
    """A defect of a file. `subject` is the faulty atom or name; `blocking` defects make planning impossible.

    `place` is the position in the checked text; None for a missing part, and for a value that was not read from a text.
    `word` is the faulty word, if it is the first such word from `place` on (see `at_words`); of several words, the
    beginning of a list. `where` is the beginning of the message, if that names the place.
    """

    kind: DefectKind
    subject: str
    message: str
    blocking: bool = True
    place: Position | None = None
    word: str = field(default="", compare=False)
    where: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.message


class PddlSyntaxError(ValueError):
    """A text is not valid PDDL. `defects` are all defects of the text, `faults` their messages."""

    def __init__(self, defects: Iterable[Defect]) -> None:
        self.defects = tuple(defects)
        self.faults = tuple(defect.message for defect in self.defects)
        super().__init__("; ".join(self.faults))

    def __reduce__(self) -> tuple[type[PddlSyntaxError], tuple[tuple[Defect, ...]]]:
        return type(self), (self.defects,)


def syntax_defect(message: str, place: Position | None = None) -> Defect:
    """The defect of a text that breaks the grammar of PDDL."""
    return Defect(DefectKind.SYNTAX, message, message, place=place)


def not_supported(what: str, place: Position | None = None) -> Defect:
    """The defect of legal PDDL outside classical planning, such as time. `what` is the whole message."""
    return Defect(DefectKind.NOT_SUPPORTED, what, what, place=place)


def warning(kind: DefectKind, subject: str, message: str, place: Position | None = None) -> Defect:
    """The defect for a likely mistake that does not prevent planning."""
    return Defect(kind, subject, message, blocking=False, place=place)
