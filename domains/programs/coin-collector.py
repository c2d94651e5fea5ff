def get_plan(objects, init, goal):
    from collections import deque

    at = next(fact[1] for fact in init if fact[0] == "at")
    exits = [fact[1:] for fact in init if fact[0] == "connected"]
    closed = {frozenset(fact[1:]) for fact in init if fact[0] == "closed_door"}
    plan = []
    for _, thing in goal:
        place = next(fact[2] for fact in init if fact[0] == "item_at" and fact[1] == thing)
        reached, waiting = {at: []}, deque([at])
        while place not in reached:
            room = waiting.popleft()
            for start, end, direction in exits:
                if start == room and end not in reached:
                    reached[end] = [*reached[room], (room, end, direction)]
                    waiting.append(end)
        for start, end, direction in reached[place]:
            if frozenset((start, end)) in closed:
                plan.append(f"(open_door {start} {end} {direction})")
                closed.discard(frozenset((start, end)))
            plan.append(f"(move {start} {end} {direction})")
        plan.append(f"(take {thing} {place})")
        at = place
    return plan
