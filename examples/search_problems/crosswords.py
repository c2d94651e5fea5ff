"""Mini crosswords: grids of five by five letters whose rows and columns are words, and other words as wrong answers.

The grids were filled by a program with words of Webster's second dictionary, which is in the public domain; the other
words are ours.
"""

from __future__ import annotations

import random

from examples.search_problems.items import Items

GRIDS = (
    "goose anvil fiend forge enter",
    "bread river apery genie inter",
    "grave ripen abort terse ester",
    "gloom ultra eater smear tardy",
    "while human ambit route freyr",
    "lever exile pecan urate strew",
    "drove relax afire fever tract",
    "eager crave lapel arena tasty",
    "shave total ultra fleet force",
    "swarm movie omega tarot entry",
    "brawl repay aloft caret extra",
    "delta alarm madia atlas needs",
    "chart radar evade sepia trait",
    "score times avast liner elite",
    "staff minor alive reset treat",
    "needs anvil stare sedge areek",
    "breed liner usure feria freed",
    "sight throe arena labor emery",
    "ghost lathe aster steer serry",
    "lathe ashen stilt serve order",
    "query undue arena times apart",
    "scoff tumor urare fence fried",
    "flake risen onset seave trier",
    "harem unite tight clear hello",
)
"""The rows of each grid."""

WORDS = tuple(
    """
    abode about abuse actor adept agent aisle alder alert alien allay aloft along amber amend ample angle
    anise annoy ant apart arena arise ascot asked askew aspen avail awake bases baste batch bee beech begun
    below berry bird birth blaze bleak bless blind blown boat bogus brain brake brave brine broom brush bugle
    burnt carol chain chalk champ chase check cheek chick choir choke chorus cigar class clean click cling
    clone close cloth cloud couch cover crash crate crave crawl craze crazy creep crime crook cross crowd
    cumin cycle dandy debit debut decal decoy depth derby deter dinner ditch ditto doing donkey doubt drape
    dread dress drier drift drill drink drive droll druid ebony elate elite elude embed emery empty erect
    erode evade every evoke false farce ferry fig fire fixed flask fluke flung forum frame fraud freak frisk
    front frost froth froze gamer gamut garden giant glide gloat glove going grade grant grasp grass gravy
    grief grime groin gross group guess guest gusto habit harem haunt haven heart heath heave hedge hen hence
    hoard hobby honey horse house hurry ice icing idiom image imbue inane inert inlet irate island islet issue
    itchy jam jelly kite kitten knock knoll lake latch lathe layer leafy leave lemon leper lever libel liege
    links lithe lives lodge lower lucid lunar lunch major maker mango manor marble march marsh meant media
    melee mercy merit meter might minor mist mocha model money moral motel motor mover movie mural naive nasal
    nasty naval nerve nest noble notch noted oak onions ounce outer overt oxide ozone panel panic paper parer
    pause peace pear pearl penal pepper perky petal phone piano pit pitch place plane plead pluck plump prank
    prick primp proud pulse punch quail quarry quite quota quote racer radio rain raise range reach rebel
    refer relax renew repay reply resin revel rhyme ribbon ridge rifle right rigid rinse ripen riser river
    robot rogue rotor rouse royal ruler rural salt salty satin sauna scald scare serve setup shake shall shard
    sheer shine ship shred shrub sieve sight silly silver sized skirt slack sleet slept slime slump slush
    smart smell snack snide sober solar space spade spark spell spoil spore sprig squad squid stage stand
    stare start steak steal steam steed stick still stilt sting stink stork storm straw sugar sun surge sweet
    swing swore sworn table taint taken tamer tango taper tardy tarot tawny teach teapot teeth terse thank
    theft there threw throb tilde timer tin tired torch torso touch tough tower train trait trawl tress tribe
    trunk truth turnip tweet twice twine ulcer uncle under undue unite untie upper van vegan vicar vigor vinyl
    violin viper visor vocal vodka voice waist walnut water waver weary weigh weird whine white wield wolf
    write wrote yacht yak yield young zoo
    """.split()  # noqa: SIM905 -- a list of hundreds of words is read more easily as text
)
"""Words among which the right one is hidden; some have not five letters."""

ANSWERS = 5
"""Possible answers for each row and each column."""

Cells = list[str | None]
Grid = list[Cells]


def puzzle(rows: list[str], source: random.Random) -> dict[str, list[list[str]]]:
    """The right words of a grid among others, for each row and each column."""

    def among_others(word: str) -> list[str]:
        others = source.sample([candidate for candidate in WORDS if candidate != word], ANSWERS - 1)
        words = [word, *others]
        source.shuffle(words)
        return words

    columns = ["".join(row[place] for row in rows) for place in range(5)]
    return {
        "horizontal_answers": [among_others(word) for word in rows],
        "vertical_answers": [among_others(word) for word in columns],
    }


def fits(word: str, cells: list[str | None]) -> bool:
    """Whether a word can be written into cells, and fills at least one of them."""
    agrees = all(cell in (None, letter) for cell, letter in zip(cells, word, strict=False))
    return len(word) == 5 and None in cells and agrees


def known_successors(state: Grid, item: dict[str, list[list[str]]]) -> list[Grid]:
    """Every grid with one row or one column more."""
    states = []
    for place in range(5):
        for word in dict.fromkeys(item["horizontal_answers"][place]):
            if fits(word, state[place]):
                written: Grid = [list(cells) for cells in state]
                written[place] = list(word)
                states.append(written)
        for word in dict.fromkeys(item["vertical_answers"][place]):
            if fits(word, [cells[place] for cells in state]):
                written = [list(cells) for cells in state]
                for row, letter in enumerate(word):
                    written[row][place] = letter
                states.append(written)
    return states


def crosswords() -> Items:
    """Twenty puzzles, two for the searches of the tests, and three states with known successors."""
    source = random.Random("crosswords")
    puzzles = [puzzle(rows.split(), source) for rows in GRIDS]
    solved = [[list(row) for row in rows.split()] for rows in GRIDS]
    goals, wrong, known = [], [], []
    for number in range(3):
        item, grid = puzzles[number], solved[number]
        goals.append({"state": grid, **item})
        one_empty: Grid = [list(row) for row in grid]
        one_empty[number][4] = None
        other: Grid = [list(row) for row in grid]
        other[4 - number] = list("zzzzz")
        wrong += [{"state": one_empty, **item}, {"state": other, **item}]
        partial: Grid = [[None] * 5 for _ in range(5)]
        partial[number + 1] = list(grid[number + 1])
        for row in range(5):
            partial[row][number] = grid[row][number]
        known.append({"state": partial, "successors": known_successors(partial, item), **item})
    turned = {
        "horizontal_answers": puzzles[0]["vertical_answers"],
        "vertical_answers": puzzles[0]["horizontal_answers"],
    }
    wrong.append({"state": solved[0], **turned})
    return {
        "goals": goals,
        "non_goals": wrong,
        "successors": known,
        "soundness": puzzles[:2],
        "instances": puzzles[2:22],
    }
