; Things are packed into a box, one on top of the other: a thing can only stand on one that is heavier.
(define (domain heavy)
  (:requirements :strips)
  (:predicates
    (heavier ?x ?y)       ; the first is heavier than the second
    (box-empty)
    (unpacked ?x)
    (packed ?x)
    (nothing-above ?x))

  (:action pack-first
    :parameters (?x)
    :precondition (and (box-empty) (unpacked ?x))
    :effect (and (packed ?x) (nothing-above ?x) (not (unpacked ?x)) (not (box-empty))))

  (:action stack
    :parameters (?below ?x)
    :precondition (and (packed ?below) (nothing-above ?below) (heavier ?below ?x) (unpacked ?x))
    :effect (and (packed ?x) (nothing-above ?x) (not (unpacked ?x)) (not (nothing-above ?below)))))
