"""Commands of an invented game with the actions of a setting: examples for a setting that has none of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom
from pddlego.pddl.conditions import changed_atoms
from pddlego.planning import PlanStep

_ROOMS, _THINGS = ("attic", "wine_cellar"), ("lamp", "blue_vase", "rope")


@dataclass(frozen=True)
class Deed:
    """A command with the facts that it makes true and false. `to`: one of them is about the second room."""

    command: str
    add: tuple[Atom, ...]
    delete: tuple[Atom, ...]
    to: bool


def invented_deeds(knowledge: Knowledge, places: MapRule, hidden: Collection[str]) -> Iterator[Deed]:
    """The commands of the actions that do not move the agent, with their effects on invented things in `attic`.

    Facts of `hidden` predicates are left out.
    """
    domain = knowledge.domain
    for action in domain.actions:
        free = {kind: iter(names) for kind, names in (("", _THINGS), (places.room, _ROOMS))}
        binding = dict[str, str]()
        for parameter in action.parameters:
            constants = [
                one.name for one in domain.constants if one.type == parameter.type and one.name in places.directions
            ]
            kind = places.room if domain.is_a(parameter.type, places.room) else ""
            binding[parameter.name] = constants[-1] if constants else next(free[kind], "")
        changes = [
            (Atom(atom.predicate, tuple(binding.get(arg, arg) for arg in atom.args)), value)
            for atom, value in changed_atoms(action.effect)
            if atom.predicate not in hidden and all(binding.get(arg, arg)[:1] not in ("", "?") for arg in atom.args)
        ]
        add, delete = (tuple(atom for atom, is_true in changes if is_true == value) for value in (True, False))
        is_known = action.name in knowledge.actions and knowledge.actions[action.name].command
        if is_known and all(binding.values()) and changes and all(atom.predicate != places.here for atom in add):
            command = knowledge.command(PlanStep(action.name, tuple(binding.values())))
            yield Deed(command, add, delete[:1], any(_ROOMS[1] in atom.args for atom, _ in changes))
