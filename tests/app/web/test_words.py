"""Words and numbers that a page shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from multikernel.app.charts import drawn_classes, rocs
from multikernel.app.drawing import number
from multikernel.app.short_names import apart
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.forms import methods
from multikernel.app.web.learning.comparison import BaselineResult
from multikernel.app.web.learning.division import KnownRows
from multikernel.app.web.learning.errors import HeldOutRows, RowNames
from multikernel.app.web.learning.held_out import FoldResult
from multikernel.app.web.learning.quality import quality
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.summary import short_kernel_names
from multikernel.app.web.pages.result import charts
from multikernel.app.web.run_file import recipe_of
from multikernel.app.web.sentences import sentences
from multikernel.app.web.settings import Settings
from multikernel.app.web.site import environment, seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(-0.0008, "−0.0008"), (0.0008, "0.0008"), (-1e-16, "0.000"), (-0.25, "−0.250"), (1e-7, "1e−07"), (None, "–")],
        *[(8229.2741, "8229.274"), (-243512.8, "−243513"), (99999.6, "100000"), (1.23456e12, "1.235e+12")],
    ],
)
def test_a_number_keeps_its_sign_and_the_digits_that_matter(value: float | None, text: str) -> None:
    assert number(value) == text


def test_a_duration_has_no_minute_of_sixty_seconds() -> None:
    assert [seconds(value) for value in (9.5, 59.4, 59.7, 119.7, 3599.9)] == [
        *("9.5 s", "59 s", "1 min 0 s", "2 min 0 s", "60 min 0 s"),
    ]


def test_points_of_a_target_in_large_units_keep_their_digits() -> None:
    truth = np.array([1e-9, 2e-9, 4e-9])
    held = [KnownRows(pd.DataFrame({"a": truth}), truth, np.arange(3))]
    own = [FoldResult(None, 0.0, 1.5 * truth, None, False, {})]
    base = [BaselineResult(0.0, truth, truth, None)]
    found = quality(Recipe("d", "y", "regression", {"a": "number"}), np.empty(0), held, own, base, base)
    assert sorted(found["residuals"]["points"]) == [[1.5e-9, 1e-9], [3e-9, 2e-9], [6e-9, 4e-9]]


def test_a_model_without_any_weight_has_a_page() -> None:
    row = {"name": "linear", "weight": 0.0, "each": [0.0], "spread": 0.0, "frequency": 0.0}
    result = {
        "measure": "R²",
        "task": "regression",
        "scores": {key: [0.0, 0.1] for key in ("own", "single", "trivial")},
        "weights": {"rows": [row, row | {"name": "Gaussian"}], "views": [], "what": "kernel", "problems": [""]},
        "importance": [],
        "path": None,
    }
    assert charts(result)["weights"] is None
    told = sentences({"method": "GMKLRegressor", "target": "y"}, result)["weights"]
    assert told == "None of the kernels has a weight: the answer is the same for all rows."
    macros = environment(Settings(Path())).get_template("macros.html").module
    assert "None" not in str(macros.figure("What was combined?", None, told, file="weights.svg")).replace(told, "")


def test_kernels_have_short_names_that_stay_apart() -> None:
    names = ["lab: RBF(gamma=Width(rule='median', times=0.25))", "RBF(gamma=0.5) (2)", "ANOVA(degree=2, kernel=None)"]
    assert short_kernel_names(names) == [
        "lab: Gaussian, gamma x 0.25",
        "Gaussian, gamma 0.5 (2)",
        "different columns, 2",
    ]
    assert short_kernel_names(["Linear()", "x"]) == ["linear", "x"]
    assert short_kernel_names(["Linear()", "linear"]) == ["Linear()", "linear"]  # a column may be called so


def test_the_sentence_of_a_path_is_one() -> None:
    path = {"parameter": "C", "values": [0.1, 1.0], "best": 1, "chosen": 0, "kernels": [3.0, 4.0], "freedom": []}
    scores = {"own": [0.9, 0.8], "single": [0.8, 0.8], "trivial": [0.5, 0.5]}
    weights = {"rows": [{"name": "k", "weight": 1.0, "frequency": 1.0}]}
    found = {"measure": "accuracy", "scores": scores, "weights": weights, "importance": [], "path": path}
    said = sentences({"method": "any"}, found)["path"]
    assert said.startswith("The accuracy is highest at C = 1.")
    assert said.endswith(" 3 kernels have weight there.")


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ([f"species_of_long_name_{k:02}" for k in range(20)], 9),
        (["mixed: bought, MultiKernelClassifier", "mixed: bought, L1MKLClassifier"], 17),
        (["Laplacian, a scale for each feature", "Laplacian by ranks, a scale for each feature"], 19),
        (["a" * 40, "a" * 41], 12),
        (["one"], 4),
        (["same", "same"], 10),
        ([f"{'x' * 30}{k}{'y' * 30}" for k in range(3)], 8),
    ],
)
def test_names_that_are_cut_stay_apart(names: list[str], most: int) -> None:
    found = apart(names, most)
    assert all(len(each) <= most for each in found)
    assert len(set(found)) == len(set(names))


def test_words_beside_curves_and_counts_speak_of_all_classes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 20, 400)
    values = np.eye(20)[truth] + rng.uniform(0.0, 1.1, (400, 20)) * (1.0 + (truth[:, None] == 19))
    fold = FoldResult(None, 0.0, values.argmax(axis=1), values, False, {})
    recipe = Recipe("d", "y", "classification", {"a": "number"})
    rows = KnownRows(pd.DataFrame(), truth, np.arange(1, 401))
    other = BaselineResult(0.05, truth, np.zeros(400, dtype=int), np.full((400, 20), 0.05))
    found = quality(recipe, np.arange(20), [rows], [fold], [other], [other])
    curves = found["roc"]
    worst = min(curves, key=lambda curve: curve["area"])
    assert [bool(curve["points"]) for curve in curves].count(True) == 6
    assert worst["label"] in str(rocs(curves))
    assert min(row["rows"] for row in found["by_class"]) > 0
    mistakes = HeldOutRows.of(recipe, np.arange(20), [fold], [rows], RowNames()).summary()
    assert all(truth[row["row"] - 1] == int(row["true"]) != int(row["predicted"]) for row in mistakes["rows"])
    assert mistakes["count"] == (fold.predicted != truth).sum()
    shown = {"measure": "accuracy", "importance": [], "path": None, "classes": list(map(str, range(20)))}
    shown |= {"scores": {"own": [0.9, 0.8], "single": [0.8, 0.8], "trivial": [0.5, 0.5]}}
    shown |= {"weights": {"rows": [{"name": "k", "weight": 1.0, "frequency": 1.0}]}}
    counts = np.diag(np.arange(20) + 5)
    counts[17, 3] = 9
    text = sentences({"method": "any"}, {**shown, "roc": curves, "confusion": counts.tolist()})
    assert f"{worst['label']} is hardest to separate, with an area of {worst['area']:.3f}" in text["roc"]
    assert "Drawn are the 6 of 20 classes" in text["roc"]
    assert "9 of 31 rows of class 17 predicted as 3" in text["confusion"]
    assert "Drawn are the 12 of 20 classes with the most mistakes" in text["confusion"]
    assert {3, 17} <= set(drawn_classes(counts.tolist()))
    assert len(drawn_classes(counts[:12, :12].tolist())) == 12


def test_what_a_parameter_may_be_is_said_without_the_signs_of_python() -> None:
    for task in ("classification", "regression"):
        for method in methods(task).values():
            for field in method.fields:
                assert "{" not in field.form, (method.name, field)
                assert "None" not in field.form, (method.name, field)
                assert "transductive" not in field.choices, method.name


def test_columns_that_were_not_tried_are_said_whatever_was_found() -> None:
    rows = [{"name": "a", "loss": loss, "spread": 0.1} for loss in (0.5, 0.0)]
    shown = {"measure": "accuracy", "path": None, "screened": 60}
    shown |= {"scores": {"own": [0.9, 0.8], "single": [0.8, 0.8], "trivial": [0.5, 0.5]}}
    shown |= {"weights": {"rows": [{"name": "k", "weight": 1.0, "frequency": 1.0}]}}
    for importance in (rows, rows[1:], [{"name": "a", "loss": 0.05, "spread": 0.1}]):
        text = sentences({"method": "any"}, {**shown, "importance": importance})["importance"]
        assert f"Of 60 columns, these {len(importance)} were tried" in text


@pytest.mark.parametrize(
    ("single", "verdict"),
    [(0.8, "It is ahead of one tuned"), (0.95, "One tuned Gaussian kernel is ahead of it"), (0.9, "is as good there")],
)
def test_a_single_part_has_no_deviation(single: float, verdict: str) -> None:
    scores = {"own": [0.9], "single": [single], "trivial": [0.5]}
    weights = {"rows": [{"name": "k", "weight": 1.0, "spread": None, "frequency": 1.0}]}
    importance = [{"name": "a", "loss": 0.5, "spread": None}]
    found = {"measure": "mean F1", "scores": scores, "weights": weights, "importance": importance, "path": None}
    said = sentences({"method": "any"}, found)
    assert said["scores"].startswith("The mean F1 is 0.900. There is one part only")
    assert verdict in said["scores"]
    assert "whisker" not in said["weights"]
    assert "depends most on a" in said["importance"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (".".join(["a"] * 60) + " = 1", "The file has keys of fifty parts"),
        ("[a" + '."a"' * 60 + "]", "The file has keys of fifty parts"),
        ("a = 1", "The file has a setting 'a', and a run has none of this name"),
    ],
)
def test_a_run_file_that_would_take_long_is_refused_first(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        recipe_of(text)


def test_a_long_word_of_a_run_file_is_said_in_brief() -> None:
    given = Recipe("d", "y", "regression", {"x": "number"}, method="AverageMKLRegressor", missing="A" * 5000)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"missing must be one of .*, got 'A{59}$"):
        check_recipe(given)
