def get_plan(objects, init, goal):
    lighter = {}
    for atom in init:
        if atom[0] == "heavier":
            lighter[atom[1]] = lighter.get(atom[1], 0) + 1
    items = sorted((atom[1] for atom in goal if atom[0] == "packed"), key=lambda item: -lighter.get(item, 0))
    plan = [f"(pack-first {items[0]})"] if items else []
    return plan + [f"(stack {below} {item})" for below, item in zip(items, items[1:])]
