def get_plan(objects, init, goal):
    above = {(atom[1], atom[2]) for atom in init if atom[0] == "above"}
    origin = {atom[1]: atom[2] for atom in init if atom[0] == "origin"}
    target = {atom[1]: atom[2] for atom in init if atom[0] == "destin"}
    lifts = sorted(atom[1] for atom in init if atom[0] == "lift-at")
    plan = []

    def same_building(one, other):
        return one == other or (one, other) in above or (other, one) in above

    def go(here, there):
        if here != there:
            plan.append(f"({'up' if (here, there) in above else 'down'} {here} {there})")

    for passenger in sorted(atom[1] for atom in goal if atom[0] == "served"):
        number = next(each for each, floor in enumerate(lifts) if same_building(floor, origin[passenger]))
        go(lifts[number], origin[passenger])
        plan.append(f"(board {origin[passenger]} {passenger})")
        go(origin[passenger], target[passenger])
        plan.append(f"(depart {target[passenger]} {passenger})")
        lifts[number] = target[passenger]
    return plan
