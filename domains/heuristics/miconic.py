class MiconicHeuristic:
    """Stops of the lifts that are still needed: 4 for a passenger who waits, and 2 for one in a lift. It is direct."""

    def __init__(self, task):
        self.origin, self.destination = {}, {}
        for fact in task.static | task.initial_state:
            name, *args = fact.strip("()").split()
            if name == "origin":
                self.origin[args[0]] = args[1]
            elif name == "destin":
                self.destination[args[0]] = args[1]
        self.wanted = {fact.strip("()").split()[1] for fact in task.goals}

    def __call__(self, node):
        lifts, boarded, served = set(), set(), set()
        for fact in node.state:
            name, thing = fact.strip("()").split()[:2]
            if name == "lift-at":
                lifts.add(thing)
            elif name == "boarded":
                boarded.add(thing)
            elif name == "served":
                served.add(thing)
        value, useful = 0, False
        for passenger in self.wanted - served:
            value += 2 if passenger in boarded else 4
            stop = self.destination if passenger in boarded else self.origin
            useful = useful or stop[passenger] in lifts
        return value - useful
