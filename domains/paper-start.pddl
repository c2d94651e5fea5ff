; As in the paper's scripts: the agent is in the kitchen, and the directions are objects.
(define (problem exploration)
  (:domain environment)
  (:objects
    kitchen - location
    north south east west - direction)
  (:init (at kitchen) (visited kitchen))
  (:goal (exists (?x - location) (and (not (visited ?x)) (at ?x)))))
