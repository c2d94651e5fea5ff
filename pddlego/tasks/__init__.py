"""Planning tasks: made by seeded generators, or read from a user's folder."""

from pddlego.tasks.folder import Split, Task, Tasks

__all__ = ["Split", "Task", "Tasks"]
