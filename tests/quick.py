"""What a change can break, in a minute: ``make quick``, or ``make quick ROOM="banks kernels"`` for rooms by name.

A room is a folder of the package, or one of its files. Its tests are those whose folder or file has its name. Of each
of them one case runs, and of the conformance suites as well, whatever was changed; all cases run of test files that
were changed themselves, and of those that are named after a changed file. ``make test`` decides.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = "src/multikernel/", "tests/"
FURTHER = {  # rooms whose tests stand under other names
    "estimators": ["test_parameters.py"],
    "persistence": ["golden", "test_model_files.py", "test_saved_pipelines.py"],
    "problem": ["optimizers/test_optimizers_problem.py"],
}


def changed(since: str) -> list[str]:
    """The files of the work tree that are not as they were where this branch left another one."""

    def listed(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()

    (fork,) = listed("merge-base", "HEAD", since)
    return [*listed("diff", "--name-only", fork), *listed("ls-files", "--others", "--exclude-standard")]


def room(file: str) -> str:
    """The folder of the package that a file of it stands in, or the file's own name."""
    return Path(file.removeprefix(PACKAGE)).parts[0].removesuffix(".py").strip("_")


def named_after(word: str) -> set[Path]:
    """The folders and files of tests with a name, the plural of it included."""
    stem = word.strip("_").removesuffix("s")
    found = [path for path in (ROOT / TESTS).rglob("*") if path.stem.removeprefix("test_").removesuffix("s") == stem]
    return {path for path in found if path.is_dir() or path.name.startswith("test_")}


def chosen(rooms: list[str], files: list[str]) -> tuple[set[Path], set[Path]]:
    """The tests of which one case runs, and those of which all run."""
    one, every = {ROOT / TESTS / "conformance"}, set()
    for name in {*rooms, *(room(file) for file in files if file.startswith(PACKAGE))}:
        one |= named_after(name) | {ROOT / TESTS / further for further in FURTHER.get(name, ())}
    for file in files:
        if file.startswith(PACKAGE):
            every |= named_after(Path(file).stem)
        elif Path(file).name.startswith("test_") and (ROOT / file).is_file():
            every.add(ROOT / file)
    return one, {path for path in every if path.is_file()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", help="rooms by name, in place of those that were changed")
    parser.add_argument("--since", default="origin/main", help="the commit from which on changes count")
    given = parser.parse_args()
    one, every = chosen(given.rooms, [] if given.rooms else changed(given.since))
    paths = sorted(str(path.relative_to(ROOT)) for path in one | every)
    whole = [f"--whole={path.relative_to(ROOT).as_posix()}" for path in sorted(every)]
    print("tests of", *paths)
    command = ["-m", "pytest", "-q", "--one-case", *whole, "--numprocesses", "auto", "--maxprocesses", "4", *paths]
    return subprocess.run([sys.executable, *command], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
