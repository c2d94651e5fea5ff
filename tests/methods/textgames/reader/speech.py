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
    text = [say_thing(thing) for thing in things]
    return text[0] if len(text) == 1 else f"{', '.join(text[:-1])}, and {text[-1]}"


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


def say_exit(item: Exit) -> str:
    direction = item.direction.title()
    if item.room is None:
        return f"To the {direction} you see a closed {item.door}. "
    if item.door is not None:
        return f"Through an open {item.door}, to the {direction} you see the {item.room}. "
    return f"To the {direction} you see the {item.room}. "


def say_room(room: Room, order: Sequence[Thing | Holder]) -> str:
    """`order` is the order in which the game names things and holders, which the value does not keep."""
    text = [say_holder(item) if isinstance(item, Holder) else say_thing(item) for item in order]
    sentences = "".join(f"{STARTS[number % 4]} {item}. " for number, item in enumerate(text))
    return f"You are in the {room.name}. {sentences}\n{''.join(map(say_exit, room.exits))}".strip()
