"""The reader's rules for the experiments of ScienceWorld: melting, growing, and conductivity."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.reader.laboratory import (
    UNDECIDED,
    Laboratory,
    Seen,
    atom_of,
    expected,
    facts_of,
    room_of_agent,
    with_facts,
    with_seen,
)
from pddlego.pddl import Atom, Edit, Problem, edit_between, to_name

HEATERS = ("stove", "blast furnace")
"""The devices that can melt a substance."""

VESSEL = "metal pot"
"""The vessel in which substances are heated."""

PATIENCE = 6
"""The number of waits for a heater before the agent tries another one."""

_MELT = re.compile(r"task is to melt ([\w -]+)\.")
_GROW = re.compile(r"grow an? ([\w -]+?) plant from seed")
_CONDUCTIVITY = re.compile(
    r"determine if ([\w -]+) is electrically conductive\..*?conductive, place it in the ([\w ]+ box)\."
    r".*?nonconductive, place it in the ([\w ]+ box)"
)


class ExperimentRules:
    """Reads the experiments of ScienceWorld. Stateless, because all knowledge is in the problem and the history."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that the new observations require."""
        before = after = situation.knowledge.problem
        for exchange in map(_resolved, situation.seen.news):
            after = with_seen(exchange, _dropped(exchange, expected(situation.task, exchange, after)))
            after = _experiment(situation.task, exchange, after)
        if _waits(situation.seen.history) >= PATIENCE:
            after = with_facts(after, *_too_weak(after))
        return edit_between(before, after)


def _resolved(exchange: Exchange) -> Exchange:
    """The exchange with a command that names only the things that it changes, and without remarks on connections.

    The answer to an ambiguous command is a number, and `focus on` may name the holder of the thing.
    """
    text = re.sub(r"^\(disconnecting [^)]*\)", "", exchange.text)
    command = re.sub(r"^(focus on .+) in .+", r"\1", exchange.command or "") or None
    exchange = replace(exchange, text=text, command=command)
    if command != "0":
        return exchange
    patterns = (
        (r"You move the (.+) to the inventory", "pick up {}"),
        (r"You move the (.+) to the ([^.]+)", "move {} to {}"),
        (r"You focus on the ([^.]+)", "focus on {}"),
    )
    for pattern, template in patterns:
        match = re.match(pattern, exchange.text)
        if match:
            return replace(exchange, command=template.format(*match.groups()))
    return exchange


def _dropped(exchange: Exchange, problem: Problem) -> Problem:
    """The problem with a dropped thing in the room instead of the inventory."""
    dropped = re.fullmatch(r"drop (.+)", exchange.command or "")
    if dropped is None or not exchange.text.startswith("You move the"):
        return problem
    here = atom_of("is_in", dropped[1], room_of_agent(problem))
    return with_facts(problem, here, without=frozenset({atom_of("held", dropped[1])}))


