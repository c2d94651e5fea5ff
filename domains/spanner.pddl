; Somebody walks down a corridor that leads one way only, takes spanners and tightens nuts. A spanner works once.
(define (domain spanner)
  (:requirements :strips :typing)
  (:types location locatable - object
          man spanner nut - locatable)
  (:predicates
    (at ?x - locatable ?l - location)
    (link ?from - location ?to - location)   ; one way
    (carrying ?m - man ?s - spanner)
    (usable ?s - spanner)
    (loose ?n - nut)
    (tightened ?n - nut))

  (:action walk
    :parameters (?from - location ?to - location ?m - man)
    :precondition (and (at ?m ?from) (link ?from ?to))
    :effect (and (at ?m ?to) (not (at ?m ?from))))

  (:action pick-up
    :parameters (?l - location ?s - spanner ?m - man)
    :precondition (and (at ?m ?l) (at ?s ?l))
    :effect (and (carrying ?m ?s) (not (at ?s ?l))))

  (:action tighten
    :parameters (?l - location ?s - spanner ?m - man ?n - nut)
    :precondition (and (at ?m ?l) (at ?n ?l) (carrying ?m ?s) (usable ?s) (loose ?n))
    :effect (and (tightened ?n) (not (loose ?n)) (not (usable ?s)))))
