class GoalCountHeuristic:
    """The number of goals that are not true."""

    def __init__(self, task):
        self.goals = task.goals

    def __call__(self, node):
        return len(self.goals - node.state)
