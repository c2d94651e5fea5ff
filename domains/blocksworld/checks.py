"""What is right in BlocksWorld: what `read` gives to the functions, transitions, goals and solutions."""

from itertools import pairwise


def read(item):
    found = {"state": _state(item["state"])}
    if "goal" in item:
        found["goal_arguments"] = [_state(item["goal"])]
    if "successors" in item:
        found["successors"] = [_state(state) for state in item["successors"]]
    return found


def check(state, successor, item):
    holding, empty = successor["holding"], successor["arm-empty"]
    if holding and empty:
        return "the arm is not empty while it holds a block"
    if not holding and not empty:
        return "the arm is empty if it holds no block"
    if len(successor["clear"]) != len(successor["on-table"]):
        return (
            "there must be as many clear blocks as blocks on the table, because each tower has one block at its top and"
            " one at its bottom; a block that is held is neither clear nor on the table"
        )
    return ""


def is_goal(state, item):
    return all(
        {*map(_plain, item["goal"][name])} <= {*map(_plain, state[name])} for name in ("clear", "on-table", "on")
    )


def validate(path, search, item):
    if path is None:
        return "it can be solved, and no solution was found"
    if _facts(path[0]) != _facts(_state(item["state"])):
        return "it does not begin as the instance does"
    for number, (before, after) in enumerate(pairwise(path)):
        if _facts(after) not in [_facts(state) for state in _successors(_facts(before))]:
            return f"no action leads from state {number} to state {number + 1}"
    return "" if is_goal(path[-1], item) else "the last state is no goal"


def _successors(facts):
    """What the four actions make of a state."""
    clear, table, holding, on = facts["clear"], facts["on-table"], facts["holding"], facts["on"]
    if holding is None:
        for block in clear & table:  # pick up
            yield _made(clear - {block}, table - {block}, block, on)
        for upper, lower in on:  # unstack
            if upper in clear:
                yield _made(clear - {upper} | {lower}, table, upper, on - {(upper, lower)})
        return
    yield _made(clear | {holding}, table | {holding}, None, on)  # put down
    for block in clear:  # stack
        yield _made(clear - {block} | {holding}, table, None, on | {(holding, block)})


def _made(clear, table, holding, on):
    return {"clear": clear, "on-table": table, "arm-empty": holding is None, "holding": holding, "on": on}


def _facts(state):
    """The same however lists are ordered."""
    return {
        "clear": frozenset(state["clear"]),
        "on-table": frozenset(state["on-table"]),
        "arm-empty": bool(state["arm-empty"]),
        "holding": state["holding"] or None,
        "on": frozenset(map(tuple, state["on"])),
    }


def _state(found):
    """A state or a goal as Python has it: pairs are tuples."""
    return {**found, "on": [tuple(pair) for pair in found["on"]]}


def _plain(part):
    return tuple(part) if isinstance(part, list) else part
