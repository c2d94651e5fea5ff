"""A numeric task: a truck that must refuel on its way, and a folder of such tasks."""

from __future__ import annotations

from pathlib import Path

DOMAIN = """(define (domain fuel)
  (:requirements :strips :typing :numeric-fluents)
  (:types place truck)
  (:predicates (at ?t - truck ?p - place) (road ?a ?b - place) (station ?p - place))
  (:functions (fuel ?t - truck) (capacity ?t - truck) (distance ?a ?b - place))
  (:action drive :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b) (>= (fuel ?t) (distance ?a ?b)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (decrease (fuel ?t) (distance ?a ?b))))
  (:action refuel :parameters (?t - truck ?p - place)
    :precondition (and (at ?t ?p) (station ?p) (< (fuel ?t) (capacity ?t)))
    :effect (assign (fuel ?t) (capacity ?t))))
"""

PROBLEM = """(define (problem tour) (:domain fuel)
  (:objects t1 - truck p1 p2 p3 - place)
  (:init (at t1 p1) (road p1 p2) (road p2 p3) (station p2)
    (= (fuel t1) 8) (= (capacity t1) 10) (= (distance p1 p2) 5) (= (distance p2 p3) 4.5))
  (:goal (and (at t1 p3) (>= (fuel t1) 5.5))))
"""

PLAN = ("(drive t1 p1 p2)", "(refuel t1 p2)", "(drive t1 p2 p3)")


def tasks(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> str:
    """Write the task as a user's own tasks, for training and for evaluation, and return the path of the folder."""
    for split in ("train", "eval"):
        (folder / split / "seed0").mkdir(parents=True)
        (folder / split / "seed0" / "tour.pddl").write_text(problem, encoding="utf-8")
    (folder / "domain.pddl").write_text(domain, encoding="utf-8")
    return str(folder)


def setting(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> str:
    """Write the setting `trucks` of these tasks below a working directory, and return its name."""
    place = tasks(folder / "trucks", domain, problem)
    (folder / "envs").mkdir()
    (folder / "envs" / "trucks.toml").write_text(f'kind = "planning"\ntasks = {place!r}\n', encoding="utf-8")
    return "trucks"


PROGRAM = """def get_plan(objects, init, goal, numbers):
    (truck,) = (name for name, kind in objects if kind == "truck")
    roads = {fact[1]: fact[2] for fact in init if fact[0] == "road"}
    place = next(fact[2] for fact in init if fact[0] == "at")
    target = next(fact[2] for fact in goal if fact[0] == "at")
    least = next(part[2] for part in goal if part[0] == ">=")
    fuel, plan = numbers["fuel", truck], []
    while place != target:
        need = numbers["distance", place, roads[place]]
        if fuel - need < (least if roads[place] == target else 0):
            plan.append(f"(refuel {truck} {place})")
            fuel = numbers["capacity", truck]
        plan.append(f"(drive {truck} {place} {roads[place]})")
        fuel, place = fuel - need, roads[place]
    return plan
"""
"""A program that solves the tasks with one truck and one way."""
