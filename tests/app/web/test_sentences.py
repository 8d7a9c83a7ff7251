"""What the pages say of scores."""

from __future__ import annotations

import pytest

from multikernel.app.web.sentences import _of_comparison, _of_scores


@pytest.mark.parametrize(
    ("own", "single", "trivial", "said"),
    [
        ([0.9, 0.92], [0.8, 0.82], [0.5, 0.5], "ahead of one tuned Gaussian kernel in 2 of 2 folds, by more than"),
        ([0.9, 0.8], [0.8, 0.85], [0.5, 0.5], "in 1 of 2 folds; the two differ by less than the folds do"),
        ([0.8, 0.82], [0.9, 0.92], [0.5, 0.5], "One tuned Gaussian kernel is ahead of it in 2 of 2 folds, by more"),
        ([0.5, 0.5], [0.5, 0.5], [0.5, 0.6], "no better than an answer that looks at no column"),
    ],
)
def test_a_score_is_told_beside_others(own: list[float], single: list[float], trivial: list[float], said: str) -> None:
    scores = {"own": own, "single": single, "trivial": trivial}
    assert said in _of_scores({"measure": "accuracy", "scores": scores}, "y")


def test_a_comparison_begins_like_a_sentence() -> None:
    rows = [{"method": "random forest", "scores": [0.9, 0.9]}, {"method": "L1MKL", "scores": [0.8, 0.8]}]
    assert _of_comparison({"comparison": rows}).startswith("Random forest is highest and L1MKL next, by more")
