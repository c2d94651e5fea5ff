"""Text games (the paper PDDLEGO): an agent keeps a PDDL problem of what it has seen, and plans with it."""

from pddlego.methods.base import LazyMethod
from pddlego.methods.textgames.options import MODES

METHOD = LazyMethod("textgames", MODES, __name__)
