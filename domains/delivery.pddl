; A robot takes newspapers from a home base to the places that want one.
(define (domain delivery)
  (:requirements :strips :typing)
  (:types place paper)
  (:predicates
    (at ?l - place)           ; the robot is there
    (home-base ?l - place)    ; papers are handed out there
    (safe ?l - place)         ; the robot can go there
    (unpacked ?p - paper)     ; the paper is still at a home base
    (carrying ?p - paper)
    (wants-paper ?l - place)
    (satisfied ?l - place))

  (:action pick-up
    :parameters (?p - paper ?l - place)
    :precondition (and (at ?l) (home-base ?l) (unpacked ?p))
    :effect (and (carrying ?p) (not (unpacked ?p))))

  (:action move
    :parameters (?from - place ?to - place)
    :precondition (and (at ?from) (safe ?to))
    :effect (and (at ?to) (not (at ?from))))

  (:action deliver
    :parameters (?p - paper ?l - place)
    :precondition (and (at ?l) (carrying ?p) (wants-paper ?l))
    :effect (and (satisfied ?l) (not (carrying ?p)) (not (wants-paper ?l)))))
