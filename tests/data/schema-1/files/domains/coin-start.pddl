; Nothing is known before the first observation.
(define (problem house)
  (:domain coin-collector)
  (:objects)
  (:init)
  (:goal (have coin)))
