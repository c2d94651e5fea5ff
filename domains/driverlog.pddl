; Trucks drive on roads and need a driver; drivers walk on paths.
; In the style of the competition's; goals are of drivers and packages.
(define (domain driverlog)
  (:requirements :strips :typing)
  (:types location thing - object driver truck package - thing)
  (:predicates
    (at ?x - thing ?l - location)
    (in ?p - package ?t - truck)
    (driving ?d - driver ?t - truck)
    (empty ?t - truck)
    (link ?from - location ?to - location)   ; a road
    (path ?from - location ?to - location))

  (:action load-truck
    :parameters (?p - package ?t - truck ?l - location)
    :precondition (and (at ?t ?l) (at ?p ?l))
    :effect (and (in ?p ?t) (not (at ?p ?l))))

  (:action unload-truck
    :parameters (?p - package ?t - truck ?l - location)
    :precondition (and (at ?t ?l) (in ?p ?t))
    :effect (and (at ?p ?l) (not (in ?p ?t))))

  (:action board-truck
    :parameters (?d - driver ?t - truck ?l - location)
    :precondition (and (at ?t ?l) (at ?d ?l) (empty ?t))
    :effect (and (driving ?d ?t) (not (at ?d ?l)) (not (empty ?t))))

  (:action disembark-truck
    :parameters (?d - driver ?t - truck ?l - location)
    :precondition (and (at ?t ?l) (driving ?d ?t))
    :effect (and (at ?d ?l) (empty ?t) (not (driving ?d ?t))))

  (:action drive-truck
    :parameters (?t - truck ?from - location ?to - location ?d - driver)
    :precondition (and (at ?t ?from) (driving ?d ?t) (link ?from ?to))
    :effect (and (at ?t ?to) (not (at ?t ?from))))

  (:action walk
    :parameters (?d - driver ?from - location ?to - location)
    :precondition (and (at ?d ?from) (path ?from ?to))
    :effect (and (at ?d ?to) (not (at ?d ?from)))))
