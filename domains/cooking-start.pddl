; Nothing is known before the first observation.
(define (problem house)
  (:domain cooking-world)
  (:objects)
  (:init)
  (:goal (eaten meal)))
