"""BlocksWorld."""


def successors(state):
    clear, table, on = state["clear"], state["on-table"], state["on"]

    def made(clear, table, holding, on):
        return {"clear": clear, "on-table": table, "arm-empty": holding is None, "holding": holding, "on": on}

    def without(blocks, part):
        return [block for block in blocks if block != part]

    results = []
    if state["arm-empty"]:
        for block in clear:
            if block in table:
                results.append(made(without(clear, block), without(table, block), block, list(on)))
        for upper, lower in on:
            if upper in clear:
                results.append(made([*without(clear, upper), lower], list(table), upper, without(on, (upper, lower))))
        return results
    held = state["holding"]
    results.append(made([*clear, held], [*table, held], None, list(on)))
    for block in clear:
        results.append(made([*without(clear, block), held], list(table), None, [*on, (held, block)]))
    return results


def is_goal(state, goal):
    return all(part in state[name] for name in ("clear", "on-table", "on") for part in goal[name])
