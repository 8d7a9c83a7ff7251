"""Words and numbers that a page shows."""

from __future__ import annotations

import pytest

from multikernel.app.web.learning.summary import in_short
from multikernel.app.web.sentences import sentences
from multikernel.app.web.site import number


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0008, "−0.0008"), (0.0008, "0.0008"), (-1e-16, "0.000"), (-0.25, "−0.250"), (1e-7, "1e−07"), (None, "–")],
)
def test_a_small_number_keeps_its_sign(value: float | None, text: str) -> None:
    assert number(value) == text


def test_kernels_have_short_names_that_stay_apart() -> None:
    names = ["lab: RBF(gamma=Width(rule='median', times=0.25))", "RBF(gamma=0.5) (2)", "ANOVA(degree=2, kernel=None)"]
    assert in_short(names) == ["lab: Gaussian, gamma x 0.25", "Gaussian, gamma 0.5 (2)", "different columns, 2"]
    assert in_short(["Linear()", "x"]) == ["linear", "x"]
    assert in_short(["Linear()", "linear"]) == ["Linear()", "linear"]  # a column may be called so


def test_the_sentence_of_a_path_is_one() -> None:
    path = {"parameter": "C", "values": [0.1, 1.0], "best": 1, "chosen": 0, "kernels": [3.0, 4.0], "freedom": []}
    scores = {"own": [0.9, 0.8], "single": [0.8, 0.8], "trivial": [0.5, 0.5]}
    weights = {"rows": [{"name": "k", "weight": 1.0, "frequency": 1.0}]}
    found = {"measure": "accuracy", "scores": scores, "weights": weights, "importance": [], "path": path}
    said = sentences({"method": "any"}, found)["path"]
    assert said.startswith("The accuracy is highest at C = 1.")
    assert said.endswith(" 3 kernels have weight there.")
