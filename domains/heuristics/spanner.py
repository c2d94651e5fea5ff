from collections import deque


class SpannerHeuristic:
    """Nuts to tighten, spanners to pick up, and steps to the last nut. It is direct.

    A state is a dead end if a loose nut is behind the man, or if too few spanners are left on the way to a nut.
    """

    def __init__(self, task):
        facts = [fact.strip("()").split() for fact in sorted(task.facts | task.static)]
        self.man = next((words[1] for words in facts if words[0] == "carrying"), None)
        self.nuts = {words[1] for words in facts if words[0] == "loose"}
        self.place = {words[1]: words[2] for words in facts if words[0] == "at" and words[1] in self.nuts}
        self.goals = {fact.strip("()").split()[1] for fact in task.goals}
        self.links = {}
        for words in facts:
            if words[0] == "link":
                self.links.setdefault(words[1], []).append(words[2])
        self.known = {}

    def steps_from(self, place):
        """The number of steps from a place to each place that can be reached."""
        if place not in self.known:
            steps, waiting = {place: 0}, deque([place])
            while waiting:
                here = waiting.popleft()
                for there in self.links.get(here, ()):
                    if there not in steps:
                        steps[there] = steps[here] + 1
                        waiting.append(there)
            self.known[place] = steps
        return self.known[place]

    def __call__(self, node):
        at, carried, usable, loose = {}, set(), set(), []
        for fact in node.state:
            name, *args = fact.strip("()").split()
            if name == "at":
                at[args[0]] = args[1]
            elif name == "carrying":
                carried.add(args[1])
            elif name == "usable":
                usable.add(args[0])
            elif name == "loose" and args[0] in self.goals:
                loose.append(args[0])
        steps = self.steps_from(at[self.man]) if self.man in at else {}
        if any(self.place[nut] not in steps for nut in loose):
            return float("inf")
        in_hand = len(usable & carried)
        ahead = [steps[at[spanner]] for spanner in usable - carried if at.get(spanner) in steps]
        distances = sorted(steps[self.place[nut]] for nut in loose)
        for number, distance in enumerate(distances, start=1):
            if number > in_hand + sum(other <= distance for other in ahead):
                return float("inf")
        return len(loose) + max(0, len(loose) - in_hand) + (distances[-1] if distances else 0)
