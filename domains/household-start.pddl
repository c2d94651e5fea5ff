; Nothing is known before the first observation, but where the agent is.
(define (problem household)
  (:domain household)
  (:objects)
  (:init (at room) (visited room) (hands_free))
  (:goal (and)))
