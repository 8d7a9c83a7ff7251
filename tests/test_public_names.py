"""The applications and the experiments use what the library gives to everybody, so that everybody can write them."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import multikernel

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
