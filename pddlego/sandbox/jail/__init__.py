"""The code of the sandbox's own processes.

An interpreter without site packages loads these modules as the package `jail`, so they import nothing from the rest of
the package. The host process shares `values` with them.
"""
