; Map Reader: fetch the coin from a room that the task names, put it into the box. The map tells which rooms are connected,
; but not in which direction: `follow_map` is a step whose command is not known yet, because its room was not seen.
(define (domain map-reader)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions)
  (:types location direction item)
  (:constants
    north south east west - direction
    coin - item)
  (:predicates
    (at ?l - location)
    (visited ?l - location)
    (connected ?from ?to - location ?d - direction)
    (closed_door ?from ?to - location)
    (on_map ?from ?to - location)
    (item_at ?i - item ?l - location)
    (box_at ?l - location)
    (have ?i - item)
    (in_box ?i - item)
    (map_read)
    (map_known))
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
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (closed_door ?from ?to))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action read_map
    :parameters ()
    :precondition (not (map_known))
    :effect (map_read))
  (:action follow_map
    :parameters (?from ?to - location)
    :precondition (and (at ?from) (or (on_map ?from ?to) (on_map ?to ?from)) (not (visited ?from)))
    :effect (and (not (at ?from)) (at ?to))))
