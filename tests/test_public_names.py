"""The applications and the experiments use what the library gives to everybody, so that everybody can write them."""

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import multikernel
from multikernel.banks import DenseGram
from multikernel.certificate import Certificate
from multikernel.kernels import Standardize
from multikernel.machines import HingeMachine
from multikernel.observer import Progress

HOME = Path(multikernel.__file__).parent
FILES = [path for room in ("app", "reproduce") for path in sorted((HOME / room).rglob("*.py"))]


def foreign_imports(tree):
    """Module and name of what a file imports from other rooms of the package."""
    for node in ast.walk(tree):
        module = getattr(node, "module", None) or ""
        inside = module.startswith(("multikernel.app", "multikernel.reproduce"))
        if isinstance(node, ast.ImportFrom) and module.split(".")[0] == "multikernel" and not inside:
            yield from ((module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOME)))
def test_names_and_attributes_are_public(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for module, name in foreign_imports(tree):
        assert not any(part.startswith("_") for part in (*module.split("."), name)), f"{module}: {name}"
        exported = getattr(import_module(module), "__all__", None)
        if module.count(".") == 1 and exported is not None:
            assert name in exported, f"{module} does not export {name}"
    private = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    ]
    own = ("self._", "cls._", "os._exit")
    assert [each for each in private if not each.startswith(own)] == []


def test_former_names_give_a_warning():
    progress = Progress("model", 1, 1, 3, Certificate("duality gap", 0.5), 1e-3, 0.0, 1.0)
    with pytest.warns(FutureWarning, match="progress.summary"):
        assert progress.told == progress.summary
    with pytest.warns(FutureWarning, match="encoding.notation"):
        assert Standardize().around("k") == Standardize().notation("k")
    gram, y = DenseGram(np.eye(4)), np.array([1.0, -1.0, 1.0, -1.0])
    machine = HingeMachine()
    program = machine.program(y)
    start = machine.solve_program(gram, program).warm
    with pytest.warns(FutureWarning, match="machine.refined"):
        found = machine.polished(gram, program, start, 1e-3)
    assert found.value == machine.refined(gram, program, start, 1e-3).value
