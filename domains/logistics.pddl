; Trucks carry packages within a city, airplanes between airports. Kinds of things are facts, as in the first competition.
(define (domain logistics)
  (:requirements :strips)
  (:predicates
    (obj ?p) (truck ?t) (airplane ?a) (city ?c)
    (location ?l) (airport ?l)
    (in-city ?l ?c)
    (at ?x ?l)
    (in ?p ?vehicle))

  (:action load-truck
    :parameters (?p ?truck ?l)
    :precondition (and (obj ?p) (truck ?truck) (location ?l) (at ?truck ?l) (at ?p ?l))
    :effect (and (in ?p ?truck) (not (at ?p ?l))))

  (:action load-airplane
    :parameters (?p ?airplane ?l)
    :precondition (and (obj ?p) (airplane ?airplane) (airport ?l) (at ?airplane ?l) (at ?p ?l))
    :effect (and (in ?p ?airplane) (not (at ?p ?l))))

  (:action unload-truck
    :parameters (?p ?truck ?l)
    :precondition (and (obj ?p) (truck ?truck) (location ?l) (at ?truck ?l) (in ?p ?truck))
    :effect (and (at ?p ?l) (not (in ?p ?truck))))

  (:action unload-airplane
    :parameters (?p ?airplane ?l)
    :precondition (and (obj ?p) (airplane ?airplane) (airport ?l) (at ?airplane ?l) (in ?p ?airplane))
    :effect (and (at ?p ?l) (not (in ?p ?airplane))))

  (:action drive-truck
    :parameters (?truck ?from ?to ?c)
    :precondition (and (truck ?truck) (location ?from) (location ?to) (city ?c)
      (at ?truck ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?truck ?to) (not (at ?truck ?from))))

  (:action fly-airplane
    :parameters (?airplane ?from ?to)
    :precondition (and (airplane ?airplane) (airport ?from) (airport ?to) (at ?airplane ?from))
    :effect (and (at ?airplane ?to) (not (at ?airplane ?from)))))
