"""A domain of walks, with a task."""

from __future__ import annotations

WALK = """(define (domain walk) (:requirements :strips :typing) (:types spot)
  (:predicates (at ?s - spot) (way ?a ?b - spot) (rested))
  (:action go :parameters (?a ?b - spot) :precondition (and (at ?a) (way ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action rest :parameters () :precondition () :effect (rested)))"""

WALK_TASK = """(define (problem w1) (:domain walk) (:objects x y z - spot)
  (:init (at x) (way x y) (way y z)) (:goal (and (at z) (rested))))"""
