"""Reads what models write: repairs what has one possible meaning, and leaves the rest to the check.

Every repair is one of three kinds. *Lexical* and *structural* ones concern how a thing is written: fences and prose
around a file, misspelt or misplaced sections, `and` around facts, duplicates. *Declared by use* is an object, a type or
a predicate that only its use declares, where that leaves one possibility. What would need a guess (a variable in a
goal, a wrong number of arguments) is not touched: the check reports it. Files without an error come out as they were,
unless Fast Downward's translator refuses them; in others, what is not repaired keeps its text.
"""

from pddlego.pddl.tolerant.files import Repaired, RepairKind, read_pair, repair, repair_problem
from pddlego.pddl.tolerant.lexical import MISSING, is_cut_off

__all__ = [
    "MISSING",
    "RepairKind",
    "Repaired",
    "is_cut_off",
    "read_pair",
    "repair",
    "repair_problem",
]
