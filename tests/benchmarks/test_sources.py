"""The benchmark of several sources: its simulated sets, what the others get, and its report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sources import Machine, Split, late_fusion, measured, report, simulated


def test_simulated_sources_differ_in_size_and_unit() -> None:
    sources, y = simulated(two=False, n=40)
    assert {name: part.shape for name, part in sources.items()} == {
        "wide": (40, 2000),
        "middle": (40, 300),
        "small": (40, 15),
    }
    spreads = [float(part.to_numpy().std()) for part in sources.values()]
    np.testing.assert_allclose(np.log10(spreads), [0, 4, -3], atol=0.3)
    assert set(y) == {0, 1}


@pytest.mark.study
def test_the_others_get_numbers_and_words_and_learn_from_them() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    words = pd.DataFrame({"text": [["yes", "no"][label] + " well" for label in y]})
    numbers = pd.DataFrame({"a": np.where(rng.random(60) < 0.1, np.nan, 1e5 * rng.normal(size=60))})
    sources = {"words": words, "numbers": numbers, "counts": sparse.csr_matrix(rng.poisson(1.0, (60, 30)))}
    train, test = np.arange(40), np.arange(40, 60)
    split = Split.of(sources, y[train], train, test)
    assert [part.shape for part in split.together()] == [(40, 34), (20, 34)]
    np.testing.assert_array_equal(late_fusion(split), y[test])
    found = measured("best source", sources, y, train, test, split)
    assert found == {"best source": 1.0, "best source by test": 1.0}
    machine = Machine().fit(split.train["words"], split.y)
    np.testing.assert_array_equal(machine.predict(split.test["words"]), y[test])


def test_a_report_has_the_cells_with_all_folds(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"set": "diet", "folds": 2, "n": 40, "cpu": 1.0}
    rows = [
        row | {"method": method, "fold": fold, "score": score}
        for method, fold, score in (("SVM", 0, 0.5), ("SVM", 1, 0.7), ("forest", 0, 1.0))
    ]
    report(rows, ["SVM", "forest"], ["diet"])
    assert "| diet (40) | 0.600 ± 0.100 |  |" in capsys.readouterr().out
