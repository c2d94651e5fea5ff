"""The problem as a value: parse, print, edit, check, diff. Imports nothing of the rest of the package."""

from pddlego.pddl.check import check
from pddlego.pddl.diff import Diff, diff, edit_between
from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.edit import (
    EDIT_SCHEMA,
    Edit,
    EditReport,
    EditSyntaxError,
    Entry,
    EntryKind,
    SectionEdit,
    apply_edit,
    parse_edit,
)
from pddlego.pddl.names import from_name, same_name, to_name
from pddlego.pddl.problem import Atom, Problem, TypedName, parse_problem
from pddlego.pddl.rules import Defect, DefectKind
from pddlego.pddl.sexpr import PddlSyntaxError, Sexpr

__all__ = [
    "EDIT_SCHEMA",
    "Atom",
    "Defect",
    "DefectKind",
    "Diff",
    "Domain",
    "Edit",
    "EditReport",
    "EditSyntaxError",
    "Entry",
    "EntryKind",
    "PddlSyntaxError",
    "Problem",
    "SectionEdit",
    "Sexpr",
    "TypedName",
    "apply_edit",
    "check",
    "diff",
    "edit_between",
    "from_name",
    "parse_domain",
    "parse_edit",
    "parse_problem",
    "same_name",
    "to_name",
]
