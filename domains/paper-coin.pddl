; Coin Collector as the PDDLEGO paper annotates it (its Figure 5): moving and opening doors. A door is opened from one room
; to another; in which direction that is stands in the problem. The coin is no part of it: it is taken when it is seen.
(define (domain environment)
  (:requirements :strips :typing :negative-preconditions)
  (:types location direction)
  (:predicates
    (at ?loc - location)
    (visited ?loc - location)
    (connected ?loc1 ?loc2 - location ?dir - direction)
    (closed_door ?loc1 ?loc2 - location))
  (:action move
    :parameters (?loc1 ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (connected ?loc1 ?loc2 ?dir) (not (closed_door ?loc1 ?loc2)))
    :effect (and (not (at ?loc1)) (at ?loc2)))
  (:action open_door
    :parameters (?loc1 ?loc2 - location)
    :precondition (and (at ?loc1) (closed_door ?loc1 ?loc2))
    :effect (not (closed_door ?loc1 ?loc2))))
