"""The application that `openenv.yaml` names: what `pddlego serve coin --mode act` serves.

Clients need the token in the environment variable `PDDLEGO_SERVE_TOKEN`.
"""

import os

from pddlego import Environment
from pddlego.trainers.openenv import Served, ServerAccess, make_app

access = ServerAccess(token=os.environ["PDDLEGO_SERVE_TOKEN"], public=True)
app = make_app(Served(Environment("coin", "act"), {}), sessions=128, idle=3600, access=access)
