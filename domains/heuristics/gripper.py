class GripperHeuristic:
    """Actions that are still needed, if the robot carries the balls one by one. It is direct."""

    def __init__(self, task):
        self.goals = {}
        for fact in task.goals:
            name, *args = fact.strip("()").split()
            if name == "at":
                self.goals[args[0]] = args[1]

    def __call__(self, node):
        room, at, carried = None, {}, []
        for fact in node.state:
            name, *args = fact.strip("()").split()
            if name == "robot-at":
                room = args[0]
            elif name == "at":
                at[args[0]] = args[1]
            elif name == "carry":
                carried.append(args[0])
        value = sum(4 for ball, place in at.items() if self.goals.get(ball, place) != place)
        value += sum(2 for ball in carried)
        if carried:
            useful = any(self.goals.get(ball, room) == room for ball in carried)
        else:
            useful = any(place == room and self.goals.get(ball, place) != place for ball, place in at.items())
        return value - useful
