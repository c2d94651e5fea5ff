"""The rules for PDDL files, each with a stable id, and the defects: violations of these rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple, TypeAlias


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
    UNDECLARED_PREFERENCE = "undeclared preference"
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
    IGNORED_KEY = "ignored key"
    CONTRADICTION = "contradiction"
    LOST_FACT = "lost fact"
    ONE_WAY = "one way"

    @property
    def id(self) -> str:
        """The rule's id on the command line and in documents: `undeclared-predicate`."""
        return self.value.replace(" ", "-")


Position: TypeAlias = tuple[int, int]
"""A position in a text: line and column, both counted from 1."""


class Where(NamedTuple):
    """The part of a file that has a defect: `action`, `go`, `effect`; of a section only the kind, such as `:init`."""

    kind: str
    name: str = ""
    part: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (f"{self.kind} {self.name}".rstrip(), self.part)))


class Reason(NamedTuple):
    """Why a part of a file is wrong, what to do about it, and what is meant; see `Defect`."""

    fault: str
    advice: str
    meant: str = ""


@dataclass(frozen=True)
class Defect:
    """A defect of a file. `subject` is the faulty atom or name; `blocking` defects make planning impossible.

    `fault` is what is wrong with `part`, an expression in `where`; both may be missing. `advice` is what to do about
    it; it is empty where `general_advice` of the kind is enough. `place` is the position in the checked text; None for
    a missing part, and for a value that was not read from a text. `word` is the faulty word, if it is the first such
    word from `place` on (see `at_words`); of several words, the beginning of a list. `meant` is the text that belongs
    in place of the word, or of the list at `place`, if that is known. `missing` is the declaration that the file lacks,
    such as `predicate at`: several uses need it only once.
    """

    kind: DefectKind
    subject: str
    fault: str
    advice: str
    place: Position | None
    blocking: bool = True
    where: Where | None = None
    part: str = ""
    word: str = field(default="", compare=False)
    meant: str = field(default="", compare=False)
    missing: str = field(default="", compare=False)

    @property
    def described(self) -> str:
        """What is wrong, and where."""
        return self._placed(self.fault)

    @property
    def message(self) -> str:
        """The defect in one line: what is wrong, what to do, where it is."""
        return self._placed(f"{self.fault}; {self.advice}" if self.advice else self.fault)

    def _placed(self, text: str) -> str:
        place = ": ".join(filter(None, (str(self.where or ""), self.part)))
        return f"{text}{'' if text.endswith(('?', '.')) else '.'} In {place}" if place else text

    def __str__(self) -> str:
        return self.message


_GENERAL_ADVICE = {
    DefectKind.SYNTAX: "write it as the documentation of PDDL says.",
    DefectKind.BAD_NAME: "rename it.",
    DefectKind.ARITY: "write these arguments, or change the declaration.",
    DefectKind.ARGUMENT_TYPE: "use a name of that type, or change the type of one of both.",
    DefectKind.DUPLICATE_OBJECT: "remove one of the two.",
    DefectKind.NOT_SUPPORTED: "write the file without it.",
    DefectKind.IGNORED_METRIC: "remove it, or minimize (total-cost).",
    DefectKind.TOO_LARGE: "make it smaller.",
}
"""Advice for defects that have none of their own, because the fault already says what is expected."""


def general_advice(kind: DefectKind) -> str:
    """The advice for a defect of a kind that has none of its own."""
    return _GENERAL_ADVICE.get(kind, "correct it.")


class PddlSyntaxError(ValueError):
    """A text is not valid PDDL. `defects` are all defects of the text, `faults` their messages."""

    def __init__(self, defects: Iterable[Defect]) -> None:
        self.defects = tuple(defects)
        self.faults = tuple(defect.message for defect in self.defects)
        super().__init__("; ".join(self.faults))

    def __reduce__(self) -> tuple[type[PddlSyntaxError], tuple[tuple[Defect, ...]]]:
        return type(self), (self.defects,)


def syntax_defect(fault: str, advice: str, place: Position | None, word: str = "", meant: str = "") -> Defect:
    """The defect of a text that breaks the grammar of PDDL."""
    return Defect(DefectKind.SYNTAX, fault, fault, advice, place, word=word, meant=meant)


def not_supported(what: str, advice: str, place: Position | None, word: str = "") -> Defect:
    """The defect of legal PDDL outside classical planning, such as time."""
    return Defect(DefectKind.NOT_SUPPORTED, what, what, advice, place, word=word)


def warning(kind: DefectKind, subject: str, fault: str, advice: str, place: Position | None) -> Defect:
    """The defect for a likely mistake that does not prevent planning."""
    return Defect(kind, subject, fault, advice, place, blocking=False)


def remark(kind: DefectKind, subject: str, what: str) -> Defect:
    """A harmless defect of an answer, which has no place in a file: `what` happened to it."""
    return warning(kind, subject, what, "", None)
