; Aircraft take people between cities. A flight takes one level of fuel, a fast one two.
; In the style of the competition's, without numbers; goals are of people only.
(define (domain zenotravel)
  (:requirements :strips :typing)
  (:types aircraft person - thing city level)
  (:predicates
    (at ?x - thing ?c - city)
    (in ?p - person ?a - aircraft)
    (fuel ?a - aircraft ?l - level)
    (next ?low - level ?high - level))

  (:action board
    :parameters (?p - person ?a - aircraft ?c - city)
    :precondition (and (at ?p ?c) (at ?a ?c))
    :effect (and (in ?p ?a) (not (at ?p ?c))))

  (:action debark
    :parameters (?p - person ?a - aircraft ?c - city)
    :precondition (and (in ?p ?a) (at ?a ?c))
    :effect (and (at ?p ?c) (not (in ?p ?a))))

  (:action fly
    :parameters (?a - aircraft ?from - city ?to - city ?before - level ?after - level)
    :precondition (and (at ?a ?from) (fuel ?a ?before) (next ?after ?before))
    :effect (and (at ?a ?to) (fuel ?a ?after) (not (at ?a ?from)) (not (fuel ?a ?before))))

  (:action zoom
    :parameters (?a - aircraft ?from - city ?to - city ?before - level ?between - level ?after - level)
    :precondition (and (at ?a ?from) (fuel ?a ?before) (next ?between ?before) (next ?after ?between))
    :effect (and (at ?a ?to) (fuel ?a ?after) (not (at ?a ?from)) (not (fuel ?a ?before))))

  (:action refuel
    :parameters (?a - aircraft ?c - city ?before - level ?after - level)
    :precondition (and (at ?a ?c) (fuel ?a ?before) (next ?before ?after))
    :effect (and (fuel ?a ?after) (not (fuel ?a ?before)))))
