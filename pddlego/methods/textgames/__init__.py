"""Text games (the paper PDDLEGO): an agent keeps a PDDL problem of what it has seen, and plans with it."""

from pddlego.methods.base import lazy_method
from pddlego.methods.textgames.options import MODES

METHOD = lazy_method("textgames", MODES, __name__)
