def get_plan(objects, init, goal):
    base = next(atom[1] for atom in init if atom[0] == "home-base")
    here = next(atom[1] for atom in init if atom[0] == "at")
    papers = sorted(atom[1] for atom in init if atom[0] == "unpacked")
    satisfied = {atom[1] for atom in init if atom[0] == "satisfied"}
    customers = sorted(atom[1] for atom in goal if atom[0] == "satisfied" and atom[1] not in satisfied)
    plan = []
    if customers and here != base:
        plan.append(f"(move {here} {base})")
        here = base
    plan += [f"(pick-up {paper} {base})" for paper in papers[: len(customers)]]
    for paper, customer in zip(papers, customers):
        if here != customer:
            plan.append(f"(move {here} {customer})")
        plan.append(f"(deliver {paper} {customer})")
        here = customer
    return plan
