class DeliveryHeuristic:
    """Actions that are still needed, if papers are fetched first and then delivered one by one. It is direct."""

    def __init__(self, task):
        self.goals = {fact.strip("()").split()[1] for fact in task.goals}
        self.bases = {
            fact.strip("()").split()[1] for fact in task.static | task.initial_state if fact.startswith("(home-base ")
        }

    def __call__(self, node):
        place, satisfied, carried = None, set(), 0
        for fact in node.state:
            name, thing = fact.strip("()").split()[:2]
            if name == "at":
                place = thing
            elif name == "satisfied":
                satisfied.add(thing)
            elif name == "carrying":
                carried += 1
        wanting = self.goals - satisfied
        if not wanting:
            return 0
        missing = len(wanting) - carried
        if missing > 0:
            return 2 * len(wanting) + missing + (0 if place in self.bases else 1)
        return 2 * len(wanting) - (place in wanting)
