; Coin Collector: explore, open doors, take the coin. Every action is one command of the game.
(define (domain coin-collector)
  (:requirements :strips :typing :negative-preconditions)
  (:types location direction item)
  (:constants
    north south east west - direction
    coin - item)
  (:predicates
    (at ?l - location)
    (visited ?l - location)
    (connected ?from ?to - location ?d - direction)
    (closed_door ?from ?to - location)
    (item_at ?i - item ?l - location)
    (have ?i - item))
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (closed_door ?from ?to))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (item_at ?i ?l))
    :effect (and (have ?i) (not (item_at ?i ?l)))))
