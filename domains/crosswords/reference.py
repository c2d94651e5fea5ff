"""Mini crosswords."""


def successors(state, horizontal_answers, vertical_answers):
    def fits(word, cells):
        if len(word) != len(cells) or None not in cells:
            return False
        return all(cell is None or cell == letter for cell, letter in zip(cells, word))

    results = []
    for place in range(len(state)):
        for word in horizontal_answers[place]:
            if fits(word, state[place]):
                results.append([list(word) if row == place else list(cells) for row, cells in enumerate(state)])
        for word in vertical_answers[place]:
            if fits(word, [cells[place] for cells in state]):
                filled = [list(cells) for cells in state]
                for row in range(len(state)):
                    filled[row][place] = word[row]
                results.append(filled)
    return results


def is_goal(state, horizontal_answers, vertical_answers):
    if any(cell is None for row in state for cell in row):
        return False
    rows = ["".join(row) for row in state]
    columns = ["".join(row[place] for row in state) for place in range(len(state))]
    return all(word in words for word, words in zip(rows + columns, horizontal_answers + vertical_answers))
