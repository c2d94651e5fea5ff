; Map Reader: fetch the coin from a room that the task names, put it into the box. The map tells which rooms are connected,
; but not in which direction: `follow_map` is a step whose command is not known yet, because its room was not seen.
(define (domain map-reader)
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
    (on_map ?from ?to - location) ; the map says that they are connected; state it once
    (item_at ?i - item ?l - location) ; where the coin is
    (box_at ?l - location) ; where the box is
    (have ?i - item) ; it was taken, and is no longer item_at
    (in_box ?i - item) ; it was put into the box
    (map_read)
    (map_known)) ; the map was read
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (item_at ?i ?l))
    :effect (and (have ?i) (not (item_at ?i ?l))))
  (:action put_in_box
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (box_at ?l) (have ?i))
    :effect (and (in_box ?i) (not (have ?i))))
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (or (closed_door ?from ?to) (closed_door ?to ?from)))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action read_map
    :parameters ()
    :precondition (not (map_known))
    :effect (map_read))
  (:action follow_map
    :parameters (?from ?to - location)
    :precondition (and (at ?from) (or (on_map ?from ?to) (on_map ?to ?from)) (not (visited ?from)))
    :effect (and (not (at ?from)) (at ?to))))
