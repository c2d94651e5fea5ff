; Nothing is known before the first observation.
(define (problem laboratory)
  (:domain scienceworld)
  (:objects)
  (:init (undecided))
  (:goal (not (undecided))))
