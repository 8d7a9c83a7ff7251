"""All comparisons with other packages in one run, and the page of the documentation that reports them.

    python benchmarks/page.py [--quick] [--only NAME ...] [--data DIR] [--assemble] [--keep]

Each comparison is a program of this directory, run as it is; what it prints is kept in ``benchmarks/results`` and put
on ``docs/results/benchmarks.md``, with the date, the processor and the versions. ``--quick`` takes small sizes and one
round, ``--assemble`` writes the page from what is kept. Ratios of time, theirs by ours in the same run, are compared
with those of ``benchmarks/ratios.json``: where one has fallen below two thirds of what was kept, the exit status is 1.
``--keep`` writes the new ratios there. Seconds are not compared, because they depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sections import SECTIONS, Section

HERE = Path(__file__).parent
RESULTS, RATIOS = HERE / "results", HERE / "ratios.json"
PAGE = HERE.parent / "docs" / "results" / "benchmarks.md"
PACKAGES = (
    "multikernel",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "MKLpy",
    "himalaya",
    "torch",
    "xrfm",
    "catboost",
    "scmkl",
)
FALLEN = 2.0 / 3.0
FAILED = "ended with status"


@dataclass(frozen=True)
class Run:
    """What a comparison printed, when and on what."""

    output: str
    seconds: float
    quick: bool
    date: str
    machine: str
    versions: dict[str, str] = field(default_factory=dict)


def machine() -> str:
    """The processor by its name, and how many of them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def versions() -> dict[str, str]:
    """Of the packages compared, those that are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def run(section: Section, quick: bool, data: str | None) -> Run:
    """Run a comparison."""
    command = [sys.executable, str(HERE / section.program), *section.arguments(quick, data)]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout.strip("\n").rstrip()
    if done.returncode:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        output += f"\n{FAILED} {done.returncode}: {last}"
    return Run(output, time.monotonic() - began, quick, time.strftime("%Y-%m-%d"), machine(), versions())


def page(runs: dict[str, Run]) -> str:
    """The page, in Markdown."""
    parts = [
        "# Comparison with other packages\n",
        "`make bench` makes this page in one run: each program alternates with its peer on the same data and reports",
        "medians. The ratios are what matters; they are above 1 where `multikernel` is faster or smaller, and below 1",
        "where a peer is ahead. The seconds depend on the machine.\n",
    ]
    for section in SECTIONS:
        if section.name not in runs:
            parts += [f"## {section.title}\n", f"Not run. {section.about}\n"]
            continue
        found = runs[section.name]
        size = "small sizes, one round, on a machine in use" if found.quick else "full sizes"
        told = ", ".join(f"{name} {number}" for name, number in found.versions.items() if name in section.packages)
        parts += [f"## {section.title}\n", section.about + "\n", "```text", found.output, "```\n"]
        parts += [f"{found.date}; {size}; {found.machine}; {told}. `python benchmarks/{section.program}`\n"]
    return "\n".join(parts)


def fallen(runs: dict[str, Run], kept: dict[str, dict[str, float]]) -> list[str]:
    """Sentences on programs that failed, and on ratios that have fallen below what was kept."""
    said = []
    for section in SECTIONS:
        now = section.ratios(runs[section.name].output) if section.name in runs else {}
        if section.name in runs and FAILED in runs[section.name].output:
            said.append(f"{section.title}: the program failed, the page says how")
        for label, before in kept.get(section.name, {}).items():
            if label in now and now[label] < FALLEN * before:
                said.append(
                    f"{section.title}, {label}: {now[label]:.2f} times as fast as the peer, it was {before:.2f}"
                )
    return said


def known() -> dict[str, Run]:
    """What is kept of earlier runs."""
    files = {section.name: RESULTS / f"{section.name}.json" for section in SECTIONS}
    return {name: Run(**json.loads(path.read_text())) for name, path in files.items() if path.is_file()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=[section.name for section in SECTIONS])
    parser.add_argument("--data", default=os.environ.get("MULTIKERNEL_DATA"))
    parser.add_argument("--assemble", action="store_true")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for section in SECTIONS:
        if asked.assemble or (asked.only and section.name not in asked.only) or not section.possible(asked.data):
            continue
        print(f"{section.title} ...", flush=True)
        found = run(section, asked.quick, asked.data)
        (RESULTS / f"{section.name}.json").write_text(json.dumps(vars(found), indent=1))
    runs = known()
    PAGE.write_text(page(runs))
    kept = json.loads(RATIOS.read_text()) if RATIOS.is_file() else {}
    said = fallen(runs, kept)
    print("\n".join(said) or f"no ratio has fallen; {PAGE.relative_to(HERE.parent)} is written")
    if asked.keep:
        new = {section.name: section.ratios(runs[section.name].output) for section in SECTIONS if section.name in runs}
        RATIOS.write_text(json.dumps(kept | new, indent=1) + "\n")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
