"""Words of Cooking World: what can be done with a food, and with what."""

from __future__ import annotations

PREPARED = {
    "slice": "sliced",
    "chop": "chopped",
    "dice": "diced",
    "fry": "fried",
    "roast": "roasted",
    "grill": "grilled",
}
"""What a direction of the recipe, or an answer of the game, makes of a food."""

CUTS = ("slice", "chop", "dice")
"""What takes a knife."""

HEATERS = {"fry": ("stove",), "roast": ("oven",), "grill": ("toaster", "barbeque")}
"""With what a food is heated: any one of these."""

APPLIANCES = tuple(name for names in HEATERS.values() for name in names)
