"""PDDL domains and problems as values: parse, print, edit, check, diff."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pddlego.pddl.check import check
from pddlego.pddl.conditions import (
    TRUE,
    And,
    Atom,
    AtTime,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Term,
    TypedName,
    When,
    conjuncts,
    parse_condition,
)
from pddlego.pddl.domain import Action, Domain, DurativeAction, Function, Predicate, Rule, parse_domain
from pddlego.pddl.names import from_name, same_name, to_name
from pddlego.pddl.problem import Later, Metric, Problem, parse_problem
from pddlego.pddl.rules import Defect, DefectKind, PddlSyntaxError, Position

if TYPE_CHECKING:
    from pddlego.pddl.edit import (
        EDIT_SCHEMA,
        Diff,
        Edit,
        EditReport,
        Entry,
        EntryKind,
        SectionEdit,
        apply_edit,
        diff,
        edit_between,
        parse_edit,
    )
    from pddlego.pddl.nearly_json import EditSyntaxError

__all__ = [
    "EDIT_SCHEMA",
    "TRUE",
    "Action",
    "And",
    "AtTime",
    "Atom",
    "Change",
    "Compare",
    "Defect",
    "DefectKind",
    "Diff",
    "Domain",
    "DurativeAction",
    "Edit",
    "EditReport",
    "EditSyntaxError",
    "Entry",
    "EntryKind",
    "Equal",
    "Exists",
    "Forall",
    "Formula",
    "Function",
    "Imply",
    "Later",
    "Metric",
    "Not",
    "Or",
    "PddlSyntaxError",
    "Position",
    "Predicate",
    "Problem",
    "Renaming",
    "Rule",
    "SectionEdit",
    "Term",
    "TypedName",
    "When",
    "apply_edit",
    "check",
    "conjuncts",
    "diff",
    "edit_between",
    "from_name",
    "parse_condition",
    "parse_domain",
    "parse_edit",
    "parse_problem",
    "same_name",
    "to_name",
]


if not TYPE_CHECKING:  # edits need pydantic, and neither `check` nor a planning process has edits

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'pddlego.pddl' has no attribute {name!r}")
        place = "nearly_json" if name == "EditSyntaxError" else "edit"
        return globals().setdefault(name, getattr(import_module(f"pddlego.pddl.{place}"), name))
