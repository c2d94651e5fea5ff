"""The client that `openenv push` wants in an environment: OpenEnv's own one is enough, for actions are JSON objects."""

from openenv.core.generic_client import GenericEnvClient

__all__ = ["GenericEnvClient"]
