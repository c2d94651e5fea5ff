; TextWorld: explore, open doors and containers with their keys, take what the task names. Every action is one command.
(define (domain textworld)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions)
  (:types location direction item - object
    door container - lockable)
  (:constants north south east west - direction)
  (:predicates
    (at ?l - location) ; where the agent is: one room only
    (visited ?l - location) ; the agent is or was there; it stays so
    (connected ?from ?to - location ?d - direction) ; every exit leads back: state both ways
    (door ?n - door ?from ?to - location) ; the door between two rooms: state both ways
    (closed_door ?from ?to - location) ; state it once, for both ways; delete it when the door is open
    (closed ?c - container ?l - location) ; a container in this room that is not open
    (stuck ?c - container) ; the game says that it cannot be opened
    (opened ?c - container) ; only a plan makes it true
    (locked ?x - lockable) ; the game says that it must be unlocked
    (fits ?k - item ?x - lockable) ; the key that unlocks it
    (item_at ?i - item ?l - location) ; it is seen in the room, perhaps on or in something else there
    (wanted ?i - item) ; the task says to take it
    (have ?i - item)) ; it was taken, and is no longer item_at
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?n - door ?from ?to - location)
    :precondition (and (at ?from) (door ?n ?from ?to) (not (locked ?n)) (or (closed_door ?from ?to) (closed_door ?to ?from)))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action unlock_door
    :parameters (?n - door ?k - item ?from ?to - location)
    :precondition (and (at ?from) (door ?n ?from ?to) (locked ?n) (have ?k) (fits ?k ?n))
    :effect (not (locked ?n)))
  (:action open_container
    :parameters (?c - container ?l - location)
    :precondition (and (at ?l) (closed ?c ?l) (not (locked ?c)) (not (stuck ?c)))
    :effect (and (opened ?c) (not (closed ?c ?l))))
  (:action unlock_container
    :parameters (?c - container ?k - item ?l - location)
    :precondition (and (at ?l) (closed ?c ?l) (locked ?c) (have ?k) (fits ?k ?c))
    :effect (not (locked ?c)))
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (item_at ?i ?l) (or (wanted ?i) (exists (?x - lockable) (fits ?i ?x))))
    :effect (and (have ?i) (not (item_at ?i ?l)))))
