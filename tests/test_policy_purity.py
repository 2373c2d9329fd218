"""`policy` is pure: its modules import data structures and pure functions, and touch nothing outside themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from policy_purity import impurities


def test_policy_modules_are_pure(root: Path) -> None:
    modules = sorted((root / "policy").rglob("*.py"))
    assert len(modules) >= 10
    assert [impurity for module in modules for impurity in impurities(module)] == []


@pytest.mark.parametrize(
    ("snippet", "impurity"),
    [
        ("import time", "1: import of time"),
        ("import datetime", "1: import of datetime"),
        ("import random", "1: import of random"),
        ("import os.path", "1: import of os.path"),
        ("import sys", "1: import of sys"),
        ("import io", "1: import of io"),
        ("from pathlib import Path", "1: import of pathlib"),
        ("import socket", "1: import of socket"),
        ("import subprocess", "1: import of subprocess"),
        ("import logging", "1: import of logging"),
        ("import threading", "1: import of threading"),
        ("import asyncio", "1: import of asyncio"),
        ("import secrets", "1: import of secrets"),
        ("import uuid", "1: import of uuid"),
        ("import locale", "1: import of locale"),
        ("import tempfile", "1: import of tempfile"),
        ("import builtins", "1: import of builtins"),
        ("import importlib", "1: import of importlib"),
        ("import pickle", "1: import of pickle"),
        ("import ctypes", "1: import of ctypes"),
        ("import numpy", "1: import of numpy"),
        ("import cython", "1: import of cython"),
        ("from harness.errors import FakbenchError", "1: import of harness.errors"),
        ("import array, time as t", "1: import of time"),
        ("def f():\n    import time", "2: import of time"),
        ("x = 1\n\nopen('f')", "3: use of open"),
        ("print(1)", "1: use of print"),
        ("input()", "1: use of input"),
        ("eval('1')", "1: use of eval"),
        ("exec('1')", "1: use of exec"),
        ("compile('1', '', 'eval')", "1: use of compile"),
        ("hash('a')", "1: use of hash"),
        ("id(1)", "1: use of id"),
        ("sorted([], key=hash)", "1: use of hash"),
        ("set([1])", "1: use of set"),
        ("frozenset([1])", "1: use of frozenset"),
        ("x: dict[str, set[int]] = {}", "1: use of set"),
        ("(1).__hash__()", "1: use of __hash__"),
        ("__import__('time')", "1: use of __import__"),
        ("globals()", "1: use of globals"),
        ("breakpoint()", "1: use of breakpoint"),
        ("x = {1, 2}", "1: set literal"),
        ("x = {y for y in (1, 2)}", "1: set comprehension"),
    ],
)
def test_an_impurity_is_named_with_its_line(tmp_path: Path, snippet: str, impurity: str) -> None:
    module = tmp_path / "module.py"
    module.write_text(snippet + "\n")
    assert impurities(module) == [f"{tmp_path.name}/module.py:{impurity}"]


def test_every_impurity_of_a_module_is_named_in_file_order(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("def f():\n    return {1}\n\nimport os\nprint(hash(1))\n")
    assert impurities(module) == [
        f"{tmp_path.name}/module.py:{impurity}"
        for impurity in ("2: set literal", "4: import of os", "5: use of hash", "5: use of print")
    ]


@pytest.mark.parametrize(
    "snippet",
    [
        "from array import array",
        "from collections.abc import Iterable",
        "from policy.tiers import HBM",
        "from . import tiers",
        "import hashlib",
        "x = {'a': 1}",
        "x = {y: y for y in (1, 2)}",
        "class Ttls:\n    def set(self): ...\nTtls().set()",
        "class Entry:\n    id: int = 0",
        "entry = None\nentry.id",
        "'''open(), print() and set() in words'''",
    ],
)
def test_what_only_looks_impure_is_allowed(tmp_path: Path, snippet: str) -> None:
    module = tmp_path / "module.py"
    module.write_text(snippet + "\n")
    assert impurities(module) == []