def _experiment(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the facts that the experiment requires, as far as they are known."""
    device = re.fullmatch(r"activate (.+)", exchange.command or "")
    if device and "is now activated" in exchange.text:
        problem = with_facts(problem, atom_of("active", device[1]))
    elif device and "appears broken" in exchange.text:
        problem = with_facts(problem, atom_of("useless", device[1]))
    room = Laboratory.read(exchange.text)
    if melt := _MELT.search(task):
        return _melting(melt[1], problem)
    if grow := _GROW.search(task):
        return _growing(f"{grow[1]} seed", room, exchange, problem)
    if conductivity := _CONDUCTIVITY.search(task):
        tested = _tested(conductivity, exchange, problem)
        return tested if room is None else _circuit(conductivity[1], room, tested)
    return problem


def _waits(history: Sequence[Exchange]) -> int:
    """The number of waits since the agent last activated a device."""
    count = 0
    for exchange in reversed(history):
        if (exchange.command or "").startswith("activate "):
            return count
        count += exchange.command == "wait"
    return 0


def _too_weak(problem: Problem) -> list[Atom]:
    """A fact `useless` for each heater that is on."""
    heaters = set(map(to_name, HEATERS))
    return [Atom("useless", fact.args) for fact in facts_of(problem, "active") if fact.args[0] in heaters]


def _melting(substance: str, problem: Problem) -> Problem:
    """The problem with the goals of melting: the substance in a vessel, and the vessel on or in a seen heater."""
    rooms = {fact.args[0]: fact.args[1] for fact in facts_of(problem, "is_in")}
    facts = [atom_of("sample", substance), atom_of("goes", substance, VESSEL)]
    for heater in HEATERS:
        if room := rooms.get(to_name(heater)):
            facts += [atom_of("goes", VESSEL, heater), atom_of("device", heater, room)]
    return with_facts(problem, *facts)


def _growing(seed: str, room: Laboratory | None, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the goals of growing: the seed in a pot with soil, watered from a jug filled at a tap."""
    done = frozenset(facts_of(problem, "poured")) if exchange.command == "wait" else frozenset[Atom]()
    facts = [atom_of("sample", seed), atom_of("digs", "shovel", "ground", "soil")]
    pot = None if room is None or facts_of(problem, "waters") else _pot(room.things)
    if room and pot:
        facts += [atom_of("goes", seed, pot.name), atom_of("waters", "jug", pot.name)]
        facts += [atom_of("goes", "jug", "sink"), atom_of("device", "sink", room.room)]
        facts += [] if "soil" in pot.contents else [atom_of("goes", "soil", pot.name)]
    return with_facts(problem, *facts, without=done)


def _pot(things: Sequence[Seen]) -> Seen | None:
    """A flower pot without a plant, with soil if possible; None without such a pot."""
    pots = [thing for thing in things if re.fullmatch(r"flower pot \d+", thing.name)]
    free = [pot for pot in pots if re.fullmatch(r"nothing|soil|a substance called soil", pot.contents)]
    return max(free, key=lambda pot: "soil" in pot.contents, default=None)


def _circuit(tested: str, room: Laboratory, problem: Problem) -> Problem:
    """The problem with the connections of a battery, a bulb and the tested thing by three wires, if all are seen."""
    names = [thing.name for thing in room.things]
    wires = [name for name in names if name.endswith(" wire") and name != tested]
    bulb = next((name for name in names if name.endswith(" light bulb")), None)
    facts = [atom_of("wanted", tested)]
    if not facts_of(problem, "in_circuit") and "battery" in names and bulb and len(wires) >= 3:
        pairs = (
            ("battery anode", f"{wires[0]} terminal 1"),
            ("battery cathode", f"{wires[1]} terminal 1"),
            (f"{wires[0]} terminal 2", f"{bulb} cathode"),
            (f"{wires[2]} terminal 2", f"{bulb} anode"),
            (f"{tested} terminal 1", f"{wires[1]} terminal 2"),
            (f"{tested} terminal 2", f"{wires[2]} terminal 1"),
        )
        facts += [atom_of("in_circuit", tested)]
        facts += [atom_of("to_join", first, second, room.room) for first, second in pairs]
        facts += [atom_of("loose", first) for first, _ in pairs]
    return with_facts(problem, *facts)


def _tested(asked: re.Match[str], exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the effect of a command in the circuit. The test ends when a bulb is on, or after a wait."""
    joined = re.match(r"connect (.+?) to ", exchange.command or "")
    if joined and "is now connected to" in exchange.text:
        problem = with_facts(problem, without=frozenset({atom_of("loose", joined[1])}))
    is_lit = re.search(r"light bulb, which is on", exchange.text) is not None
    if UNDECIDED not in problem.facts or not (is_lit or exchange.command == "wait1"):
        return problem
    return with_facts(problem, atom_of("belongs", asked[1], asked[2 if is_lit else 3]), without=frozenset({UNDECIDED}))
