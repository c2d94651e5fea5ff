class FerryHeuristic:
    """Actions that are still needed, if every car is carried by itself. It is direct."""

    def __init__(self, task):
        self.goals = {}
        for fact in task.goals:
            name, *args = fact.strip("()").split()
            if name == "at":
                self.goals[args[0]] = args[1]

    def __call__(self, node):
        at, ferry, aboard = {}, None, None
        for fact in node.state:
            name, *args = fact.strip("()").split()
            if name == "at":
                at[args[0]] = args[1]
            elif name == "at-ferry":
                ferry = args[0]
            elif name == "on":
                aboard = args[0]
        value = 0
        for car, place in at.items():
            if self.goals.get(car, place) != place:
                value += 4
        if aboard is not None:
            there = self.goals.get(aboard, ferry)
            return value + (1 if there == ferry else 2)
        waits_here = any(place == ferry and self.goals.get(car, place) != place for car, place in at.items())
        return value - waits_here
