; A robot carries parcels between places. Driving uses its battery, and charging takes a fixed time.
(define (domain battery)
  (:requirements :strips :typing :numeric-fluents :durative-actions)
  (:types robot place parcel)
  (:predicates
    (robot-at ?r - robot ?p - place) ; the robot is at the place
    (lies-at ?x - parcel ?p - place) ; the parcel lies at the place
    (holds ?r - robot ?x - parcel) ; the robot holds the parcel
    (free ?r - robot) ; the robot holds nothing
    (road ?a - place ?b - place) ; a road leads from a to b
    (charger ?p - place)) ; there is a charger at the place
  (:functions
    (battery ?r - robot) ; the charge of the battery
    (capacity ?r - robot) ; the charge of the full battery
    (charging-time ?r - robot) ; the minutes that charging takes
    (distance ?a - place ?b - place)) ; the minutes, and the charge, that the road takes
  (:durative-action drive
    :parameters (?r - robot ?from - place ?to - place)
    :duration (= ?duration (distance ?from ?to))
    :condition (and
      (at start (robot-at ?r ?from)) (at start (road ?from ?to))
      (at start (>= (battery ?r) (distance ?from ?to))))
    :effect (and
      (at start (not (robot-at ?r ?from))) (at start (decrease (battery ?r) (distance ?from ?to)))
      (at end (robot-at ?r ?to))))
  (:durative-action charge
    :parameters (?r - robot ?p - place)
    :duration (= ?duration (charging-time ?r))
    :condition (and (at start (charger ?p)) (over all (robot-at ?r ?p)))
    :effect (at end (assign (battery ?r) (capacity ?r))))
  (:action pick-up
    :parameters (?r - robot ?x - parcel ?p - place)
    :precondition (and (robot-at ?r ?p) (lies-at ?x ?p) (free ?r))
    :effect (and (holds ?r ?x) (not (lies-at ?x ?p)) (not (free ?r))))
  (:action put-down
    :parameters (?r - robot ?x - parcel ?p - place)
    :precondition (and (robot-at ?r ?p) (holds ?r ?x))
    :effect (and (lies-at ?x ?p) (free ?r) (not (holds ?r ?x)))))
