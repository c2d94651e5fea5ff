; Nothing is known before the first observation.
(define (problem house)
  (:domain map-reader)
  (:objects)
  (:init)
  (:goal (in_box coin)))
