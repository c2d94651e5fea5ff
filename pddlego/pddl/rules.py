"""The rules that PDDL files are checked by, each with an id that stays: what a check names, counts and explains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class DefectKind(str, Enum):
    """The rule that a defect breaks. Its value is the name that journals and reports count by."""

    # texts, and what makes planning impossible
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
    UNDECLARED_OBJECT = "undeclared object"
    ARITY = "wrong number of arguments"
    ARGUMENT_TYPE = "wrong argument type"
    VARIABLE = "unbound variable"
    MISPLACED = "misplaced connective"
    DERIVED_EFFECT = "effect on derived predicate"
    RECURSIVE = "recursive rule"
    NEGATED_INIT = "not in init"
    DERIVED_INIT = "derived predicate in init"
    ONLY_PLANNED = "only planned"
    NOT_SUPPORTED = "not supported"
    TOO_LARGE = "too large"
    # remarks: planning is possible, and it is most likely a mistake
    DUPLICATE_TYPE = "duplicate type"
    DUPLICATE_CONSTANT = "duplicate constant"
    DUPLICATE_OBJECT = "duplicate object"
    OBJECT_IS_CONSTANT = "object is a constant"
    UNDECLARED_SUPERTYPE = "undeclared supertype"
    WIDER_TYPE = "wider argument type"
    SHADOWED_VARIABLE = "shadowed variable"
    EMPTY_EFFECT = "empty effect"
    CONTRADICTING_CONDITION = "contradicting condition"
    CONTRADICTING_EFFECT = "contradicting effect"
    NEVER_TRUE = "precondition never true"
    UNUSED_PREDICATE = "unused predicate"
    UNUSED_OBJECT = "unused object"
    MISSING_REQUIREMENT = "missing requirement"
    UNKNOWN_REQUIREMENT = "unknown requirement"
    NO_ACTIONS = "no actions"
    EMPTY_GOAL = "empty goal"
    GOAL_TRUE = "goal already true"
    BROKEN_INVARIANT = "broken invariant"
    DOMAIN_NAME = "other domain name"
    # what readers and games add
    REPAIRED = "repaired"
    CONTRADICTION = "contradiction"

    @property
    def id(self) -> str:
        """The rule's id on the command line and in documents: `undeclared-predicate`."""
        return self.value.replace(" ", "-")


@dataclass(frozen=True)
class Defect:
    """One defect: its kind, the atom or name it is about, and what to do. `blocking` ones make planning impossible."""

    kind: DefectKind
    subject: str
    message: str
    blocking: bool = True

    def __str__(self) -> str:
        return self.message


NUMBERS = "numbers and action costs are not supported; leave them out"
"""The end of the fault of a text with numeric fluents or a metric."""


def text_defect(fault: str) -> Defect:
    """The blocking defect of a text's fault: what PDDL allows and pddlego does not support is not a syntax error."""
    return Defect(DefectKind.NOT_SUPPORTED if fault.endswith(NUMBERS) else DefectKind.SYNTAX, fault, fault)


def remark(kind: DefectKind, subject: str, message: str) -> Defect:
    """What is most likely a mistake, and stops nothing."""
    return Defect(kind, subject, message, blocking=False)


