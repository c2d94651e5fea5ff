"""24 Game."""


def successors(state):
    results = []
    for i in range(len(state)):
        for j in range(len(state)):
            if i == j:
                continue
            rest = [number for place, number in enumerate(state) if place not in (i, j)]
            x, y = state[i], state[j]
            results.append([*rest, x - y])
            if y != 0:
                results.append([*rest, x / y])
            if i < j:
                results.append([*rest, x + y])
                results.append([*rest, x * y])
    return results


def is_goal(state):
    return len(state) == 1 and abs(state[0] - 24) < 1e-6
