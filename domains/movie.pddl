; Somebody wants to watch a movie: the tape at its beginning, the counter at zero, and one snack of each kind.
; In the style of the competition's.
(define (domain movie)
  (:requirements :strips :typing :negative-preconditions)
  (:types chips dip pop cheese crackers)
  (:predicates
    (movie-rewound)
    (counter-at-two-hours)
    (counter-at-zero)
    (have-chips) (have-dip) (have-pop) (have-cheese) (have-crackers))

  (:action rewind-movie-after-two-hours
    :parameters ()
    :precondition (counter-at-two-hours)
    :effect (movie-rewound))

  (:action rewind-movie
    :parameters ()
    :precondition (not (counter-at-two-hours))
    :effect (and (movie-rewound) (not (counter-at-zero))))

  (:action reset-counter
    :parameters ()
    :precondition (and)
    :effect (and (counter-at-zero) (not (counter-at-two-hours))))

  (:action get-chips
    :parameters (?x - chips)
    :precondition (and)
    :effect (have-chips))

  (:action get-dip
    :parameters (?x - dip)
    :precondition (and)
    :effect (have-dip))

  (:action get-pop
    :parameters (?x - pop)
    :precondition (and)
    :effect (have-pop))

  (:action get-cheese
    :parameters (?x - cheese)
    :precondition (and)
    :effect (have-cheese))

  (:action get-crackers
    :parameters (?x - crackers)
    :precondition (and)
    :effect (have-crackers)))
