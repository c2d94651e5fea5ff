def get_plan(objects, init, goal):
    trail = {atom[1]: atom[2] for atom in init if atom[0] == "trail"}
    hills = {atom[1] for atom in init if atom[0] == "hill"}
    here = next(atom[1] for atom in init if atom[0] == "at")
    target = next(atom[1] for atom in goal if atom[0] == "at")
    plan = []
    while here != target:
        following = trail[here]
        action = "climb" if following in hills else "walk"
        plan.append(f"({action} {here} {following})")
        here = following
    return plan
