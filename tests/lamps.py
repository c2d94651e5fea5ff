"""A small domain, a problem of it, and its plan."""

DOMAIN = """(define (domain lamps) (:requirements :strips :typing) (:types room)
  (:predicates (at ?r - room) (connected ?a - room ?b - room) (lit ?r - room))
  (:action move :parameters (?a - room ?b - room)
    :precondition (and (at ?a) (connected ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action switch-on :parameters (?r - room) :precondition (at ?r) :effect (lit ?r)))"""

PROBLEM = """(define (problem evening) (:domain lamps) (:objects hall kitchen - room)
  (:init (at hall) (connected hall kitchen) (connected kitchen hall)) (:goal (and (lit hall) (lit kitchen))))"""

PLAN = "(switch-on hall)\n(move hall kitchen)\n(switch-on kitchen)"
