; A hiker crosses a forest of squares: around water, over hills, along a trail if she likes.
(define (domain forest)
  (:requirements :strips :typing :negative-preconditions)
  (:types square)
  (:predicates
    (at ?s - square)
    (adjacent ?a - square ?b - square)
    (water ?s - square)
    (hill ?s - square)
    (trail ?a - square ?b - square))   ; a marked trail leads from one to the next

  (:action walk
    :parameters (?from - square ?to - square)
    :precondition (and (at ?from) (adjacent ?from ?to) (not (hill ?to)) (not (water ?to)))
    :effect (and (at ?to) (not (at ?from))))

  (:action climb
    :parameters (?from - square ?to - square)
    :precondition (and (at ?from) (adjacent ?from ?to) (hill ?to) (not (water ?to)))
    :effect (and (at ?to) (not (at ?from)))))
