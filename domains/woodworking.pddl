; A workshop saws parts out of boards, planes or grinds them, and gives them a colour.
; Simpler than the competition's: one kind of saw, no glazing, varnishing or treatment.
(define (domain woodworking)
  (:requirements :strips :typing)
  (:types board part - piece saw planer grinder sprayer - machine
          wood surface colour size)
  (:constants rough smooth verysmooth - surface natural - colour)
  (:predicates
    (idle ?m - machine)
    (unused ?p - part)                        ; not yet sawn
    (needs-size ?p - part ?s - size)          ; how much of a board it takes
    (available ?x - piece)
    (made-of ?x - piece ?w - wood)
    (surface ?x - piece ?s - surface)
    (coloured ?p - part ?c - colour)
    (has-colour ?m - sprayer ?c - colour)
    (board-size ?b - board ?s - size)
    (takes ?s - size ?before - size ?after - size)
    (loaded ?m - saw ?b - board)
    (empty ?m - saw))

  (:action load-saw
    :parameters (?b - board ?m - saw)
    :precondition (and (empty ?m) (available ?b))
    :effect (and (loaded ?m ?b) (not (available ?b)) (not (empty ?m))))

  (:action unload-saw
    :parameters (?b - board ?m - saw)
    :precondition (loaded ?m ?b)
    :effect (and (available ?b) (empty ?m) (not (loaded ?m ?b))))

  (:action saw-part
    :parameters (?p - part ?s - size ?b - board ?w - wood ?f - surface ?m - saw ?before - size ?after - size)
    :precondition (and (unused ?p) (needs-size ?p ?s) (loaded ?m ?b) (made-of ?b ?w) (surface ?b ?f)
      (board-size ?b ?before) (takes ?s ?before ?after))
    :effect (and (available ?p) (made-of ?p ?w) (surface ?p ?f) (coloured ?p natural) (board-size ?b ?after)
      (not (unused ?p)) (not (board-size ?b ?before))))

  (:action plane-part
    :parameters (?p - part ?m - planer ?f - surface ?c - colour)
    :precondition (and (idle ?m) (available ?p) (surface ?p ?f) (coloured ?p ?c))
    :effect (and (surface ?p smooth) (coloured ?p natural) (not (surface ?p ?f)) (not (coloured ?p ?c))))

  (:action grind-part
    :parameters (?p - part ?m - grinder ?c - colour)
    :precondition (and (idle ?m) (available ?p) (surface ?p smooth) (coloured ?p ?c))
    :effect (and (surface ?p verysmooth) (coloured ?p natural) (not (surface ?p smooth)) (not (coloured ?p ?c))))

  (:action spray-part
    :parameters (?p - part ?m - sprayer ?c - colour)
    :precondition (and (idle ?m) (available ?p) (has-colour ?m ?c) (coloured ?p natural))
    :effect (and (coloured ?p ?c) (not (coloured ?p natural)))))
