"""What is right in deduction: what `read` gives to the functions, transitions, goals and solutions.

With the option `allow_same` a state may be its own successor.
"""

from itertools import pairwise


def read(item):
    """An instance is two searches: one for what is asked, and one for its opposite."""
    found = {"state": set(item["state"])}
    if "rules" in item:
        found["successor_arguments"] = [[tuple(rule) for rule in item["rules"]]]
    if "successors" in item:
        found["successors"] = [set(state) for state in item["successors"]]
    if "query" in item:
        return [{**found, "goal_arguments": [fact]} for fact in (item["query"], _opposite(item["query"]))]
    return {**found, "goal_arguments": [item["goal"]]} if "goal" in item else found


def check(state, successor, item):
    if OPTIONS.get("allow_same") and state == successor:  # noqa: F821 -- the options of the setting
        return ""
    if len(successor) == len(state) + 1:
        return ""
    return "a successor has exactly one fact more than its state, because one rule is applied"


def validate(path, search, item):
    if path is None:
        return "the question can be answered, and neither what is asked nor its opposite was derived"
    if (search == 0) != item["answer"]:
        return f"the answer is {item['answer']}, and the opposite was derived"
    facts, rules = set(item["state"]), [tuple(rule) for rule in item["rules"]]
    if set(path[0]) != facts:
        return "it does not begin with the facts of the instance"
    for number, (before, after) in enumerate(pairwise(path)):
        new = set(after) - set(before)
        if not set(before) <= set(after) or not all(_follows(fact, before, rules) for fact in new):
            return f"no rule leads from state {number} to state {number + 1}"
    wanted = item["query"] if search == 0 else _opposite(item["query"])
    return "" if wanted in path[-1] else f"'{wanted}' is not among the last facts"


def _follows(fact, before, rules):
    return any(then == fact and condition in before for condition, then in rules)


def _opposite(literal):
    return literal[4:] if literal.startswith("not-") else f"not-{literal}"
