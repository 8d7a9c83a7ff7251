"""Several sources of the same samples: what is tried for them, and that a table by itself has none of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multikernel import MultiKernelClassifier, MultiKernelRegressor, load, save, views
from multikernel.auto.candidates import _ALONE, _IN_PAIRS, candidates
from multikernel.auto.preparation import Preparation
from multikernel.auto.table import read

N = 90
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(N, 130))
NARROW = RNG.normal(size=(N, 4))
WORDS = ["red", "green", "blue", "grey"]
TEXTS = pd.DataFrame({"text": [" ".join(RNG.choice(WORDS, 6)) for _ in range(N)]})
COUNTS = sparse.random(N, 300, 0.1, random_state=0, format="csr")
SIMILAR = WIDE @ WIDE.T
SOURCES = {"wide": 1e4 * WIDE, "narrow": 1e-3 * NARROW, "texts": TEXTS, "counts": COUNTS, "similar": SIMILAR}
SCORE = NARROW[:, 0] + np.abs(NARROW[:, 1]) - 0.7


def named(X: Any) -> list[str]:
    table = read(X)
    return [candidate.name for candidate in candidates(Preparation.of(table).samples(table))]


def test_each_source_is_tried_alone_and_scales_are_learned_in_narrow_ones() -> None:
    assert [name for name in named(SOURCES) if name.endswith(" alone")] == [
        "Gaussian by ranks, wide alone",
        "Gaussian by ranks, narrow alone",
        "Matern by ranks, scales in narrow alone",
        "Laplacian by ranks, scales in narrow alone",
        "linear, texts: text alone",
        "linear, counts alone",
        "similar alone",
    ]


@pytest.mark.parametrize(
    "X",
    [NARROW, COUNTS, TEXTS, TEXTS.assign(length=NARROW[:, 0], other=TEXTS["text"]), {"wide": WIDE}],
    ids=["array", "sparse", "texts", "mixed", "one view"],
)
def test_a_table_has_no_sources_to_try_alone(X: Any) -> None:
    assert not any("alone" in name or "pairs" in name for name in named(X))


def test_the_only_view_of_numbers_has_the_candidates_of_a_table() -> None:
    alone = [name for name in named({"narrow": NARROW, "texts": TEXTS, "counts": COUNTS}) if name.endswith(" alone")]
    assert alone == ["linear, texts: text alone", "linear, counts alone"]


def test_many_sources_are_not_tried_alone_so_that_the_time_does_not_grow() -> None:
    many = {f"source {k}": NARROW[:, [k % 4]] for k in range(_ALONE + 1)}
    assert not any("alone" in name for name in named(many))


def test_pairs_are_multiplied_up_to_six_sources() -> None:
    for count in (_IN_PAIRS, _IN_PAIRS + 1):
        some = {f"source {k}": NARROW[:, [k % 4]] for k in range(count)}
        assert any("pairs" in name for name in named(some)) == (count <= _IN_PAIRS)


@pytest.mark.study
def test_a_product_of_two_sources_is_found() -> None:
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(150, 2))
    sources = {
        name: factors[:, [k]] * rng.normal(size=(1, 30)) + rng.normal(size=(150, 30))
        for k, name in enumerate(("first", "second"))
    }
    y = factors[:, 0] * factors[:, 1]
    seen = views(sources | {"third": rng.normal(size=(150, 10))})
    model = MultiKernelRegressor(random_state=0).fit(seen[:100], y[:100])
    by_name = dict(zip(model.kernel_names_, model.weights_, strict=True))
    assert by_name["sum over sources and pairs"] > 0.5
    assert model.score(seen[100:], y[100:]) > 0.5


def test_the_answer_finds_the_small_source_among_large_ones() -> None:
    own = {key: SOURCES[key] for key in ("wide", "narrow", "counts")}
    seen = views(own)
    model = MultiKernelRegressor(random_state=0).fit(seen[:60], SCORE[:60])
    by_name = dict(zip(model.kernel_names_, model.weights_, strict=True))
    assert sum(weight for name, weight in by_name.items() if "narrow alone" in name) > 0.5
    assert model.score(seen[60:], SCORE[60:]) > 0.5


@pytest.mark.study
def test_the_answer_is_that_of_any_units_and_is_saved(tmp_path: Any) -> None:
    y = SCORE > 0
    found = []
    for unit in (1.0, 1e5):
        seen = views(SOURCES | {"narrow": unit * NARROW, "wide": WIDE / unit})
        model = MultiKernelClassifier(random_state=0).fit(seen[:60], y[:60])
        found.append(model.predict_proba(seen[60:]))
    np.testing.assert_allclose(*found, atol=1e-3)
    save(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").predict_proba(seen[60:]), found[-1])
    assert "alone" in model.explain()
