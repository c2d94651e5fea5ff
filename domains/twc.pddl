; TextWorld Commonsense: put things where they belong. Where that is, the model says with `belongs`; a place that turned
; out to be wrong is `tried` and not used again.
(define (domain text-world-commonsense)
  (:requirements :adl)
  (:types location direction item holder)
  (:constants north south east west - direction)
  (:predicates
    (at ?l - location) ; where the agent is: one room only
    (visited ?l - location) ; the agent is or was there; it stays so
    (connected ?from ?to - location ?d - direction) ; every exit leads back: state both ways
    (closed_door ?from ?to - location) ; state it once, for both ways; delete it when the door is open
    (item_at ?i - item ?l - location) ; what lies about and can be taken
    (have ?i - item) ; it was taken, and is no longer item_at
    (holder_at ?h - holder ?l - location) ; furniture that things can be put in or on
    (closed ?h - holder ?l - location) ; delete it when the holder is seen open
    (belongs ?i - item ?h - holder) ; where it usually belongs: one holder that was seen
    (tried ?i - item ?h - holder) ; it turned out to be the wrong place
    (stored ?i - item)
    (put_away ?i - item)) ; it was put into the right place
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
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (or (closed_door ?from ?to) (closed_door ?to ?from)))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))))
