"""The application that `openenv.yaml` names: what `pddlego serve coin --mode act` serves."""

from pddlego import Environment
from pddlego.trainers.openenv import Served, make_app

app = make_app(Served(Environment("coin", "act"), {}), sessions=128, idle=3600)
