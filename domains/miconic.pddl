; Lifts take passengers to their floors. There may be several buildings: a lift reaches only floors above or below it.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types passenger floor)
  (:predicates
    (origin ?p - passenger ?f - floor)
    (destin ?p - passenger ?f - floor)
    (above ?low - floor ?high - floor)   ; the second is above the first, in the same building
    (lift-at ?f - floor)
    (boarded ?p - passenger)
    (served ?p - passenger))

  (:action board
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (origin ?p ?f))
    :effect (boarded ?p))

  (:action depart
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (destin ?p ?f) (boarded ?p))
    :effect (and (served ?p) (not (boarded ?p))))

  (:action up
    :parameters (?low - floor ?high - floor)
    :precondition (and (lift-at ?low) (above ?low ?high))
    :effect (and (lift-at ?high) (not (lift-at ?low))))

  (:action down
    :parameters (?high - floor ?low - floor)
    :precondition (and (lift-at ?high) (above ?low ?high))
    :effect (and (lift-at ?low) (not (lift-at ?high)))))
