; ALFWorld: find a thing in a room, change it if the task says so, and bring it somewhere. Every action is one command.
(define (domain household)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions
    :conditional-effects)
  (:types place thing state kind)
  (:constants room - place clean hot cool - state)
  (:predicates
    (at ?p - place) ; where the agent is: one place only; at the start it is in the middle of the room
    (reachable ?p - place) ; the game listed it at the start: the agent can go there
    (visited ?p - place) ; the game has said what is there, or that it is closed; it stays so
    (closed ?p - place) ; the game says so; delete it when the place is open
    (opens ?p - place) ; a cabinet, drawer, fridge, microwave or safe: plans take it to be closed until it is visited
    (likely ?k - kind ?p - place) ; a thing of that kind, such as mug (without a number), may well be there
    (looked ?p - place) ; only a plan makes it true
    (opened ?p - place) ; only a plan makes it true
    (examined ?p - place) ; only a plan makes it true
    (is_in ?t - thing ?p - place) ; in or on it
    (holding ?t - thing) ; it was picked up, and is no longer is_in
    (hands_free) ; the agent holds nothing
    (is ?t - thing ?s - state) ; it was cleaned, heated or cooled
    (gives ?p - place ?s - state) ; a sinkbasin gives clean, a microwave hot, a fridge cool
    (lamp ?t - thing)
    (lit ?t - thing) ; a lamp that was turned on
    (wanted ?t - thing) ; a thing of the kind that the task names
    (target ?p - place) ; a place of the kind that the task names
    (needs ?s - state) ; the task asks for a clean, hot or cool thing
    (needs_two) ; the task asks for two things
    (needs_light)) ; the task asks to look at a thing under a lamp
  (:action go
    :parameters (?to - place)
    :precondition (reachable ?to)
    :effect (and (forall (?from - place) (not (at ?from))) (at ?to) (looked ?to)))
  (:action examine
    :parameters (?p - place)
    :precondition (and (at ?p) (not (visited ?p)))
    :effect (and (examined ?p) (looked ?p)))
  (:action open
    :parameters (?p - place)
    :precondition (and (at ?p) (or (closed ?p) (and (opens ?p) (not (visited ?p)))))
    :effect (and (opened ?p) (not (closed ?p))))
  (:action take
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (is_in ?t ?p) (not (closed ?p)) (hands_free) (wanted ?t))
    :effect (and (holding ?t) (not (is_in ?t ?p)) (not (hands_free))))
  (:action put
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (holding ?t) (not (closed ?p)) (or (visited ?p) (opened ?p) (not (opens ?p))))
    :effect (and (is_in ?t ?p) (hands_free) (not (holding ?t))))
  (:action clean
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (holding ?t) (gives ?p clean))
    :effect (is ?t clean))
  (:action heat
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (holding ?t) (gives ?p hot))
    :effect (and (is ?t hot) (not (is ?t cool))))
  (:action cool
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (holding ?t) (gives ?p cool))
    :effect (and (is ?t cool) (not (is ?t hot))))
  (:action use
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (lamp ?t) (is_in ?t ?p))
    :effect (lit ?t)))
