"""What a change can break, in a minute: ``make quick``, or ``make quick PACKAGES="banks kernels"`` for these packages.

A package is here a folder of ``multikernel``, or one of its files. Its tests are those whose folder or file has its
name, less those of folders that did not change (``FOLDERS``). One case runs of each of them, and of the conformance
suites as well, whatever was changed. All cases run of test files that were changed themselves, and of those that are
named after a changed file. Browsers, processes and whole comparisons run with ``make test``, which decides.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = "src/multikernel/", "tests/"
FURTHER = {  # packages whose tests have other names
    "estimators": ["test_parameters.py"],
    "persistence": ["golden", "test_model_files.py", "test_saved_pipelines.py"],
    "problem": ["optimizers/test_optimizers_problem.py"],
}
FOLDERS = {  # what is tested of folders of a package, and left out where none of their files has changed
    "app/web": ["app/web"],
    "estimators/generalized": ["estimators/test_gmkl.py"],
    "estimators/hierarchical": ["estimators/test_hkl_estimators.py"],
    "estimators/localized": ["estimators/test_gated.py", "estimators/test_localized.py"],
    "estimators/polynomial": ["estimators/test_polynomial_estimators.py"],
    "estimators/scales": ["estimators/test_learned_scales.py", "estimators/test_many_scales.py"],
    "estimators/streamed": ["estimators/test_streamed.py", "estimators/test_streamed_scales.py"],
    "estimators/support": ["estimators/test_joint_classes.py"],
    "inspection": ["app/cli/test_values.py"],
    "procedures/ridge_cv": ["estimators/test_many_targets.py"],
    "sources": ["estimators/test_views.py"],
    "streams": ["app/cli/test_streams.py"],
}
LONG = (  # a minute has no time for these, unless they were changed themselves
    "app/cli/test_demo.py",
    "app/cli/test_demo_several.py",
    "app/cli/test_process.py",
    "app/cli/test_stopping.py",
    "app/web/test_browser.py",
    "app/web/test_runs.py",
    "app/web/test_soak.py",
    "estimators/test_interruption.py",
    "estimators/test_memory_of_stacks.py",
    "estimators/test_streamed_memory.py",
)


def changed(since: str) -> list[str]:
    """The files of the work tree that have changed since this branch left another one."""

    def listed(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()

    (fork,) = listed("merge-base", "HEAD", since)
    return [*listed("diff", "--name-only", fork), *listed("ls-files", "--others", "--exclude-standard")]


def package(file: str) -> str:
    """The folder of ``multikernel`` that contains a file, or the file's own name."""
    return Path(file.removeprefix(PACKAGE)).parts[0].removesuffix(".py").strip("_")


def named_after(word: str) -> set[Path]:
    """The folders and files of tests with this name, including its plural."""
    stem = word.strip("_").removesuffix("s")
    found = [path for path in (ROOT / TESTS).rglob("*") if path.stem.removeprefix("test_").removesuffix("s") == stem]
    return {path for path in found if path.is_dir() or path.name.startswith("test_")}


def chosen(packages: list[str], files: list[str]) -> tuple[set[Path], set[Path]]:
    """The tests of which one case runs, and those of which all cases run."""
    one, every = {ROOT / TESTS / "conformance"}, set()
    for name in {*packages, *(package(file) for file in files if file.startswith(PACKAGE))}:
        one |= named_after(name) | {ROOT / TESTS / further for further in FURTHER.get(name, ())}
    for name, tests in FOLDERS.items():
        if name in packages or any(file.startswith(f"{PACKAGE}{name}/") for file in files):
            one |= {ROOT / TESTS / test for test in tests}
    for file in files:
        if file.startswith(PACKAGE):
            every |= named_after(Path(file).stem)
        elif Path(file).name.startswith("test_") and (ROOT / file).is_file():
            every.add(ROOT / file)
    return one, {path for path in every if path.is_file()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="packages by name, in place of those that were changed")
    parser.add_argument("--since", default="origin/main", help="the commit since which changes count")
    given = parser.parse_args()
    one, every = chosen(given.packages, [] if given.packages else changed(given.since))
    paths = sorted(str(path.relative_to(ROOT)) for path in one | every)
    whole = [f"--whole={path.relative_to(ROOT).as_posix()}" for path in sorted(every)]
    seldom = [*LONG, *chain.from_iterable(FOLDERS.values())]
    left_out = [f"--ignore={TESTS}{file}" for file in seldom if ROOT / TESTS / file not in one | every]
    print("tests of", *paths)
    command = ["-m", "pytest", "-q", "--one-case", *whole, *left_out, "--numprocesses", "auto", "--maxprocesses", "4"]
    command += paths
    return subprocess.run([sys.executable, *command], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
