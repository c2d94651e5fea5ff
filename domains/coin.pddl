; Coin Collector: explore, open doors, take the coin. Every action is one command of the game.
(define (domain coin-collector)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions)
  (:types location direction item)
  (:constants
    north south east west - direction
    coin - item)
  (:predicates
    (at ?l - location) ; where the agent is: one room only
    (visited ?l - location) ; the agent is or was there; it stays so
    (connected ?from ?to - location ?d - direction) ; every exit leads back: state both ways
    (closed_door ?from ?to - location) ; state it once, for both ways; delete it when the door is open
    (item_at ?i - item ?l - location) ; a coin that is seen
    (have ?i - item)) ; it was taken, and is no longer item_at
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (or (closed_door ?from ?to) (closed_door ?to ?from)))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (item_at ?i ?l))
    :effect (and (have ?i) (not (item_at ?i ?l)))))
