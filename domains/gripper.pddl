; A robot with grippers carries balls between rooms.
(define (domain gripper)
  (:requirements :strips)
  (:predicates
    (room ?r)
    (ball ?b)
    (gripper ?g)
    (robot-at ?r)
    (at ?b ?r)
    (free ?g)
    (carry ?b ?g))

  (:action move
    :parameters (?from ?to)
    :precondition (and (room ?from) (room ?to) (robot-at ?from))
    :effect (and (not (robot-at ?from)) (robot-at ?to)))

  (:action pick
    :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (at ?b ?r) (robot-at ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))

  (:action drop
    :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (carry ?b ?g) (robot-at ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
