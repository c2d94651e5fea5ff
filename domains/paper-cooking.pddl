; Cooking World as in the PDDLEGO paper (its Figure 6): exploring as in Coin Collector, cutting with the knife, heating where
; the appliance is. What must be in hand for it, and where appliances are, is stated by the fixed rules of the script.
(define (domain environment)
  (:requirements :strips :typing :negative-preconditions)
  (:types location direction ingredient knife stove oven toaster barbeque)
  (:predicates
    (at ?loc - location)
    (visited ?loc - location)
    (connected ?loc1 ?loc2 - location ?dir - direction)
    (closed_door ?loc1 ?loc2 - location)
    (obj_at ?obj - object ?loc - location)
    (have ?obj - object)
    (chopped ?ingredient - ingredient)
    (sliced ?ingredient - ingredient)
    (diced ?ingredient - ingredient)
    (fried ?ingredient - ingredient)
    (grilled ?ingredient - ingredient)
    (roasted ?ingredient - ingredient))
  (:action move
    :parameters (?loc1 ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (connected ?loc1 ?loc2 ?dir) (not (closed_door ?loc1 ?loc2)))
    :effect (and (not (at ?loc1)) (at ?loc2)))
  (:action open_door
    :parameters (?loc1 ?loc2 - location)
    :precondition (and (at ?loc1) (closed_door ?loc1 ?loc2))
    :effect (not (closed_door ?loc1 ?loc2)))
  (:action chop
    :parameters (?ingredient - ingredient ?knife - knife)
    :precondition (and (have ?ingredient) (have ?knife))
    :effect (chopped ?ingredient))
  (:action slice
    :parameters (?ingredient - ingredient ?knife - knife)
    :precondition (and (have ?ingredient) (have ?knife))
    :effect (sliced ?ingredient))
  (:action dice
    :parameters (?ingredient - ingredient ?knife - knife)
    :precondition (and (have ?ingredient) (have ?knife))
    :effect (diced ?ingredient))
  (:action use_stove
    :parameters (?ingredient - ingredient ?loc - location ?stove - stove)
    :precondition (and (at ?loc) (obj_at ?stove ?loc) (have ?ingredient))
    :effect (fried ?ingredient))
  (:action use_oven
    :parameters (?ingredient - ingredient ?loc - location ?oven - oven)
    :precondition (and (at ?loc) (obj_at ?oven ?loc) (have ?ingredient))
    :effect (roasted ?ingredient))
  (:action use_toaster
    :parameters (?ingredient - ingredient ?loc - location ?toaster - toaster)
    :precondition (and (at ?loc) (obj_at ?toaster ?loc) (have ?ingredient))
    :effect (grilled ?ingredient))
  (:action use_barbeque
    :parameters (?ingredient - ingredient ?loc - location ?barbeque - barbeque)
    :precondition (and (at ?loc) (obj_at ?barbeque ?loc) (have ?ingredient))
    :effect (grilled ?ingredient)))
