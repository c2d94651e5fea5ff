; ScienceWorld: go through rooms, focus on things, carry them, measure, mix, heat, grow, connect. Every action is one
; command of the game.
(define (domain scienceworld)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions
    :universal-preconditions :existential-preconditions)
  (:types room thing)
  (:predicates
    (at ?r - room) ; where the agent is: one room only
    (visited ?r - room) ; the agent is or was there; it stays so
    (door ?a ?b - room) ; state it both ways
    (closed_door ?a ?b - room) ; state it both ways; delete both when the door is open
    (is_in ?t - thing ?r - room) ; it is seen in the room, perhaps in or on something else there
    (held ?t - thing) ; it is in the inventory, and in no room
    (likely ?t - thing ?r - room) ; the task says so, or common sense: a thing that the task needs may well be in this room
    (closed ?t - thing ?r - room) ; a container in this room that can be opened
    (opened ?t - thing) ; only a plan makes it true
    (undecided) ; what the task asks for is not yet known in full
    (wanted ?t - thing) ; the task says to focus on it, and it is the right thing
    (before ?a ?b - thing) ; the task says to focus on ?a before ?b
    (focused ?t - thing) ; the agent has focused on it
    (belongs ?t ?c - thing) ; the task says to put ?t into ?c
    (inside ?t ?c - thing) ; the agent has put ?t into ?c
    (instrument ?t - thing) ; with it things are measured
    (unmeasured ?t - thing) ; its temperature is to be measured
    (measured ?t - thing) ; only a plan makes it true
    (ingredient ?t ?c - thing) ; what is in ?t is to be poured into ?c
    (poured ?t ?c - thing) ; it was poured
    (mixed ?c - thing) ; only a plan makes it true
    (sample ?t - thing) ; the task says to change it: it is put into a vessel first, and focused on there
    (goes ?t ?c - thing) ; the experiment needs ?t in or on ?c
    (device ?d - thing ?r - room) ; the experiment needs this device, which is in this room, and is to be activated
    (active ?d - thing) ; the device is on
    (useless ?d - thing) ; the device is broken, or too weak
    (digs ?i ?g ?t - thing) ; with the tool ?i, ?t can be dug out of ?g
    (waters ?j ?v - thing) ; what grows in ?v is watered from ?j
    (in_circuit ?t - thing) ; the task says to power it, or to test it in a circuit
    (to_join ?a ?b - thing ?r - room) ; these two terminals, which are in this room, are to be connected
    (loose ?a - thing) ; the first terminal of a pair to_join, as long as it is not connected
    (changed ?t - thing)) ; only a plan makes it true
  (:action open_door
    :parameters (?a ?b - room)
    :precondition (and (at ?a) (door ?a ?b) (closed_door ?a ?b))
    :effect (and (not (closed_door ?a ?b)) (not (closed_door ?b ?a))))
  (:action go
    :parameters (?a ?b - room)
    :precondition (and (at ?a) (door ?a ?b) (not (closed_door ?a ?b)))
    :effect (and (not (at ?a)) (at ?b)))
  (:action open
    :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (closed ?t ?r))
    :effect (and (opened ?t) (not (closed ?t ?r))))
  (:action take
    :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (is_in ?t ?r) (not (held ?t)))
    :effect (and (held ?t) (not (is_in ?t ?r))))
  (:action focus
    :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (wanted ?t) (or (held ?t) (is_in ?t ?r))
      (forall (?o - thing) (or (not (before ?o ?t)) (focused ?o))))
    :effect (focused ?t))
  (:action put
    :parameters (?t ?c - thing ?r - room)
    :precondition (and (at ?r) (held ?t) (is_in ?c ?r) (belongs ?t ?c)
      (forall (?o - thing) (or (not (wanted ?o)) (focused ?o))))
    :effect (and (inside ?t ?c) (is_in ?t ?r) (not (held ?t))))
  (:action measure
    :parameters (?i ?t - thing ?r - room)
    :precondition (and (at ?r) (instrument ?i) (held ?i) (unmeasured ?t) (or (held ?t) (is_in ?t ?r))
      (forall (?o - thing) (or (not (wanted ?o)) (focused ?o))))
    :effect (measured ?t))
  (:action pour
    :parameters (?t ?c - thing ?r - room)
    :precondition (and (at ?r) (is_in ?t ?r) (is_in ?c ?r) (ingredient ?t ?c))
    :effect (poured ?t ?c))
  (:action mix
    :parameters (?c - thing ?r - room)
    :precondition (and (at ?r) (is_in ?c ?r) (exists (?t - thing) (ingredient ?t ?c))
      (forall (?t - thing) (or (not (ingredient ?t ?c)) (poured ?t ?c))))
    :effect (mixed ?c))
  (:action set_up
    :parameters (?t ?c - thing ?r - room)
    :precondition (and (at ?r) (goes ?t ?c) (or (held ?t) (is_in ?t ?r)) (is_in ?c ?r) (not (closed ?c ?r))
      (forall (?o - thing) (or (not (goes ?o ?t)) (and (inside ?o ?t) (or (not (sample ?o)) (focused ?o))))))
    :effect (and (inside ?t ?c) (is_in ?t ?r) (not (held ?t))))
  (:action focus_inside
    :parameters (?t ?c - thing ?r - room)
    :precondition (and (at ?r) (sample ?t) (goes ?t ?c) (inside ?t ?c) (is_in ?c ?r))
    :effect (focused ?t))
  (:action activate
    :parameters (?d - thing ?r - room)
    :precondition (and (at ?r) (device ?d ?r) (not (useless ?d)))
    :effect (active ?d))
  (:action heat
    :parameters (?t ?c ?d - thing ?r - room)
    :precondition (and (at ?r) (sample ?t) (goes ?t ?c) (goes ?c ?d) (device ?d ?r) (focused ?t) (inside ?t ?c)
      (inside ?c ?d) (is_in ?c ?r) (active ?d) (not (useless ?d)))
    :effect (changed ?t))
  (:action dig
    :parameters (?i ?g ?t - thing ?r - room)
    :precondition (and (at ?r) (digs ?i ?g ?t) (held ?i) (is_in ?g ?r))
    :effect (is_in ?t ?r))
  (:action water
    :parameters (?j ?d ?v - thing ?r - room)
    :precondition (and (at ?r) (waters ?j ?v) (goes ?j ?d) (device ?d ?r) (inside ?j ?d) (active ?d) (is_in ?v ?r))
    :effect (poured ?j ?v))
  (:action grow
    :parameters (?t ?j ?v - thing ?r - room)
    :precondition (and (at ?r) (sample ?t) (goes ?t ?v) (waters ?j ?v) (is_in ?v ?r) (focused ?t) (poured ?j ?v)
      (forall (?o - thing) (or (not (goes ?o ?v)) (inside ?o ?v))))
    :effect (changed ?t))
  (:action drop
    :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (in_circuit ?t) (held ?t))
    :effect (and (is_in ?t ?r) (not (held ?t))))
  (:action connect
    :parameters (?a ?b ?t - thing ?r - room)
    :precondition (and (at ?r) (in_circuit ?t) (is_in ?t ?r) (to_join ?a ?b ?r) (loose ?a)
      (forall (?o - thing) (or (not (wanted ?o)) (focused ?o))))
    :effect (not (loose ?a)))
  (:action test
    :parameters (?t - thing ?r - room)
    :precondition (and (at ?r) (in_circuit ?t) (is_in ?t ?r) (focused ?t)
      (forall (?a - thing) (not (loose ?a))))
    :effect (changed ?t)))
