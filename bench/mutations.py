"""Do the tests notice a wrong rule? python -m bench.mutations [--count 60] [--seed 1] [--only olk] [--jobs 1].

Each mutant changes one place of the learners' compiled code: a comparison, an operator, a number, `min` to `max`, a
statement left out. The tests marked `compiled` run on it as plain Python, in a copy of the repository. Where they pass,
the mutant survives: a test is missing, or the two programs do the same. Exit status 1 if any survived.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = Path("bgsub/learners/_jit")
FIRST = {
    "lms": "test_filters.py",
    "classes": "test_many_classes.py",
    "krls_t": "test_filters.py",
    "krls": "test_regressors.py",
    "linear": "test_members.py",
    "members": "test_members.py",
    "kernel_perceptrons": "test_perceptrons.py",
    "forgetron": "test_perceptrons.py",
    "norma": "test_norma.py",
    "olk": "test_olk.py",
    "projectron": "test_projectron.py",
    "rows": "test_many_classes.py",
    "svmd": "test_svmd.py",
}
"""Tests that are likely to fail, by what is changed; the others follow."""
LIMIT_S = 400

_COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
_BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_NAMES = {"min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """One place to change, and the how-many-th change of it."""

    path: Path
    node: int
    change: int

    def place(self) -> tuple[str, int, str, str]:
        """Return module, line, and the text there before and after."""
        node = list(ast.walk(ast.parse(self.path.read_text(encoding="utf-8"))))[self.node]
        new = list(changed(node))[self.change]
        return self.path.name, getattr(node, "lineno", 0), ast.unparse(node), ast.unparse(new)

    def source(self) -> str:
        """Return the whole changed module."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = list(ast.walk(tree))[self.node]
        return ast.unparse(ast.fix_missing_locations(_Replace(node, list(changed(node))[self.change]).visit(tree)))


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes that may stand in the place of one."""
    new = copy.deepcopy(node)
    if isinstance(new, ast.Compare) and len(new.ops) == 1 and type(new.ops[0]) in _COMPARE:
        new.ops = [_COMPARE[type(new.ops[0])]()]
        yield new
    elif isinstance(new, ast.BinOp | ast.AugAssign) and type(new.op) in _BINARY:
        new.op = _BINARY[type(new.op)]()
        yield new
        if isinstance(new, ast.AugAssign):
            yield ast.Pass()
    elif isinstance(new, ast.BoolOp):
        new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        yield new
    elif isinstance(new, ast.Constant) and isinstance(new.value, float) and new.value:
        new.value *= 0.8
        yield new
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.USub):
        yield new.operand
    elif isinstance(new, ast.Name) and new.id in _NAMES:
        new.id = _NAMES[new.id]
        yield new
    elif isinstance(new, ast.Assign) and isinstance(new.targets[0], ast.Attribute | ast.Subscript):
        yield ast.Pass()


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of the functions and numbers of a module."""
    for index, node in enumerate(ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
        yield from (Mutant(path, index, change) for change, _ in enumerate(changed(node)))


def survives(mutant: Mutant) -> bool:
    """Run the tests on one mutant."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder)
        for part in ("bgsub", "tests"):
            shutil.copytree(ROOT / part, copied / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copied)
        (copied / mutant.path.relative_to(ROOT)).write_text(mutant.source(), encoding="utf-8")
        likely = ("test_rules.py", "test_losses.py", FIRST.get(mutant.path.stem, "test_classifiers.py"))
        found = (next((copied / "tests/learners").rglob(name)) for name in likely)
        tests = [*(str(path.relative_to(copied)) for path in found), "tests/learners"]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "compiled", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, "PYTHONPATH": folder, "NUMBA_DISABLE_JIT": "1"}
        try:
            done = subprocess.run(
                command, cwd=copied, env=environment, timeout=LIMIT_S, check=False, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return False  # it never ends: noticed
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.returncode == 0


def main() -> int:
    """Make mutants, run the tests on each, print the survivors and the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="number of mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of the modules to change")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    paths = [path for path in sorted((ROOT / FOLDER).rglob("*.py")) if given.only in path.name]
    every = [mutant for path in paths for mutant in mutants_of(path)]
    drawn = random.Random(given.seed).sample(every, min(given.count, len(every)))  # noqa: S311
    alive = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for mutant, survived in zip(drawn, pool.map(survives, drawn), strict=True):
            alive += survived
            verdict = "SURVIVED" if survived else "killed"
            name, line, before, after = mutant.place()
            print(f"{verdict:8} {name}:{line}  {before}  ->  {after}", flush=True)
    print(f"{len(drawn) - alive} of {len(drawn)} mutants killed, {len(every)} possible")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main())
