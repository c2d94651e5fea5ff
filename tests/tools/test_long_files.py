"""Files are checked in linear time, whatever they have many of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pddlego import tools
from tests.growth import is_linear

pytestmark = pytest.mark.slow


def many(text: str, number: int) -> str:
    """The text with a different number each time."""
    return " ".join(text.format(one) for one in range(number))


def domain(rest: str, predicates: str = "", types: str = "t - u u", constants: str = "") -> str:
    head = f"(define (domain d) (:requirements :adl) (:types {types}) (:constants {constants})"
    return f"{head} (:predicates (p) (q ?x) {predicates}) {rest})"


def problem(objects: str = "", init: str = "(p)", rest: str = "") -> str:
    return f"(define (problem x) (:domain d) (:objects {objects}) (:init {init}) (:goal (p)) {rest})"


ACTION = "(:action a :parameters ({}) :precondition {} :effect {})"

Files = Callable[[int], tuple[str, ...]]


def constants_and_actions(size: int) -> tuple[str, ...]:
    return (domain(many("(:action a{} :effect (p))", size), constants=many("c{}", 4 * size)),)


def functions_and_rules(size: int) -> tuple[str, ...]:
    functions = f"(:functions {many('(f{})', 4 * size)})"
    return (domain(functions + many("(:derived (r{}) (p))", size), many("(r{})", size)),)


def shadowed_variables(size: int) -> tuple[str, ...]:
    variables = many("?x{}", size)
    return (domain(ACTION.format(variables, "(p)", f"(forall ({variables}) (p))")),)


def wider_arguments(size: int) -> tuple[str, ...]:
    predicates = f"(wide {many('?x{} - t', size)})"
    return (domain(ACTION.format("?y - u", f"(wide {'?y ' * size})", "(p)"), predicates),)


def preferences_below_forall(size: int) -> tuple[str, ...]:
    preferences = many("(preference p{} (always (p)))", size)
    rest = f"(:constraints (forall ({many('?x{}', size)}) (and {preferences})))"
    return domain(ACTION.format("", "(p)", "(q a)"), constants="a"), problem(rest=rest)


def costs(size: int) -> tuple[str, ...]:
    effect = f"(and (p) {many('(increase (total-cost) {})', size)})"
    return domain("(:functions (total-cost))" + ACTION.format("", "(p)", effect)), problem()


def missing_types(size: int) -> tuple[str, ...]:
    return domain(""), problem(many("o{}", size) + " - -" * size)


def types_of_objects(size: int) -> tuple[str, ...]:
    chain = " ".join(f"t{number} - t{number + 1}" for number in range(size // 4))
    actions = many("(:action a{0} :parameters (?x - t{0}) :effect (q ?x))", size // 4)
    return domain(actions, types=chain), problem(f"{many('o{}', size)} - t{size // 4}")


def types_of_arguments(size: int) -> tuple[str, ...]:
    types = f"{many('t{}', size // 4)} - u"
    atoms = "(and (p) " + "(w ?x) " * size + ")"
    return (domain(ACTION.format("?x - u", atoms, "(p)"), "(w ?x - t1)", types),)


def either_of_many_types(size: int) -> tuple[str, ...]:
    objects = f"{many('o{}', size)} - u"
    return domain("", f"(w ?x - (either {'t ' * size} u))"), problem(objects, "(p)" + many("(w o{})", size))


def objects_of_many_types(size: int) -> tuple[str, ...]:
    return domain(""), problem(f"{many('o{}', size)} - (either {'t ' * size})")


def moves(size: int) -> tuple[str, ...]:
    action = "(:action a{0} :parameters (?x) :precondition (m{0} ?x) :effect (and (m{1} ?x) (not (m{0} ?x))))"
    actions = " ".join(action.format(number, (number + 1) % size) for number in range(size))
    return domain(actions, many("(m{} ?x)", size)), problem("a b", "(p)" + many("(m{0} a) (m{0} b)", size))


def repeated_conditions(size: int) -> tuple[str, ...]:
    return domain(ACTION.format("?x", "(and (p) " + "(q ?x) " * size + ")", "(p)")), problem("a", "(p) (q a)")


def parameters(size: int) -> tuple[str, ...]:
    condition = f"(and (p) {many('(q ?x{})', size)})"
    return domain(ACTION.format(many("?x{}", size), condition, "(p)")), problem("a", "(p) (q a)")


def sections_of_constraints(size: int) -> tuple[str, ...]:
    return domain("(:constraints (always (p)))" * size), problem()


FILES = [
    constants_and_actions,
    functions_and_rules,
    shadowed_variables,
    wider_arguments,
    preferences_below_forall,
    costs,
    missing_types,
    types_of_objects,
    types_of_arguments,
    either_of_many_types,
    objects_of_many_types,
    moves,
    repeated_conditions,
    parameters,
    sections_of_constraints,
]


@pytest.mark.parametrize("files", FILES, ids=lambda files: files.__name__.replace("_", "-"))
def test_long_files_are_checked_in_linear_time(files: Files) -> None:
    small, large = files(250), files(2_000)
    assert is_linear(lambda: tools.check(*small), lambda: tools.check(*large), 8)
