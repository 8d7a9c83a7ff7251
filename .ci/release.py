"""The release checklist, gone through by a command: `make release-check`. Every line says ok, or what is wrong.

Builds the sdist and, from that, the wheel; looks into them; installs the wheel with all its dependencies in an empty
environment; runs it there; and runs the core of the tests with the oldest dependencies allowed and with the newest.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = ("tests/golden", "tests/test_persistence.py", "tests/test_certificate.py", "tests/machines/test_margin.py")
ESSENTIAL = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "conda/meta.yaml",
)
PROGRAM = """
import sys
import numpy as np, multikernel as m
X = np.random.default_rng(0).normal(size=(60, 4)); y = X[:, 0] + X[:, 1] ** 2
model = m.MultiKernelRegressor(random_state=0).fit(X, y)
m.save(model, "model.mk")
assert np.array_equal(m.load("model.mk").predict(X), model.predict(X))
assert "tests" not in sys.modules and m.__version__
"""


def run(*words: str | Path, where: Path = ROOT) -> str:
    """What a command prints; RuntimeError with its last lines where it fails."""
    done = subprocess.run([str(word) for word in words], cwd=where, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("\n".join((done.stdout + done.stderr).strip().splitlines()[-15:]))
    return done.stdout


def environment(folder: Path, *packages: str, constraints: Path | None = None) -> Path:
    """The Python of a new environment with some packages."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    limits = ["--constraint", str(constraints)] if constraints else []
    run(python, "-m", "pip", "install", "--quiet", *limits, *packages)
    return python


def says_what_it_has_to() -> str:
    """The papers that belong to a release, and a change under each heading that users see."""
    missing = [name for name in ESSENTIAL if not (ROOT / name).is_file()]
    if missing:
        raise RuntimeError(f"not there: {', '.join(missing)}")
    return f"{len(ESSENTIAL)} files"


def tree_is_clean() -> str:
    """What is built is what is committed."""
    changed = run("git", "status", "--porcelain").splitlines()
    if changed:
        raise RuntimeError("not committed:\n" + "\n".join(changed[:10]))
    return run("git", "rev-parse", "--short", "HEAD").strip()


def built(folder: Path) -> str:
    """An sdist, and the wheel that is made of it."""
    python = environment(folder / "builder", "build")
    run(python, "-m", "build", "--outdir", folder / "dist", ROOT)
    (wheel,), (source,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        inside = file.namelist()
    if "multikernel/py.typed" not in inside or not any(name.endswith("licenses/LICENSE") for name in inside):
        raise RuntimeError(f"{wheel.name} lacks py.typed or the licence")
    strange = [name for name in inside if not re.match(r"multikernel(/|-[^/]*\.dist-info/)", name)]
    if strange:
        raise RuntimeError(f"{wheel.name} holds {strange[:5]}")
    with tarfile.open(source) as file:
        if not any(name.endswith("/tests/zoo.py") for name in file.getnames()):
            raise RuntimeError(f"{source.name} lacks the tests")
    return f"{wheel.name}, {len(inside)} files"


def installed(folder: Path) -> str:
    """The wheel with everything that it needs, in an empty environment, outside the checkout."""
    (wheel,) = (folder / "dist").glob("*.whl")
    python = environment(folder / "fresh", f"{wheel}[app]")
    run(python, "-c", PROGRAM, where=folder)
    run(python, "-m", "pip", "check")
    return run(folder / "fresh" / "bin" / "multikernel", "--version", where=folder).strip()


def tested_with(name: str, folder: Path) -> str:
    """The core of the tests with dependencies under constraints, and the wheel or, without one, the checkout."""
    wheel = next((folder / "dist").glob("*.whl"), ROOT)
    limits = ROOT / ".ci" / "constraints" / f"{name}.txt"
    python = environment(folder / name, str(wheel), "pytest", "hypothesis", "pandas", "cvxpy", constraints=limits)
    told = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", *CORE)
    return told.strip().splitlines()[-1]


def main() -> int:
    """Go through the list, or one of its tests with dependencies; the number of lines that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("oldest", "newest"), help="the core of the tests with these dependencies")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps: dict[str, Callable[[], str]] = {
            "the tree is clean": tree_is_clean,
            "papers are there": says_what_it_has_to,
            "sdist and wheel are built": lambda: built(folder),
            "the wheel runs where nothing else is": lambda: installed(folder),
            "tests pass with the oldest dependencies": lambda: tested_with("oldest", folder),
            "tests pass with the newest dependencies": lambda: tested_with("newest", folder),
        }
        chosen = {
            words: step for words, step in steps.items() if only is None or words.endswith(f"{only} dependencies")
        }
        failed = 0
        for words, step in chosen.items():
            try:
                print(f"ok       {words}: {step()}", flush=True)
            except Exception as error:
                failed += 1
                print(f"FAILED   {words}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
