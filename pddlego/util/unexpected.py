"""Messages about unexpected exceptions: whether pddlego failed, or a package that adds a method, an engine, …"""

from __future__ import annotations

from pathlib import Path

from pddlego.errors import TOO_MANY_FILES, is_too_many_files, message_of

_GROUPS = ("methods", "engines", "readers", "commands", "planners")
"""The groups of entry points by which a package adds code."""


def explained(error: BaseException, package: str | None = None) -> str:
    """The message of `Ended` about an unexpected exception: a reached limit of open files, or whose code failed.

    `package` is that of the played method: it may be at fault without a line in the traceback.
    """
    if any(map(is_too_many_files, _chain(error))):
        return f"too many files are open at once. {TOO_MANY_FILES}"
    line, is_innermost = guest_line(error)
    if is_innermost:
        return f"an error in {line}: {_in_one_line(error)}"
    other = f", or in {line}, which called it" if line else f", or in package {package}" if package else ""
    return f"a bug in pddlego{other}: {_in_one_line(error)}"


def located(error: BaseException) -> str:
    """The exception and, if code of another package raised it, the package and the line."""
    line, _ = guest_line(error)
    return f"{line}: {_in_one_line(error)}" if line else _in_one_line(error)


def guest_line(error: BaseException) -> tuple[str, bool]:
    """The innermost line of another package in the traceback: `package guess (guess/__init__.py, line 9)`, or empty.

    The second value is False if that line called code of pddlego, which raised the exception.
    """
    from traceback import walk_tb

    from pddlego.util.resources import entry_points_of

    entries = (entry for group in _GROUPS for entry in entry_points_of(group))
    packages = {entry.value.partition(":")[0].partition(".")[0].strip(): entry.dist for entry in entries}
    is_innermost = True
    for frame, number in reversed(list(walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", ""))
        top = module.partition(".")[0]
        if top in packages:
            path, dist = Path(frame.f_code.co_filename), packages[top]
            file = "/".join(path.parts[-(module.count(".") + 1 + (path.name == "__init__.py")) :])
            return f"package {dist.name if dist else top} ({file}, line {number})", is_innermost
        is_innermost = is_innermost and top != "pddlego"
    return "", False


def _in_one_line(error: BaseException) -> str:
    first, *_ = message_of(error).splitlines() or [""]
    return f"{type(error).__name__}{': ' * bool(first)}{first}"


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and those that led to it: an error in handling a reached limit follows from the limit."""
    errors: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in errors:
        errors.append(following)
        following = following.__cause__ or following.__context__
    return errors
