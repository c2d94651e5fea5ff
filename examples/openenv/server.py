"""The application that `openenv.yaml` names: what `pddlego serve coin --mode act` serves.

Clients need the token in the environment variable `PDDLEGO_SERVE_TOKEN`.
"""

import os

from pddlego import Environment
from pddlego.trainers.openenv import Served, make_app

app = make_app(Served(Environment("coin", "act"), {}), sessions=128, idle=3600, token=os.environ["PDDLEGO_SERVE_TOKEN"])
