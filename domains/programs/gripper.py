def get_plan(objects, init, goal):
    balls = {atom[1] for atom in init if atom[0] == "ball"}
    hands = sorted(atom[1] for atom in init if atom[0] == "gripper")
    robot = next(atom[1] for atom in init if atom[0] == "robot-at")
    place = {atom[1]: atom[2] for atom in init if atom[0] == "at"}
    wanted = {atom[1]: atom[2] for atom in goal if atom[0] == "at"}
    left = sorted(ball for ball in balls if ball in wanted and place[ball] != wanted[ball])
    plan = []

    def go(room):
        nonlocal robot
        if robot != room:
            plan.append(f"(move {robot} {room})")
            robot = room

    while left:
        first = left[0]
        same = [ball for ball in left if place[ball] == place[first] and wanted[ball] == wanted[first]]
        load = list(zip(same, hands))
        go(place[first])
        plan += [f"(pick {ball} {robot} {hand})" for ball, hand in load]
        go(wanted[first])
        plan += [f"(drop {ball} {robot} {hand})" for ball, hand in load]
        left = [ball for ball in left if ball not in {taken for taken, _ in load}]
    return plan
