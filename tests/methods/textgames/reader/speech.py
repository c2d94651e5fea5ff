"""Says what TextWorldExpress would say: the grammar the other way round, for round trips."""

from __future__ import annotations

from collections.abc import Sequence

from pddlego.methods.textgames.reader.text import Exit, Holder, Room, Thing

STARTS = (
    "In one part of the room you see",
    "There is also",
    "You also see",
    "In another part of the room you see",
)


def say_thing(thing: Thing) -> str:
    return " ".join((thing.article, *thing.adjectives, thing.name))


def say_things(things: Sequence[Thing]) -> str:
    said = [say_thing(each) for each in things]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


def say_holder(holder: Holder) -> str:
    """Boxes stand open and are not said to be so; every open container that holds something begins with a capital."""
    name, things = holder.name, holder.contents
    kind = name if name == "box" else f"open {name}"
    if holder.closed:
        return f"a {name} that is closed"
    if holder.surface:
        return f"a {name} that has {say_things(things)} on it" if things else f"a {name}, that has nothing on it"
    if things:
        return f"{'A' if name == 'box' else 'An'} {kind}, that contains {say_things(things)}"
    return f"{'a' if name == 'box' else 'an'} {kind}, that is empty"


def say_exit(each: Exit) -> str:
    direction = each.direction.title()
    if each.room is None:
        return f"To the {direction} you see a closed {each.door}. "
    if each.door is not None:
        return f"Through an open {each.door}, to the {direction} you see the {each.room}. "
    return f"To the {direction} you see the {each.room}. "


def say_room(room: Room, order: Sequence[Thing | Holder]) -> str:
    """`order` is the order in which the game names things and holders, which the value does not keep."""
    said = [say_holder(each) if isinstance(each, Holder) else say_thing(each) for each in order]
    sentences = "".join(f"{STARTS[number % 4]} {each}. " for number, each in enumerate(said))
    return f"You are in the {room.name}. {sentences}\n{''.join(map(say_exit, room.exits))}".strip()