DOMAIN_RULES: Mapping[DefectKind, str] = {
    DefectKind.SYNTAX: "the text is one (define (domain …) …) of known sections, each expression whole",
    DefectKind.BAD_NAME: "a name is a letter followed by letters, digits, - or _",
    DefectKind.RESERVED_WORD: "no type, predicate, action or constant is called as a word of PDDL",
    DefectKind.UNDECLARED_TYPE: "constants and parameters have types that are declared",
    DefectKind.TYPE_CYCLE: "no type is its own ancestor",
    DefectKind.TWO_TYPES: "a constant has one type",
    DefectKind.DUPLICATE_ACTION: "an action is defined once",
    DefectKind.DUPLICATE_PREDICATE: "a predicate is declared once",
    DefectKind.DUPLICATE_PARAMETER: "a parameter stands once in its list",
    DefectKind.PARAMETER_NAME: "a parameter begins with ?",
    DefectKind.UNDECLARED_PREDICATE: "conditions and effects use predicates that are declared",
    DefectKind.UNDECLARED_OBJECT: "conditions and effects name constants that are declared",
    DefectKind.ARITY: "a predicate takes as many arguments as it is declared with",
    DefectKind.ARGUMENT_TYPE: "an argument can be of the type that the predicate takes",
    DefectKind.VARIABLE: "a variable is a parameter, or bound by forall or exists around it",
    DefectKind.MISPLACED: "effects have no or, imply, exists or =; conditions have no when",
    DefectKind.DERIVED_EFFECT: "no action changes a predicate that follows by rule",
    DefectKind.RECURSIVE: "no derived predicate follows from itself, directly or through others",
    DefectKind.NOT_SUPPORTED: "it has no numeric functions",
    DefectKind.TOO_LARGE: "it has a size that can be planned with",
    DefectKind.DUPLICATE_TYPE: "a type is declared once",
    DefectKind.DUPLICATE_CONSTANT: "a constant is declared once",
    DefectKind.UNDECLARED_SUPERTYPE: "what stands behind the - of a type is no misspelt type",
    DefectKind.WIDER_TYPE: "a variable is of the type that the predicate takes, not of one above it",
    DefectKind.SHADOWED_VARIABLE: "forall and exists bind names that are not bound already",
    DefectKind.EMPTY_EFFECT: "an action changes something",
    DefectKind.CONTRADICTING_CONDITION: "no condition asks for a fact and for its negation",
    DefectKind.CONTRADICTING_EFFECT: "no effect makes the same fact true and false",
    DefectKind.MISSING_REQUIREMENT: "what the domain uses is among its requirements",
    DefectKind.UNKNOWN_REQUIREMENT: "requirements are those of PDDL",
    DefectKind.NO_ACTIONS: "a domain has an action",
}
"""What a domain must keep."""

PROBLEM_RULES: Mapping[DefectKind, str] = {
    DefectKind.SYNTAX: "the text is one (define (problem …) …) of known sections, the goal one condition",
    DefectKind.MISSING_SECTION: "objects, init and goal are there",
    DefectKind.BAD_NAME: "a name is a letter followed by letters, digits, - or _",
    DefectKind.UNDECLARED_TYPE: "objects have types that the domain declares",
    DefectKind.TWO_TYPES: "an object has one type",
    DefectKind.UNDECLARED_PREDICATE: "facts and goal use predicates of the domain",
    DefectKind.UNDECLARED_OBJECT: "facts and goal name objects of the problem or constants of the domain",
    DefectKind.ARITY: "a predicate takes as many arguments as it is declared with",
    DefectKind.ARGUMENT_TYPE: "an argument is of the type that the predicate takes",
    DefectKind.VARIABLE: "facts name objects; a variable of the goal is bound by forall or exists",
    DefectKind.NEGATED_INIT: "what is false is not listed",
    DefectKind.DERIVED_INIT: "what follows by rule is not listed",
    DefectKind.NOT_SUPPORTED: "it has no numbers and no metric",
    DefectKind.TOO_LARGE: "it has a size that can be planned with",
    DefectKind.DUPLICATE_OBJECT: "an object is declared once",
    DefectKind.OBJECT_IS_CONSTANT: "a constant of the domain is no object of the problem, too",
    DefectKind.UNUSED_OBJECT: "an object stands in a fact or in the goal",
    DefectKind.UNUSED_PREDICATE: "a predicate of the domain is used by an action, a rule, a fact or the goal",
    DefectKind.NEVER_TRUE: "what a precondition asks for is listed, or some action makes it true",
    DefectKind.EMPTY_GOAL: "the goal asks for something",
    DefectKind.GOAL_TRUE: "the goal is not true at the beginning",
    DefectKind.BROKEN_INVARIANT: "facts that every action keeps apart are not true together at the beginning",
    DefectKind.DOMAIN_NAME: "the problem names its domain",
}
"""What a problem of a domain must keep."""
