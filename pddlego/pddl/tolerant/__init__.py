"""Repairs PDDL files by models: slips with one possible meaning are repaired, and other defects are left to the check.

*Lexical* repairs concern characters and the text around a file, such as fences and prose. *Structural* repairs concern
the arrangement: misspelt or misplaced sections, `and` around facts, duplicates. *Declared by use* are missing
declarations of objects, types and predicates, if the uses of the name allow one declaration only. A defect that needs a
guess (a variable in a goal, a wrong number of arguments) stays: the check reports it. Files without an error stay as
they are, unless Fast Downward's translator refuses them; in other files, unrepaired parts keep their text.
"""

from pddlego.pddl.tolerant.files import Repair, Repaired, RepairKind, read_pair, repair, repair_problem
from pddlego.pddl.tolerant.lexical import is_cut_off

__all__ = [
    "Repair",
    "RepairKind",
    "Repaired",
    "is_cut_off",
    "read_pair",
    "repair",
    "repair_problem",
]
