"""Tables 2 and 4 of LLMs4Plan, for reports that print them beside our numbers. Table 1 is in the setting files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pddlego.methods.base import Published
from pddlego.methods.graphplan.options import NO_PRUNE, NO_SORT
from pddlego.runs.cells import NO_MODEL

_FULL, _UNSORTED, _UNPRUNED = "graphplan", f"graphplan-no-{NO_SORT}", f"graphplan-no-{NO_PRUNE}"
_ALONE = f"graphplan-no-{NO_PRUNE}-no-{NO_SORT}"

_NODES: Mapping[str, Sequence[int]] = {
    "gripper": (6_839, 11_294, 4_850_376, 8_486_698),
    "miconic": (11_891, 47_863, 445_145, 2_018_484),
    "logistics": (59, 85, 1_226, 1_261_250),
    "movie": (975_163, 1_211_830, 975_163, 10_869_160),
    "blocks": (4_572, 7_272, 83_129, 1_205_223),
    "satellite": (46_619, 94_811, 67_167_049, 88_779_785),
    "zenotravel": (1_548, 12_166, 839_527, 2_259_283),
    "driverlog": (574, 1_916, 58_311, 1_579_486),
    "woodworking": (49, 3_924, 48_553, 114_502),
    "openstacks": (107, 409, 13_577, 24_267),
}
"""Table 2, nodes of the depth-first search: LLMs4Plan, unsorted, unpruned, GP."""

_EXPANDED: Mapping[str, Sequence[int]] = {
    "gripper": (128, 157),
    "miconic": (176, 181),
    "logistics": (167, 294),
    "movie": (308, 401),
}
_MUTEXES: Mapping[str, Sequence[int]] = {
    "gripper": (1_179, 1_656),
    "miconic": (668, 792),
    "logistics": (161, 1_726),
    "movie": (7, 7),
}
"""Table 4: LLMs4Plan, GP."""


def printed_numbers(setting: str, options: Mapping[str, Any]) -> Mapping[str, Published]:
    """The paper's nodes, expanded actions and mutex pairs of a setting, by number.

    Nodes are those of a plain search, so they are left out for another `extraction`.
    """
    nodes = (_UNSORTED, _UNPRUNED), _NODES if options.get("extraction") == "plain" else {}
    tables = {"nodes": nodes, "expanded": ((), _EXPANDED), "mutexes": ((), _MUTEXES)}
    return {
        number: {
            "gpt-4": dict(zip((_FULL, *ablations), table[setting], strict=False)),
            NO_MODEL: {_ALONE: table[setting][-1]},
        }
        for number, (ablations, table) in tables.items()
        if setting in table
    }
