; Nothing is known before the first observation.
(define (problem house)
  (:domain text-world-commonsense)
  (:objects)
  (:init)
  (:goal (forall (?i - item) (put_away ?i))))
