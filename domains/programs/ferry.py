def get_plan(objects, init, goal):
    here = next(atom[1] for atom in init if atom[0] == "at-ferry")
    place = {atom[1]: atom[2] for atom in init if atom[0] == "at"}
    plan = []

    def sail(there):
        nonlocal here
        if here != there:
            plan.append(f"(sail {here} {there})")
            here = there

    for _, car, target in sorted(atom for atom in goal if atom[0] == "at"):
        if place[car] != target:
            sail(place[car])
            plan.append(f"(board {car} {here})")
            sail(target)
            plan.append(f"(debark {car} {here})")
    return plan
