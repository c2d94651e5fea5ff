; The cooking game of TextWorld: read the recipe, find what it asks for, prepare it, cook the meal in the kitchen, eat it.
; Every action is one command of the game. The model writes facts about the world and the recipe; `needed` and `missing`
; follow from them; `open`, `recipe_read` and `eaten` come about in plans only. Nothing is cut or heated but as the recipe asks, and nothing is eaten but the meal.
(define (domain textworld-cooking)
  (:requirements :adl :derived-predicates)
  (:types
    location container - place
    item appliance - thing
    door - object
    griller - appliance
    direction preparation)
  (:constants
    north south east west - direction
    kitchen - location
    cookbook knife meal - item
    stove oven - appliance
    toaster bbq - griller
    sliced chopped diced fried roasted grilled - preparation)
  (:predicates
    (at ?l - location) ; where the agent is: one room only
    (visited ?l - location) ; the agent is or was there; it stays so
    (connected ?from ?to - location ?d - direction) ; every exit leads back: state both ways
    (door ?n - door ?from ?to - location) ; the door between two rooms: state both ways
    (closed_door ?from ?to - location) ; state it once, for both ways; delete it when the door is open
    (closed ?c - container ?l - location) ; delete it when the container is seen open
    (stuck ?c - container) ; the game says that it cannot be opened
    (open ?c - container ?l - location)
    (thing_at ?t - thing ?l - location) ; what can be taken or cooked with, wherever it lies in the room: loose, on a counter, in an open container
    (have ?t - thing) ; it was taken, and is no longer thing_at
    (recipe_read)
    (recipe_known) ; the cookbook was read
    (ingredient ?t - thing) ; for every ingredient of the recipe
    (wanted ?i - item ?p - preparation) ; for every direction of the recipe
    (is ?i - item ?p - preparation) ; it was sliced, fried ...
    (likely ?t - thing ?p - place) ; a needed thing that was not found may well be in this closed container or room not yet visited
    (eaten ?i - item)
    (needed ?t - thing)
    (missing ?t - thing))

  ; The ingredients, the knife if something is to be cut, and what the ingredients are to be heated with.
  (:derived (needed ?t - thing)
    (or (ingredient ?t)
        (and (= ?t cookbook) (not (recipe_known)))
        (and (= ?t knife)
             (exists (?i - item) (or (wanted ?i sliced) (wanted ?i chopped) (wanted ?i diced))))
        (and (= ?t stove) (exists (?i - item) (wanted ?i fried)))
        (and (= ?t oven) (exists (?i - item) (wanted ?i roasted)))
        (and (or (= ?t toaster) (= ?t bbq))
             (exists (?i - item) (wanted ?i grilled))
             (not (exists (?g - griller ?l - location) (thing_at ?g ?l))))))
  ; Needed, and nobody has seen where it is.
  (:derived (missing ?t - thing)
    (and (needed ?t)
         (not (have ?t))
         (not (exists (?l - location) (thing_at ?t ?l)))))

  (:action open_container
    :parameters (?c - container ?l - location)
    :precondition (and (at ?l) (closed ?c ?l))
    :effect (and (not (closed ?c ?l)) (open ?c ?l)))
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?n - door ?from ?to - location)
    :precondition (and (at ?from) (door ?n ?from ?to) (or (closed_door ?from ?to) (closed_door ?to ?from)))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))))
  (:action read
    :parameters ()
    :precondition (or (have cookbook) (exists (?l - location) (and (at ?l) (thing_at cookbook ?l))))
    :effect (recipe_read))
  (:action take
    :parameters (?i - item ?l - location)
    :precondition (and (at ?l) (thing_at ?i ?l))
    :effect (and (have ?i) (not (thing_at ?i ?l))))
  (:action slice
    :parameters (?i - item)
    :precondition (and (have ?i) (have knife) (wanted ?i sliced) (not (is ?i sliced)))
    :effect (is ?i sliced))
  (:action chop
    :parameters (?i - item)
    :precondition (and (have ?i) (have knife) (wanted ?i chopped) (not (is ?i chopped)))
    :effect (is ?i chopped))
  (:action dice
    :parameters (?i - item)
    :precondition (and (have ?i) (have knife) (wanted ?i diced) (not (is ?i diced)))
    :effect (is ?i diced))
  (:action fry
    :parameters (?i - item ?l - location)
    :precondition (and (have ?i) (at ?l) (thing_at stove ?l) (wanted ?i fried) (not (is ?i fried)))
    :effect (is ?i fried))
  (:action roast
    :parameters (?i - item ?l - location)
    :precondition (and (have ?i) (at ?l) (thing_at oven ?l) (wanted ?i roasted) (not (is ?i roasted)))
    :effect (is ?i roasted))
  (:action grill
    :parameters (?i - item ?g - griller ?l - location)
    :precondition (and (have ?i) (at ?l) (thing_at ?g ?l) (wanted ?i grilled) (not (is ?i grilled)))
    :effect (is ?i grilled))
  (:action prepare_meal
    :parameters ()
    :precondition (and (at kitchen) (recipe_known)
      (forall (?i - item)
        (imply (ingredient ?i)
          (and (have ?i) (forall (?p - preparation) (imply (wanted ?i ?p) (is ?i ?p)))))))
    :effect (have meal))
  (:action eat_meal
    :parameters ()
    :precondition (have meal)
    :effect (eaten meal)))
