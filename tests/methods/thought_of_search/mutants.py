"""Makes functions wrong on purpose: a comparison turned, a condition dropped, a number off by one, a copy left out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}

_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitOr: ast.BitAnd,
}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Every function that differs from the one of that text in one place: what was done, and its text."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for name in _changes(node):
            changed = copy.deepcopy(tree)
            target = next(item for place, item in enumerate(ast.walk(changed)) if place == number)
            line = getattr(node, "lineno", 0)
            _apply(name, target, changed)
            yield f"{name} in line {line}", ast.unparse(ast.fix_missing_locations(changed))


def _changes(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED:
        return ["a comparison turned"]
    if isinstance(node, ast.BoolOp):
        return ["'and' and 'or' swapped", "a condition dropped"]
    if isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
        return ["an operator swapped"]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ["a number off by one"]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ["a statement dropped"]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "list"
        and len(node.args) == 1
    ):
        return ["a copy left out"]
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
        return ["the first result dropped", "the argument changed"]
    return []


def _apply(name: str, node: ast.AST, tree: ast.Module) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _TURNED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp) and "swapped" in name:
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.BoolOp):
        node.values.pop()
    elif isinstance(node, ast.BinOp):
        node.op = _SWAPPED[type(node.op)]()
    elif isinstance(node, ast.Constant):
        assert isinstance(node.value, int)
        node.value += 1
    elif isinstance(node, ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        node.func.id = "_same"
        tree.body.append(ast.parse("def _same(value):\n    return value").body[0])
    elif isinstance(node, ast.Return) and "result" in name:
        assert isinstance(node.value, ast.Name)
        node.value = ast.Subscript(ast.Name(node.value.id, ast.Load()), ast.Slice(ast.Constant(1)), ast.Load())
    elif isinstance(node, ast.Return):
        assert isinstance(node.value, ast.Name)
        spoil = "(state.clear() if hasattr(state, 'clear') else None)"
        node.value = ast.parse(f"({node.value.id}, {spoil})[0]", mode="eval").body
