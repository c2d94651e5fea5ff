class BlocksHeuristic:
    """Hand movements that are still needed. It is direct: some action always decreases it by at least 1.

    A block is in place if its own position and those of all blocks below it do not contradict the goal.
    """

    def __init__(self, task):
        self.below = {}
        for fact in task.goals:
            name, *blocks = fact.strip("()").split()
            if name == "on":
                self.below[blocks[0]] = blocks[1]
            elif name == "on-table":
                self.below[blocks[0]] = None
        self.above = {below: block for block, below in self.below.items() if below is not None}

    def __call__(self, node):
        under, clear, held = {}, set(), None
        for fact in node.state:
            name, *blocks = fact.strip("()").split()
            if name == "on":
                under[blocks[0]] = blocks[1]
            elif name == "on-table":
                under[blocks[0]] = None
            elif name == "clear":
                clear.add(blocks[0])
            elif name == "holding":
                held = blocks[0]
        in_place = {}

        def check(block):
            path = []
            while block is not None and block not in in_place:
                path.append(block)
                block = under.get(block)
            for block in reversed(path):
                below = under[block]
                fits = self.below.get(block, below) == below and self.above.get(below, block) == block
                in_place[block] = fits and (below is None or in_place.get(below, False))

        for block in under:
            check(block)
        value = 0
        for block, right in in_place.items():
            if not right:
                goal = self.below.get(block)
                value += (0 if under[block] is None else 2) + (0 if goal is None else 2)
        if held is not None:
            goal = self.below.get(held)
            ready = goal is not None and in_place.get(goal, False) and goal in clear
            value += 1 if goal is None or ready else 3
        return value
