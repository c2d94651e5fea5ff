; Nothing is known before the first observation.
(define (problem house)
  (:domain textworld-cooking)
  (:objects)
  (:init)
  (:goal (eaten meal)))
