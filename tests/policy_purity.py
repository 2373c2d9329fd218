"""Reads `policy` modules without running them and says, with `file:line`, what a pure module may not contain.

What may be imported is listed, and everything else is refused: a list of what is forbidden would always be one short.
"""

from __future__ import annotations

import ast
from pathlib import Path

# Of the standard library: data structures and pure functions. No clock, file, environment, process, thread or chance.
ALLOWED_IMPORTS = (
    "__future__",
    "abc",
    "array",
    "bisect",
    "collections",
    "dataclasses",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "math",
    "operator",
    "policy",
    "struct",
    "typing",
)

FORBIDDEN_NAMES = (
    "__builtins__",
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "exit",
    "frozenset",
    "globals",
    "hash",
    "id",
    "input",
    "locals",
    "open",
    "print",
    "quit",
    "set",
    "vars",
)

FORBIDDEN_ATTRIBUTES = ("__builtins__", "__hash__", "__import__", "__subclasses__")


def impurities(path: Path) -> list[str]:
    """What in the module at `path` is not pure, in file order, each as `file:line: what`."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=path.name)
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        found.extend((node.lineno, what) for what in _impurities_of(node) if isinstance(node, ast.stmt | ast.expr))
    return [f"{path.parent.name}/{path.name}:{line}: {what}" for line, what in sorted(found)]


def _impurities_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [f"import of {alias.name}" for alias in node.names if not _allowed(alias.name)]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [] if _allowed(node.module or "") else [f"import of {node.module}"]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in FORBIDDEN_NAMES:
        return [f"use of {node.id}"]
    if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES:
        return [f"use of {node.attr}"]
    if isinstance(node, ast.Set):
        return ["set literal"]
    if isinstance(node, ast.SetComp):
        return ["set comprehension"]
    return []


def _allowed(module: str) -> bool:
    return module.partition(".")[0] in ALLOWED_IMPORTS
