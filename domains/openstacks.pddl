; Orders hold a stack from their first product until they are shipped, and there are only so many stacks.
; In the style of the competition's: stacks are counted, and a product needs all of its orders started.
(define (domain openstacks)
  (:requirements :adl :typing)
  (:types order product count)
  (:predicates
    (includes ?o - order ?p - product)
    (waiting ?o - order)
    (started ?o - order)
    (shipped ?o - order)
    (made ?p - product)
    (free-stacks ?n - count)
    (next ?low - count ?high - count))

  (:action start-order
    :parameters (?o - order ?free - count ?left - count)
    :precondition (and (waiting ?o) (free-stacks ?free) (next ?left ?free))
    :effect (and (started ?o) (free-stacks ?left) (not (waiting ?o)) (not (free-stacks ?free))))

  (:action make-product
    :parameters (?p - product)
    :precondition (and (not (made ?p)) (forall (?o - order) (imply (includes ?o ?p) (started ?o))))
    :effect (made ?p))

  (:action ship-order
    :parameters (?o - order ?free - count ?more - count)
    :precondition (and (started ?o) (free-stacks ?free) (next ?free ?more)
      (forall (?p - product) (imply (includes ?o ?p) (made ?p))))
    :effect (and (shipped ?o) (free-stacks ?more) (not (started ?o)) (not (free-stacks ?free)))))
