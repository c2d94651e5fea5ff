; A ferry with room for one car takes cars to where they should be.
(define (domain ferry)
  (:requirements :strips)
  (:predicates
    (car ?c)
    (location ?l)
    (not-eq ?x ?y)
    (at-ferry ?l)
    (at ?c ?l)
    (on ?c)          ; the car is on the ferry
    (empty-ferry))

  (:action sail
    :parameters (?from ?to)
    :precondition (and (location ?from) (location ?to) (not-eq ?from ?to) (at-ferry ?from))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))

  (:action board
    :parameters (?c ?l)
    :precondition (and (car ?c) (location ?l) (at ?c ?l) (at-ferry ?l) (empty-ferry))
    :effect (and (on ?c) (not (at ?c ?l)) (not (empty-ferry))))

  (:action debark
    :parameters (?c ?l)
    :precondition (and (car ?c) (location ?l) (on ?c) (at-ferry ?l))
    :effect (and (at ?c ?l) (empty-ferry) (not (on ?c)))))
