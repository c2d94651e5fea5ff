"""Deduction."""


def successors(state, rules):
    return [state | {then} for condition, then in rules if condition in state and then not in state]


def is_goal(state, target):
    return target in state
