"""Small faults put into solvers, certificates and loaders one at a time: do the tests that belong to them notice?

    python tests/robustness/mutants.py --count 100 --seed 0

A mutant is a copy of the package in which one operator, number or comparison of one line is another. It is killed where
the tests of its file fail, survives where they pass. Lines that only make errors' sentences, and docstrings, are left
alone. The copy lies in a directory of its own, so the checkout is never changed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS: dict[str, tuple[str, ...]] = {
    "certificate.py": ("tests/test_certificate.py",),
    "problem.py": ("tests/optimizers/test_optimizers_problem.py", "tests/conformance/test_optimizers.py"),
    "machines/margin/machine.py": (
        "tests/machines/test_margin.py",
        "tests/machines/test_factored.py",
        "tests/machines/test_working_samples.py",
        "tests/conformance/test_machines.py",
    ),
    "machines/margin/newton.py": ("tests/machines/test_margin.py",),
    "machines/support/certified.py": (
        "tests/machines/test_support_program.py",
        "tests/machines/test_support_machines.py",
        "tests/machines/test_working_samples.py",
        "tests/conformance/test_machines.py",
    ),
    "machines/support/program.py": (
        "tests/machines/test_support_program.py",
        "tests/machines/test_support_machines.py",
        "tests/machines/test_support_rounding.py",
    ),
    "machines/ridge/solved.py": (
        "tests/machines/test_ridge_along.py",
        "tests/machines/test_ridge_weighted.py",
        "tests/conformance/test_machines.py",
    ),
    "machines/ridge/along.py": ("tests/machines/test_ridge_along.py",),
    "machines/ridge/folds.py": ("tests/machines/test_ridge_folds.py",),
    "machines/ridge/smoother.py": (
        "tests/machines/test_ridge_smoother.py",
        "tests/procedures/test_evidence.py",
        "tests/test_path_choice.py",
    ),
    "domains/simplex.py": ("tests/domains/test_domains_simplex.py", "tests/conformance/test_domains.py"),
    "domains/ball.py": ("tests/domains/test_domains_ball.py", "tests/conformance/test_domains.py"),
    "procedures/simplex_least_squares.py": ("tests/procedures/test_simplex_least_squares.py",),
    "procedures/interior/newton.py": ("tests/procedures/test_interior.py", "tests/procedures/test_support_mkl.py"),
    "procedures/interior/saddle.py": ("tests/procedures/test_interior.py", "tests/procedures/test_support_mkl.py"),
    "persistence/archive.py": ("tests/test_model_files.py", "tests/test_persistence.py", "tests/golden"),
    "persistence/reader.py": ("tests/test_model_files.py", "tests/test_persistence.py", "tests/golden"),
    "persistence/checkpoint.py": ("tests/robustness/test_checkpoint.py",),
    "persistence/digest.py": ("tests/robustness/test_checkpoint.py",),
}
OTHERS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One fault: which node of a file, counted as the tree is walked."""

    file: str
    node: int
    line: int
    words: str


def candidates(file: str) -> Iterator[Mutant]:
    """Every fault that can be put into a file."""
    tree = ast.parse((ROOT / "src" / "multikernel" / file).read_text())
    left_alone = {
        id(each) for node in ast.walk(tree) if isinstance(node, ast.Raise | ast.JoinedStr) for each in ast.walk(node)
    }
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in left_alone and (words := faulty(node)) is not None:
            yield Mutant(file, number, getattr(node, "lineno", 0), words)


def faulty(node: ast.AST) -> str | None:
    """Change a node in place; what was changed, or None where there is nothing to change."""
    match node:
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in OTHERS:
            before, node.op = type(node.op), OTHERS[type(node.op)]()
            return f"{before.__name__} -> {type(node.op).__name__}"
        case ast.Compare() if type(node.ops[0]) in OTHERS:
            before, node.ops[0] = type(node.ops[0]), OTHERS[type(node.ops[0])]()
            return f"{before.__name__} -> {type(node.ops[0]).__name__}"
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
            return "-x -> +x"
        case ast.Constant() if isinstance(node.value, float) and node.value in (0.0, 0.5, 1.0, 2.0):
            before_value, node.value = node.value, node.value + 1.0
            return f"{before_value} -> {node.value}"
    return None


def passes(package: Path, file: str, limit: float = 240.0) -> bool:
    """Whether the tests of a file pass with a package; a run that takes too long is a failure."""
    environment = os.environ | {"PYTHONPATH": str(package.parent), "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *TESTS[file]]
    try:
        return not subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return False


def survives(mutant: Mutant, package: Path) -> bool:
    """Whether the tests of its file pass with the fault; the package is as before afterwards, compiled code and all."""
    file = package / mutant.file
    before, times = file.read_text(), file.stat()
    tree = ast.parse(before)
    faulty(list(ast.walk(tree))[mutant.node])
    try:
        file.write_text(ast.unparse(tree))
        return passes(package, mutant.file)
    finally:
        file.write_text(before)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="how many of them an earlier run has tried")
    given = parser.parse_args()
    every = [mutant for file in TESTS for mutant in candidates(file)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))[given.skip :]
    alive = []
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "multikernel"
        shutil.copytree(ROOT / "src" / "multikernel", package)
        for number, mutant in enumerate(chosen, given.skip + 1):
            lives = survives(mutant, package)
            alive += [mutant] * lives
            said = "SURVIVES" if lives else "killed  "
            print(f"{number} {said} {mutant.file}:{mutant.line} {mutant.words}", flush=True)
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants killed (of {len(every)} possible), seed {given.seed}")


if __name__ == "__main__":
    main()
