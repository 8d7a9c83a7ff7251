"""What is said of the reproduction elsewhere is what the kept cells give."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from multikernel.reproduce.catalogue import EXPERIMENTS, verdict_on
from multikernel.reproduce.experiment import Scope
from multikernel.reproduce.pages.tables import headline
from multikernel.reproduce.published import published
from multikernel.reproduce.results import Ledger
from multikernel.reproduce.running import finished, in_order, results_of

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "_extra" / "reproduced"
HEADLINE = (KEPT / "headline.md").read_text().splitlines()[0]


def test_the_readme_and_the_first_page_have_the_headline() -> None:
    pattern = r"Of (\d+) published results, (\d+) \((\d+ %)\) .* and (\d+) of the (\d+) to .*open \((\d+ %) in all\)"
    found = re.match(pattern, HEADLINE)
    assert found is not None
    judged, within, stated, strictly, strictly_judged, readings = found.groups()
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert f"{within} of {judged} published results ({stated})" in readme
    assert f"by a stricter measure, where one applies, {strictly} of {strictly_judged}" in readme
    assert f"{readings} with other readings of what the papers leave open" in readme
    fitted = re.search(r"found by looking at the published numbers \((\d+ %) in all\)", HEADLINE)
    assert fitted is not None
    assert f"{fitted[1]} with changes that were found by looking at the published numbers" in readme
    assert HEADLINE in (KEPT / "index.html").read_text()


@pytest.fixture
def kept(tmp_path: Path) -> Ledger:
    """The cells that are kept with the pages, of all versions."""
    file = tmp_path / "cells.jsonl"
    file.write_bytes(gzip.decompress((KEPT / "cells.jsonl.gz").read_bytes()))
    return Ledger(file, {line["package"] for line in Ledger(file)._lines})


@pytest.mark.study
def test_the_kept_cells_give_the_headline(kept: Ledger) -> None:
    results = {each.key: results_of(each, kept) for each in EXPERIMENTS}
    assert headline([verdict_on(row, results) for row in published()]) == HEADLINE


@pytest.mark.study
def test_what_a_run_will_take_is_known_before_it_begins(kept: Ledger) -> None:
    """To a third, as other processors are slower or faster by as much."""
    forecast = took = 0.0
    for experiment in EXPERIMENTS:
        lines = finished(experiment, kept)
        planned = [lines[cell.fields]["seconds"] for cell in in_order(experiment.planned(Scope.USUAL))]
        forecast += experiment.seconds * len(planned)
        took += sum(planned)
    assert forecast == pytest.approx(took, rel=1 / 3)
