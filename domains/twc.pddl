; TextWorld Commonsense: put things where they belong. Where that is, the model says with `belongs`; a place that turned
; out to be wrong is `tried` and not used again.
(define (domain text-world-commonsense)
  (:requirements :adl)
  (:types location direction item holder)
  (:constants north south east west - direction)
  (:predicates
    (at ?l - location)
    (visited ?l - location)
    (connected ?from ?to - location ?d - direction)
    (closed_door ?from ?to - location)
    (item_at ?i - item ?l - location)
    (have ?i - item)
    (holder_at ?h - holder ?l - location)
    (closed ?h - holder ?l - location)
    (belongs ?i - item ?h - holder)
    (tried ?i - item ?h - holder)
    (stored ?i - item)
    (put_away ?i - item))
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (item_at ?i ?l) (not (put_away ?i)))
    :effect (and (have ?i) (not (item_at ?i ?l))))
  (:action put
    :parameters (?i - item ?h - holder ?l - location)
    :precondition (and (at ?l) (have ?i) (holder_at ?h ?l) (not (closed ?h ?l)) (belongs ?i ?h) (not (tried ?i ?h)))
    :effect (and (stored ?i) (not (have ?i))))
  (:action open_container
    :parameters (?h - holder ?l - location)
    :precondition (and (at ?l) (closed ?h ?l))
    :effect (not (closed ?h ?l)))
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (closed_door ?from ?to))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))))
