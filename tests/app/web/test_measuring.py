"""How a run is measured: which rows are held out, by which measure, and that exports repeat it."""

from __future__ import annotations

import html
import json
import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, people, said, saved
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer

import multikernel
from cases import one_in
from multikernel.app.tables.held_out import later_and_later
from multikernel.app.tables.table import read_table
from multikernel.app.toml import toml
from multikernel.app.web.exports import code, repeated
from multikernel.app.web.learning.division import Division, Layout, layout_of
from multikernel.app.web.learning.measures import MEASURES, measure_of, scorer_of
from multikernel.app.web.learning.measuring import Measuring
from multikernel.app.web.learning.quality import thresholds
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.pages.result import charts
from multikernel.app.web.sentences import best_first, sentences
from multikernel.app.web.settings import Settings
from multikernel.app.web.site import environment
from multikernel.app.web.thresholds import lines
from multikernel.datasets import Task


def _table(n: int = 24) -> pd.DataFrame:
    """Rows in pairs of one group, with times that do not rise, and two targets."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x.round(4),
            "z": rng.normal(size=n).round(4),
            "who": [f"p{k // 2}" for k in range(n)],
            "when": [f"2024-01-{1 + 7 * k % n:02}" for k in range(n)],
            "y": (2 * x + 0.1 * rng.normal(size=n)).round(4),
            "c": np.where(x + 0.5 * rng.normal(size=n) > 0, "up", "down"),
        }
    )


def _recipe(task: Task = "regression", **more: Any) -> Recipe:
    target, columns = ("y" if task == "regression" else "c"), {"x": "number", "z": "number"}
    return Recipe("d", target, task, columns, **more)  # type: ignore[arg-type]


def _laid_out(folder: Path, recipe: Recipe, table: pd.DataFrame | None = None) -> Layout:
    (_table() if table is None else table).to_csv(folder / "table.csv", index=False)
    return layout_of(recipe, read_table(folder / "table.csv"), folder)


def test_groups_are_whole_times_ascend_and_each_row_is_held_out_once_a_round(tmp_path: Path) -> None:
    table = _table()
    grouped = _laid_out(tmp_path, _recipe("classification", measured=Measuring("groups", "who", folds=4, repeats=2)))
    assert [len(folds) for folds in grouped.rounds] == [4, 4]
    for folds in grouped.rounds:
        assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(24))
        for train, test in folds:
            assert not set(table["who"][train]) & set(table["who"][test])
    assert "the 12 groups of who were drawn into 4 parts, 2 times anew (seed 0)" in grouped.description
    ordered = _laid_out(tmp_path, _recipe(measured=Measuring("time", "when", folds=3)))
    for train, test in ordered.rounds[0]:
        assert max(table["when"][train]) < min(table["when"][test])
        assert len(train) + len(test) == sum(table["when"] <= max(table["when"][test]))
    seeds = [_laid_out(tmp_path, _recipe(seed=seed)).rounds[0][0][1].tolist() for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_rows_of_one_time_stay_together() -> None:
    times = np.array([3.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0])
    found = [(train.tolist(), test.tolist()) for train, test in later_and_later(times, 3)]
    assert found == [([1, 2], [3, 4, 5]), ([1, 2, 3, 4, 5], [0, 6, 7])]
    assert later_and_later(np.ones(5), 3) == []


def test_two_times_of_which_one_is_common_make_a_fold(tmp_path: Path) -> None:
    table = _table().assign(when=[1] * 20 + [2] * 4)
    (only,) = _laid_out(tmp_path, _recipe(measured=Measuring("time", "when")), table).rounds[0]
    assert [rows.tolist() for rows in only] == [list(range(20)), [20, 21, 22, 23]]


def _with(name: str, cells: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    table = _table()
    return table.assign(**{name: cells(table)})


@pytest.mark.parametrize(
    ("measured", "table", "sentence"),
    [
        (Measuring("groups", "who"), _with("who", lambda t: "a"), "holds one group only, 'a'"),
        (Measuring("groups", "who"), _with("who", lambda t: t["who"].where(t.index != 3)), "in 1 row, such as row 5"),
        (Measuring("groups", "who", folds=13), _table(), "there are 12 groups in 'who'; give 12 or fewer"),
        (Measuring("groups", "c"), _table(), "is the target, by which no rows can be held out"),
        (Measuring("groups", "who"), _with("who", lambda t: t["c"]), "have one class only"),
        (Measuring("groups", "nobody"), _table(), "There is no column 'nobody'"),
        (Measuring("time", "who"), _table(), "'p0' in row 2 is no number or date;"),
        (
            Measuring("time", "when"),
            _with("when", lambda t: [*t["when"][1:], "soon"]),
            "'soon' in row 25 is no number or date as the others are",
        ),
        (
            Measuring("time", "when"),
            _with("when", lambda t: [1, 2] * 11 + ["x", 3]),
            "'x' in row 24 is no number or date as the others",
        ),
        (Measuring("time", "when"), _with("when", lambda t: [None, *t["when"][1:]]), "has no time in 1 row, such as"),
        (Measuring("time", "when"), _with("when", lambda t: [f"1/{1 + k % 9}/2020" for k in t.index]), "the day first"),
        (Measuring("time", "when"), _with("when", lambda t: 5), "holds one time only, '5'"),
        (Measuring("time", "when", folds=9), _with("when", lambda t: [1, 2] * 12), "which make 1 fold of later rows"),
        (Measuring("time", "when"), _with("when", lambda t: (t["c"] == "up").astype(int)), "have one class only"),
        (Measuring(folds=25), _table(), "the class 'up' has 11 rows, one at most for each"),
        (Measuring("file", file="gone.csv", name="exam"), _table(), "The test file exam is not there any more"),
    ],
)
def test_rows_that_cannot_be_held_out_so_are_told_in_a_sentence(
    measured: Measuring, table: pd.DataFrame, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        _laid_out(tmp_path, _recipe("classification", measured=measured), table)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"folds": 1}, "Folds must be a whole number from 2 on, got 1"),
        ({"folds": -3}, "from 2 on"),
        ({"repeats": 0}, "Repeats must be a whole number from 1 to 100"),
        ({"how": "file", "repeats": 3}, "A test file leaves nothing to draw anew"),
        ({"how": "file", "folds": 3}, "held out once, as a whole"),
        ({"how": "time", "column": "t", "repeats": 2}, "An order in time leaves nothing"),
        ({"how": "groups"}, "Choose the column that says which rows belong together"),
        ({"how": "else"}, "must be one of rows, groups, time, file"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Measuring(**given)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.drop(columns="z"), "exam lacks 'z', from which is learned"),
        (lambda t: t.drop(columns="c"), "exam has no column 'c', the target"),
        (lambda t: t.assign(c=None), "In exam the target 'c' has no value at all"),
        (lambda t: t.assign(c=["up", "sideways", *t["c"][2:]]), "row 3 has the class 'sideways'"),
        (lambda t: t.assign(x=["far", *t["x"][1:]]), "row 2, column 'x': 'far' is not a number"),
        (lambda t: t[t["c"] == "up"], "In the test file the held-out rows have one class only"),
    ],
)
def test_a_test_file_that_does_not_fit_is_refused(change: Any, sentence: str, tmp_path: Path) -> None:
    change(_table(10)).to_csv(tmp_path / "test-1.csv", index=False)
    recipe = _recipe("classification", measured=Measuring("file", file="test-1.csv", name="exam", measure="roc_auc"))
    with pytest.raises(ValueError, match=re.escape(sentence)):
        _laid_out(tmp_path, recipe)


def test_a_test_file_is_matched_by_names_and_loses_rows_without_a_target(tmp_path: Path) -> None:
    other = _table(30).iloc[24:]
    mixed = other[["c", "z", "who", "x"]].assign(c=[None, *other["c"][1:]], more=1)
    mixed.to_csv(tmp_path / "test-1.csv", index=False)
    recipe = _recipe("classification", measured=Measuring("file", file="test-1.csv", name="exam"))
    layout = _laid_out(tmp_path, recipe)
    division = Division.of(layout)
    [(known, held)] = division.parts()
    assert held.X.to_dict("list") == other[["x", "z"]].iloc[1:].to_dict("list")
    assert held.y.tolist() == other["c"].tolist()[1:]
    assert held.numbers.tolist() == [2, 3, 4, 5, 6]
    assert len(known.y) == 24
    assert layout.description == "Measured once, on the 5 rows of exam, by a model of the 24 rows of the table."
    _table().to_csv(tmp_path / "test-1.csv", index=False)
    assert (
        "on the 24 rows of exam (24 of them with the cells of a row of the table), by"
        in _laid_out(tmp_path, recipe).description
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_measures_are_those_of_scikit_learn_also_in_exported_code(classes: int) -> None:
    X, truth = load_iris(return_X_y=True)
    X, truth = X[truth < classes, 1:2], truth[truth < classes]
    model = LogisticRegression().fit(X, truth)
    named = {"balanced_accuracy": "balanced_accuracy", "f1": "f1_macro", "log_loss": "neg_log_loss"}
    if classes == 2:
        named["roc_auc"] = "roc_auc"
    for name, own in MEASURES["classification"].items():
        value = scorer_of(own)(model, X, truth)
        if name in named:
            assert value == pytest.approx(get_scorer(named[name])(model, X, truth), rel=1e-12)
        assert _run(own.scorer_code, model, X, truth) == pytest.approx(value, rel=1e-12)


def test_log_loss_needs_probabilities() -> None:
    truth = np.array(["a", "b"])
    for values in (None, np.array([[0.2, 0.9], [0.5, 0.5]]), np.array([[-1.0, 2.0], [0.5, 0.5]])):
        with pytest.raises(ValueError, match="no probabilities, which log loss needs"):
            MEASURES["classification"]["log_loss"].of(truth, truth, values, truth)


def test_errors_of_several_targets_do_not_depend_on_their_units() -> None:
    rng = np.random.default_rng(0)
    X, units = rng.normal(size=(40, 3)), np.array([1.0, 1e6])
    Y = X[:, :2] + rng.normal(size=(40, 2))
    for name in ("rmse", "mae"):
        own = measure_of("regression", name, 2)
        assert own.label.endswith("in standard deviations")
        found = []
        for y in (Y, Y * units):
            model = LinearRegression().fit(X[:20], y[:20])
            predicted, truth = model.predict(X[20:]), y[20:]
            expected = 0.0
            for k in range(2):
                away = np.abs(predicted[:, k] - truth[:, k])
                error = np.sqrt(np.mean(away**2)) if name == "rmse" else np.mean(away)
                expected += error / np.sqrt(np.mean((truth[:, k] - truth[:, k].mean()) ** 2)) / 2.0
            found += [-scorer_of(own)(model, X[20:], truth), _run(own.code, model, X[20:], truth), expected]
        assert found == pytest.approx([expected] * 6, rel=1e-9)
        single = LinearRegression().fit(X[:20], Y[:20, 0])
        plain = metrics.root_mean_squared_error if name == "rmse" else metrics.mean_absolute_error
        value = plain(Y[20:, 0], single.predict(X[20:]))
        assert -scorer_of(own)(single, X[20:], Y[20:, 0]) == pytest.approx(value, rel=1e-12)
        assert _run(own.code, single, X[20:], Y[20:, 0]) == pytest.approx(value, rel=1e-12)


def _run(lines_of_code: str, model: Any, X: Any, y: Any) -> float:
    scope: dict[str, Any] = {"np": np, "metrics": metrics}
    body = lines_of_code.replace("\n", "\n    ")
    exec(f"def score(model, X, y):\n    {body}\n", scope)
    return float(scope["score"](model, X, y))


@pytest.mark.parametrize(
    "recipe",
    one_in(
        3,
        [
            _recipe(measured=Measuring("time", "when", folds=2), path="alpha", chosen_by="mae"),
            _recipe(measured=Measuring(folds=3, repeats=2, measure="rmse"), seed=4),
            _recipe("classification", measured=Measuring("groups", "who", folds=3, measure="roc_auc")),
            _recipe("classification", measured=Measuring("file", file="test.csv", measure="log_loss")),
        ],
    ),
    ids=lambda recipe: str(recipe.measured.how),
)
def test_exports_repeat_what_was_measured(
    recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    classes = recipe.task == "classification"
    own = (
        {"C": 1.0, "class_weight": "balanced", "probability": "platt"}
        if classes
        else {}
        if recipe.path
        else {"alpha": 0.1}
    )
    method = "AverageMKLClassifier" if classes else "AverageMKLRegressor"
    recipe = replace(recipe, method=method, parameters=own, kernels={"": ["linear"]})
    _table().to_csv(tmp_path / "table.csv", index=False)
    _table(34).iloc[24:].to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    found = repeated(tmp_path / "run.toml", tmp_path / "table.csv", tmp_path / "model.mk", lambda line: None)
    json.dumps(found, allow_nan=False)
    (tmp_path / "run.py").write_text(code(recipe, "str" if classes else "float"))
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    told = [float(each) for each in re.findall(r"-?\d\.\d+", capsys.readouterr().out.splitlines()[0])]
    assert told == pytest.approx(found["scores"]["own"], abs=1e-6)
    if recipe.path:  # its scores are errors, and no R2 that square errors beside GCV could be drawn from
        drawn = charts(found)
        assert drawn["path_errors"] is None
        along = '{% import "along.html" as along %}{{ along.profiles(result, charts) }}'
        page = environment(Settings(tmp_path)).from_string(along).render(result=found, charts=drawn)
        assert "mean absolute error held out" in page
    if found["less_is_better"]:
        assert min(min(found["scores"][key]) for key in ("own", "single", "trivial")) > 0.0
        assert np.mean(found["scores"]["own"]) < np.mean(found["scores"]["trivial"])
        assert max(row["loss"] for row in found["importance"]) > 0.0
        assert "grows by" in sentences(recipe.to_json(), found)["importance"]
    assert len(told) == {"rows": 6, "groups": 3, "time": 2, "file": 1}[recipe.measured.how]
    assert found["held_out"] == {"rows": 24, "groups": 24, "time": 16, "file": 10}[recipe.measured.how]
    answers = pd.read_csv("run-output/predictions.csv")["prediction"]
    again = multikernel.load("model.mk").predict(_table()[["x", "z"]])
    assert answers.tolist() == pytest.approx(again.tolist()) if not classes else answers.tolist() == again.tolist()


def test_a_threshold_counts_as_a_double_loop_does() -> None:
    rng = np.random.default_rng(0)
    positive, probability = rng.random(50) > 0.4, rng.random(50).round(2)
    found = thresholds(positive, probability)
    for k in (0, 30, 50, 100):
        own = lines(found, str(k / 100)).chosen
        assert own is not None
        loop = [[0, 0], [0, 0]]
        for truth, value in zip(positive, probability, strict=True):
            loop[int(truth)][int(value >= k / 100)] += 1
        assert [list(row) for row in own.counts] == loop
        assert own.right == (loop[0][0] + loop[1][1]) / 50
    for typed in ("1.01", "-0.1", "nan", "half", "1e400"):
        refused = lines(found, typed)
        assert refused.chosen is None
        assert "A threshold is a probability from 0 to 1" in refused.problem
        assert refused.typed == typed


@pytest.fixture(scope="module")
def data(person: Person) -> str:
    """The address of a data set with a column of groups."""
    first, *rest = people().splitlines()
    rows = [f"{first},who", *(f"{row},p{k // 3}" for k, row in enumerate(rest))]
    return person.upload(("shop.csv", "\n".join(rows))).url.path


_EMPTY = {"target": "bought", "shown": "bought", "m-classes": "1", "m-folds": "", "m-repeats": "", "m-seed": ""}
_FORM = _EMPTY | {"m-how": "groups", "m-group": "who"}


def test_a_form_that_is_refused_keeps_what_was_typed_and_two_windows_their_own(person: Person, data: str) -> None:
    typed = _FORM | {"m-folds": "1,5", "m-repeats": "2", "m-seed": "7", "m-balanced": "balanced"}
    page = person.submit(f"{data}/learn", **typed)
    assert page.status_code == 400
    assert "Folds must be a whole number, got '1,5'." in html.unescape(said(page))
    for kept in ('name="m-folds" value="1,5"', 'name="m-repeats" value="2"', 'name="m-seed" value="7"'):
        assert kept in page.text
    assert re.search(r'id="m-groups" name="m-how" value="groups" checked', page.text)
    assert re.search(r'name="m-balanced" value="balanced" checked', page.text)
    for seed in ("-1", "9999999999", "x"):
        assert person.submit(f"{data}/learn", **_FORM | {"m-seed": seed}).status_code == 400
    first = person.submit(f"{data}/learn", **_FORM | {"m-folds": "4"}, how="method")
    assert "the 20 groups of who were drawn into 4 parts" in said(first)
    assert "A run makes 5 fits" in said(first)
    choice = html.unescape(re.findall(r'name="choice" value="([^"]*)"', first.text)[0])
    person.submit(f"{data}/choose", target="bought", **{"m-how": "rows"})  # in another window
    other = person.submit(f"{data}/method/form", choice=choice, method="EasyMKLClassifier")
    assert "the 20 groups of who were drawn into 4 parts" in said(other)
    for changed in ({"file": "../x.csv"}, {"file": "table.csv"}, {"nothing": "1"}, {"how": 3}):
        damaged = json.dumps(json.loads(choice) | {"measuring": changed})
        assert "damaged" in said(person.submit(f"{data}/method", choice=damaged, method="L1MKLClassifier"))


def test_a_test_file_is_loaded_used_and_taken_home(person: Person, data: str) -> None:
    form = _EMPTY | {"m-how": "rows", "m-measure": "roc_auc"}
    bad = [("m-test", ("exam.csv", "age,city\n1,Rome\n"))]
    page = person.submit(f"{data}/learn", files=bad, how="automatic", **form)
    assert page.status_code == 400
    assert "exam has no column 'bought', the target" in html.unescape(said(page))
    turned = pd.DataFrame([row.split(",") for row in people(20, seed=5).splitlines()]).iloc[:, ::-1]
    exam = [("m-test", ("exam.csv", turned.to_csv(index=False, header=False).replace("Padua", "Turin")))]
    unticked = {"kind-5": "category"}  # who, which the file lacks
    page = person.submit(f"{data}/learn", files=exam, how="method", **form, **unticked)
    assert "on the 20 rows of exam, by a model of the 60 rows" in said(page), said(page)
    choice = html.unescape(re.findall(r'name="choice" value="([^"]*)"', page.text)[0])
    shown = person.get(data)
    first = dict(re.findall(r'name="(m-file|m-name)" value="([^"]*)"', shown.text))
    second = [("m-test", ("other.csv", people(10, seed=6)))]
    person.submit(f"{data}/learn", files=second, how="look", **form, **unticked)  # in another window
    again = person.submit(f"{data}/learn", how="method", **form | first | unticked | {"m-how": "file"})
    assert "on the 20 rows of exam" in said(again)
    own = {"method": "AverageMKLClassifier", "p-C": "1", "p-probability": "platt", "p-fit_intercept": "true"}
    run = person.learned(person.submit(f"{data}/method", choice=choice, **own))
    text = said(run)
    assert "area under the ROC curve on held-out rows" in text
    assert "There is one part only" in text
    assert "of 20" in text
    assert "sample?row=" not in run.text
    assert person.get(f"{run.url.path}/files/test.csv").text.count("\n") == 21
    assert 'file = "test.csv"' in person.get(f"{run.url.path}/files/run.toml").text
    assert "Measured once, on the 20 rows of exam" in said(person.get(f"{run.url.path}/files/report.html"))
    line = person.get(run.url.path, params={"threshold": "1"})
    assert "yes from a probability of 1.0 on, as above" in said(line)
    assert person.get(run.url.path, params={"threshold": "2"}).status_code == 400
    files = [("files", ("new.csv", people(5, seed=2)))]
    assert "yes" not in saved(person.submit(f"{run.url.path}/predict", files=files, threshold="1")).partition("\n")[2]
    assert person.submit(f"{run.url.path}/predict", files=files, threshold="x").status_code == 400


def test_an_error_is_judged_by_being_less(person: Person) -> None:
    data = person.upload(("t.csv", _table().to_csv(index=False))).url.path
    person.submit(f"{data}/choose", target="c", **TWO_FOLDS, **{"m-measure": "log_loss"})
    form = person.get(f"{data}/method", params={"method": "AverageMKLClassifier"})
    assert re.search(r'value="platt" selected', form.text)
    fields = {"method": "AverageMKLClassifier", "kernels-0": "linear", "p-C": "1.0"}
    refused = person.submit(f"{data}/method", **fields)
    assert "Log loss needs probabilities, which AverageMKLClassifier gives where" in said(refused)
    run = person.learned(person.submit(f"{data}/method", **fields, **{"p-probability": "platt"}))
    assert "log loss on held-out rows; less is better" in said(run)
    assert "It is ahead of" in said(run) or "One tuned Gaussian" in said(run)
    rows = [{"method": "a", "scores": [1.0, 1.1]}, {"method": "b", "scores": [2.0, 2.2]}]
    found = {"comparison": rows, "measure": "mean absolute error", "less_is_better": True}
    assert [row["method"] for row in best_first(found)] == ["a", "b"]
    assert sentences({}, found)["scores"].startswith("A is lowest and b next, by more")
