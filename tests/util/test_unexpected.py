"""What is reported about an unexpected exception, and whose code it names."""

from __future__ import annotations

import errno

from pddlego.util.unexpected import explained


def _limit() -> OSError:
    return OSError(errno.EMFILE, "Too many open files")


def test_an_error_that_follows_from_a_limit_is_called_by_the_limit() -> None:
    # jinja2 imports a module of its own when a template cannot be read, and with no file left that fails, too.
    try:
        try:
            raise _limit()
        except OSError:
            raise ImportError("cannot import name 'rewrite_traceback_stack' from 'jinja2.debug'")  # noqa: B904
    except ImportError as error:
        assert explained(error).startswith("too many files are open at once")
    caused = RuntimeError("the pool is broken")
    caused.__cause__ = _limit()
    assert explained(caused).startswith("too many files are open at once")


def test_anything_else_is_a_bug_in_pddlego_or_in_the_package_of_the_method() -> None:
    error = ValueError("no such rung\nand more")
    error.__context__ = KeyError("rung")
    assert explained(error, "parlour") == "a bug in pddlego, or in package parlour: ValueError: no such rung"
    error.__context__ = error  # nothing that a method does with its errors may hang the border
    assert explained(error) == "a bug in pddlego: ValueError: no such rung"
