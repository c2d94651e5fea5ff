def get_plan(objects, init, goal):
    man = next(name for name, kind in objects if kind == "man")
    kinds = dict(objects)
    place = {atom[1]: atom[2] for atom in init if atom[0] == "at"}
    following = {atom[1]: atom[2] for atom in init if atom[0] == "link"}
    usable = {atom[1] for atom in init if atom[0] == "usable"}
    wanted = {atom[1] for atom in goal if atom[0] == "tightened"}
    here, carried, plan = place[man], [], []
    while True:
        things = sorted(name for name, where in place.items() if where == here and name != man)
        for spanner in (name for name in things if kinds[name] == "spanner" and name in usable):
            plan.append(f"(pick-up {here} {spanner} {man})")
            carried.append(spanner)
        for nut in (name for name in things if name in wanted):
            plan.append(f"(tighten {here} {carried.pop()} {man} {nut})")
            wanted.discard(nut)
        if not wanted or here not in following:
            return plan
        plan.append(f"(walk {here} {following[here]} {man})")
        here = following[here]
