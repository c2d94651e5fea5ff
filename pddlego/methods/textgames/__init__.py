"""Text games (the paper PDDLEGO): an agent keeps a PDDL problem of what it has seen, and plans with it."""

from pddlego.methods.lazy import LazyMethod
from pddlego.methods.textgames.modes import MODES

METHOD = LazyMethod("textgames", MODES, __name__, stand_ins="reader.make")
