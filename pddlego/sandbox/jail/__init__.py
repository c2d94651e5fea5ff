"""What runs in the sandbox's own processes.

Nothing here imports anything of the rest of the package: these modules are loaded by themselves, as the package
`jail`, by an interpreter without site packages. What the host shares with them is `values`.
"""
