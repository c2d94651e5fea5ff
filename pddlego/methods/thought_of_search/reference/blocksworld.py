"""BlocksWorld."""


def successors(state):
    clear, table, on = state["clear"], state["on-table"], state["on"]

    def made(clear, table, holding, on):
        return {"clear": clear, "on-table": table, "arm-empty": holding is None, "holding": holding, "on": on}

    def without(items, part):
        return [block for block in items if block != part]

    states = []
    if state["arm-empty"]:
        for block in clear:
            if block in table:
                states.append(made(without(clear, block), without(table, block), block, list(on)))
        for upper, lower in on:
            if upper in clear:
                states.append(made([*without(clear, upper), lower], list(table), upper, without(on, (upper, lower))))
        return states
    held = state["holding"]
    states.append(made([*clear, held], [*table, held], None, list(on)))
    for block in clear:
        states.append(made([*without(clear, block), held], list(table), None, [*on, (held, block)]))
    return states


def is_goal(state, goal):
    return all(part in state[name] for name in ("clear", "on-table", "on") for part in goal[name])
