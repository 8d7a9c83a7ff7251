"""``multikernel fit`` and ``multikernel predict`` on CSV files."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from csv_tables import HEADER, Invoke, write_table
from typer.testing import CliRunner

from cases import one_in
from multikernel import EasyMKLClassifier, LinearRLS2Regressor, kernels
from multikernel.app.cli.options import MethodName
from multikernel.app.cli.program import app
from multikernel.app.jobs.methods import METHODS
from multikernel.persistence import load, read, save


def _predictions(text: str) -> dict[str, list[str]]:
    rows = list(csv.reader(text.splitlines()))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def _one_hot(path: str) -> np.ndarray:
    frame = pd.read_csv(path)
    colours = [(frame.colour == c).astype(float) for c in ("blue", "green", "red")]
    return np.column_stack([frame.age, *colours, frame.height])


def test_number_labels_come_back_as_numbers_and_as_a_hand_made_model_gives_them(invoke: Invoke) -> None:
    train, new = write_table(Path("train.csv"), "number"), write_table(Path("new.csv"), None, 9, seed=1)
    done = invoke("fit", train, "--target", "target", "--lam", "0.2", "--kernels", "hpk:3", "--out", "m.mk")
    assert done.exit_code == 0, done.output
    result = invoke("predict", "m.mk", new)
    columns = _predictions(result.stdout)
    assert list(columns) == ["prediction", "decision"]

    raw, target = _one_hot("train.csv"), pd.read_csv(train)["target"].to_numpy()
    low, span = raw.min(axis=0), raw.max(axis=0) - raw.min(axis=0)
    model = EasyMKLClassifier(kernels.homogeneous_polynomials(3), lam=0.2).fit((raw - low) / span, target)
    X = (_one_hot("new.csv") - low) / span
    assert columns["prediction"] == [str(label) for label in model.predict(X)]
    np.testing.assert_allclose([float(v) for v in columns["decision"]], model.decision_function(X), atol=1e-7)
    assert f"{model.score((raw - low) / span, target):.4f}" in done.stdout


def test_word_labels_give_a_decision_value_for_each_class(invoke: Invoke) -> None:
    train, new = write_table(Path("train.csv"), "word"), write_table(Path("new.csv"), None, 7, seed=1)
    options = ("--method", "average", "--C", "10", "--kernels", "rbf:1,4", "--kernels", "linear")
    assert invoke("fit", train, "--target", "target", *options).exit_code == 0
    result = invoke("predict", "model.mk", new, "--out", "p.csv")
    assert result.stdout == "7 predictions written to p.csv\n"
    columns = _predictions(Path("p.csv").read_text())
    assert list(columns) == ["prediction", "decision maybe", "decision no", "decision yes"]
    assert len(load("model.mk").kernel_names_) == 3
    for i, label in enumerate(columns["prediction"]):
        values = {name.removeprefix("decision "): float(columns[name][i]) for name in list(columns)[1:]}
        assert label == max(values, key=lambda name: values[name])


@pytest.mark.parametrize(
    ("method", "kind", "labels", "options"),
    one_in(
        3,
        [
            ("l1mkl", "word", {"maybe", "no", "yes"}, ("--C", "10")),
            ("lpmkl", "number", {"3", "7"}, ("--C", "10")),
            ("smkl", "number", {"3", "7"}, ()),
        ],
    ),
)
def test_support_vector_methods_fit_and_predict(
    invoke: Invoke, method: str, kind: str, labels: set[str], options: tuple[str, ...]
) -> None:
    train, new = write_table(Path("train.csv"), kind, 40), write_table(Path("new.csv"), None, 7, seed=1)
    chosen = ("--method", method, "--kernels", "rbf:1,4", *options)
    done = invoke("fit", train, "--target", "target", *chosen)
    assert done.exit_code == 0, done.output
    assert ("C, chosen by 3 folds" in done.stdout) == (not options)
    result = invoke("predict", "model.mk", new, "--out", "p.csv")
    assert result.stdout == "7 predictions written to p.csv\n"
    assert set(_predictions(Path("p.csv").read_text())["prediction"]) <= labels


@pytest.mark.study
def test_products_of_features_are_found_and_named(invoke: Invoke) -> None:
    """The target is decided by age > 40 or red: two features and their product."""
    train, new = write_table(Path("train.csv"), "number", 150), write_table(Path("new.csv"), "number", 80, seed=1)
    done = invoke("fit", train, "--target", "target", "--method", "hkl", "--C", "10")
    assert done.exit_code == 0, done.output
    assert "HKLClassifier" in done.stdout
    model = load("model.mk")
    assert "RBF(gamma=6.0).on('age') * RBF(gamma=6.0).on('colour=red')" in model.kernel_names_
    assert float(done.stdout.split("relative duality gap")[1].split()[0]) <= 1e-3
    found = _predictions(invoke("predict", "model.mk", new).stdout)["prediction"]
    assert np.mean(pd.read_csv(new)["target"].astype(str) == found) > 0.9


@pytest.mark.parametrize("method", one_in(2, ["rls2", "polynomial"]))
def test_least_squares_methods_separate_classes(invoke: Invoke, method: str) -> None:
    train, new = write_table(Path("train.csv"), "number"), write_table(Path("new.csv"), None, 7, seed=1)
    done = invoke("fit", train, "--target", "target", "--method", method, "--alpha", "0.01")
    assert done.exit_code == 0, done.output
    result = invoke("predict", "model.mk", new)
    assert set(_predictions(result.stdout)["prediction"]) <= set(pd.read_csv(train)["target"].astype(str))


@pytest.mark.parametrize(
    "options",
    [
        ("rls2", "--alpha", "0.01"),
        ("polynomial", "--alpha", "0.1"),
        ("ridgecv",),
        ("l1mkl", "--C", "10"),
        ("hkl", "--C", "10"),
    ],
    ids=lambda options: options[0],
)
def test_methods_for_numbers_fit_and_predict(invoke: Invoke, options: tuple[str, ...]) -> None:
    train, new = write_table(Path("train.csv"), "real", 30), write_table(Path("new.csv"), "real", 12, seed=1)
    done = invoke("fit", train, "--target", "target", "--kernels", "features", "--method", *options)
    assert done.exit_code == 0, done.output
    found = _predictions(invoke("predict", "model.mk", new).stdout)["prediction"]
    truth = pd.read_csv(new)["target"].to_numpy()
    assert np.corrcoef(truth, [float(v) for v in found])[0, 1] > 0.9


def test_numbers_are_predicted_and_the_ridge_is_chosen(invoke: Invoke) -> None:
    train, new = write_table(Path("train.csv"), "real"), write_table(Path("new.csv"), "real", 12, seed=1)
    done = invoke("fit", train, "--target", "target", "--kernels", "poly:1", "--kernels", "features")
    assert done.exit_code == 0, done.output
    assert "AverageMKLRegressor" in done.stdout
    assert "alpha, chosen by 3 folds" in done.stdout
    columns = _predictions(invoke("predict", "model.mk", new).stdout)  # its target column is not in the way
    assert list(columns) == ["prediction"]
    truth = pd.read_csv(new)["target"].to_numpy()
    assert np.corrcoef(truth, [float(v) for v in columns["prediction"]])[0, 1] > 0.99


def test_compressed_files_and_any_order_of_columns(invoke: Invoke) -> None:
    train, new = write_table(Path("train.csv"), "number"), write_table(Path("new.csv"), None, 5, seed=1)
    Path("train.csv.gz").write_bytes(gzip.compress(train.read_bytes()))
    pd.read_csv(new).assign(extra=1)[["extra", "height", "colour", "age"]].to_csv("turned.csv.gz", index=False)
    assert invoke("fit", "train.csv.gz", "--target", "target", "--lam", "0.1").exit_code == 0
    assert invoke("predict", "model.mk", new).stdout == invoke("predict", "model.mk", "turned.csv.gz").stdout


def test_what_fit_says(invoke: Invoke) -> None:
    lines = write_table(Path("train.csv"), "number").read_text().splitlines()
    Path("train.csv").write_text("\n".join([f"{line},{k or '_id'}" for k, line in enumerate(lines)]) + "\n\n")
    out = invoke("fit", "train.csv", "--target", "target", "--lam", "0.1").stdout
    facts = {line.split("  ")[0]: line.split()[-1] for line in out.splitlines()}
    assert facts["features"] == "3"
    assert facts["samples"] == "60"
    assert facts["left out"] == "_id"
    assert float(facts["relative duality gap"]) < 1e-5
    assert "accuracy, cross-validated" in out
    assert len([line for line in out.splitlines() if line.startswith("Homogeneous")]) == 10
    assert "model written to model.mk" in out
    assert read("model.mk")[1]["table"]["target"] == "target"


def test_a_class_too_small_for_folds_is_fitted_without_a_cross_validated_score(invoke: Invoke) -> None:
    Path("train.csv").write_text("x,target\n1,a\n2,a\n3,b\n")
    done = invoke("fit", "train.csv", "--target", "target", "--method", "easymkl")
    assert done.exit_code == 0, done.output
    assert "not available: too few samples" in done.stdout


TABLES = {
    "missing label": (f"{HEADER},target\n30,red,170,\n31,blue,160,2\n", "row 2, column 'target': '' is a missing"),
    "short row": (f"{HEADER},target\n30,red,170,1\n31,blue\n", "row 3 has 2 cells, and row 1 has 4"),
    "long row": (f"{HEADER},target\n30,red,170,1,9\n31,blue,160,2\n", "row 2 has 5 cells, and row 1 has 4"),
    "misprint": (f"{HEADER},target\n30,red,170,1\n3l,blue,160,2\n33,blue,1,2\n", "row 3, column 'age': '3l' is not"),
    "infinite": (f"{HEADER},target\n30,red,inf,1\n31,blue,160,2\n", "row 2, column 'height': 'inf' is not a finite"),
    "no target": ("age,colour\n30,red\n31,blue\n", "has no column 'target'; it has age, colour"),
    "only target": ("target\n1\n2\n", "no feature columns beside 'target'"),
    "one class": ("age,target\n30,a\n31,a\n", "column 'target' holds one class only, a"),
    "no rows": ("age,target\n", "column names in row 1 and no row after it"),
    "empty": ("", "is empty"),
    "twice": ("age,age,target\n1,2,3\n", "row 1, column 2: the name 'age' occurs twice"),
    "nameless": ("age,,target\n1,2,3\n", "row 1, column 2: the column has no name"),
}


@pytest.mark.parametrize(("text", "complaint"), TABLES.values(), ids=TABLES)
def test_a_table_that_cannot_be_used_leaves_one_line_and_no_model(invoke: Invoke, text: str, complaint: str) -> None:
    Path("train.csv").write_text(text)
    _fails(invoke("fit", "train.csv", "--target", "target", "--method", "average"), complaint)


@pytest.mark.parametrize(
    ("kind", "options", "complaint"),
    [
        (
            "real",
            ("--method", "easymkl"),
            "easymkl separates classes, and 'target' holds numbers; use --method l1mkl, lpmkl,",
        ),
        ("word", ("--method", "ridgecv"), "ridgecv predicts numbers, and 'target' holds classes; use --method easymkl"),
        ("word", ("--method", "smkl", "--lam", "0.1"), "--lam does not apply to --method smkl where the target holds"),
        ("word", ("--method", "rls2", "--C", "1"), "target holds classes: use --alpha"),
        ("real", ("--method", "ridgecv", "--alpha", "1"), "target holds numbers: it chooses by itself"),
        ("real", ("--C", "1"), "--C does not apply"),
        ("real", ("--task", "classification"), "neither a word nor an integer"),
        ("word", ("--alpha", "1"), "--alpha does not apply"),
        ("word", ("--task", "regression"), "is not a number, and the task is regression"),
        ("word", ("--method", "best", "--lam", "0.1", "--C", "1"), "--lam and --C exclude each other"),
        ("word", ("--C", "-1"), "C must be"),
        ("word", ("--out", "nowhere/model.mk"), "the directory nowhere does not exist"),
    ],
)
def test_options_that_do_not_fit_leave_one_line_and_no_model(
    invoke: Invoke, kind: str, options: tuple[str, ...], complaint: str
) -> None:
    write_table(Path("train.csv"), kind)
    _fails(invoke("fit", "train.csv", "--target", "target", *options), complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"{HEADER}\n30,red,170\n31,purple,160\n", "row 3, column 'colour': 'purple' was not among the categories in"),
        (f"{HEADER}\n30,red,170\nold,red,160\n", "row 3, column 'age': 'old' is not a number"),
        (f"{HEADER}\n30,red,\n", "row 2, column 'height': '' is a missing value"),
        ("age,colour\n30,red\n", "lacks 'height'; the model needs the columns age, colour, height"),
        (f"{HEADER}\n", "no row after it"),
    ],
)
def test_new_rows_that_the_model_cannot_take_leave_one_line_and_no_file(
    invoke: Invoke, text: str, complaint: str
) -> None:
    write_table(Path("train.csv"), "number")
    assert invoke("fit", "train.csv", "--target", "target", "--lam", "0.1").exit_code == 0
    Path("new.csv").write_text(text)
    before = sorted(Path.cwd().iterdir())
    result = invoke("predict", "model.mk", "new.csv", "--out", "p.csv")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert complaint in result.stderr
    assert sorted(Path.cwd().iterdir()) == before


def test_a_file_that_is_no_model_of_a_table_is_refused(invoke: Invoke) -> None:
    new = write_table(Path("new.csv"), None)
    Path("junk.mk").write_text("junk")
    save(EasyMKLClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 1]), "bare.mk")
    for model, complaint in (("junk.mk", "not a model"), ("bare.mk", "one that fit has written"), ("no.mk", "No such")):
        result = invoke("predict", model, new)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert complaint in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "train.csv"),
        ("fit", "train.csv", "--target", "y", "--kernels", "gauss:1"),
        ("fit", "train.csv", "--target", "y", "--method", "magic"),
        ("fit", "train.csv", "--target", "y", "--lam", "2"),
        ("predict", "model.mk"),
        ("nonsense",),
    ],
)
def test_bad_usage_is_status_two(
    invoke: Invoke, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text("x,y\n1,2\n2,1\n3,4\n")
    assert invoke(*words).exit_code == 2


def _fails(result: object, complaint: str) -> None:
    assert result.exit_code == 1  # type: ignore[attr-defined]
    lines = [line for line in result.stderr.splitlines() if not line.startswith("cross-validation: ")]  # type: ignore[attr-defined]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert complaint in lines[0]
    assert [path.name for path in Path.cwd().iterdir()] == ["train.csv"]


def test_every_method_can_be_named() -> None:
    assert [method.value for method in MethodName] == list(METHODS)


def test_a_linear_method_has_columns_of_mean_zero_and_one_deviation(invoke: Invoke) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 100.0, 0.01] + [5.0, -300.0, 0.2]
    target = X @ [1.0, 0.02, 90.0] + 7.0 + 0.3 * rng.normal(size=60)
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=target).to_csv("t.csv", index=False)
    done = invoke("fit", "t.csv", "--target", "y", "--method", "linearrls2", "--alpha", "0.001")
    assert done.exit_code == 0, done.output
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    twin = LinearRLS2Regressor(alpha=0.001).fit(standard, target)
    found = [float(value) for value in _predictions(invoke("predict", "model.mk", "t.csv").stdout)["prediction"]]
    np.testing.assert_allclose(found, twin.predict(standard), rtol=1e-6)
    least = np.column_stack([np.ones(60), X])
    residuals = target - least @ np.linalg.lstsq(least, target, rcond=None)[0]
    assert np.square(found - target).mean() < 1.05 * np.square(residuals).mean()


def test_a_hyphen_is_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    text = write_table(Path("train.csv"), "number").read_text()
    words = ["--target", "target", "--lam", "0.1", "--out"]
    for name, given in (("file.mk", "train.csv"), ("piped.mk", "-")):
        done = runner.invoke(app, ["fit", given, *words, name], input=text)
        assert done.exit_code == 0, done.output
    by_file = runner.invoke(app, ["predict", "file.mk", "train.csv"])
    piped = runner.invoke(app, ["predict", "piped.mk", "-"], input=text)
    assert piped.stdout == by_file.stdout
    packed = runner.invoke(app, ["predict", "piped.mk", "-"], input=gzip.compress(text.encode()))
    assert packed.stdout == by_file.stdout
    several = runner.invoke(app, ["predict", "piped.mk", "-", "--view", "train.csv"], input=text)
    assert several.stderr.startswith("error: with --view each file has a name")
    empty = runner.invoke(app, ["predict", "piped.mk", "-"], input="")
    assert (empty.exit_code, empty.stdout) == (1, "")
    assert empty.stderr.startswith("error: standard input is empty")
    wrong = runner.invoke(app, ["predict", "piped.mk", "-"], input="age,colour\n30,blue\n")
    assert wrong.stderr.startswith("error: standard input lacks 'height'")


@pytest.mark.parametrize("labels", [("007", "08"), ("12345678901234567890", "12345678901234567891")])
def test_codes_are_classes_as_they_are_written(invoke: Invoke, labels: tuple[str, str]) -> None:
    Path("t.csv").write_text("x,y\n" + "\n".join(f"{i},{labels[i // 10]}" for i in range(20)) + "\n")
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--kernels", "linear", "--C", 1)
    assert done.exit_code == 0, done.stderr
    predicted = [line.partition(",")[0] for line in invoke("predict", "model.mk", "t.csv").stdout.splitlines()[1:]]
    assert predicted[0] == labels[0]
    assert predicted[-1] == labels[1]


def test_dates_whose_days_may_be_months_and_numbers_too_large_are_named(invoke: Invoke) -> None:
    days = [f"{1 + i % 12:02}/{1 + 7 * i % 12:02}/2020" for i in range(20)]
    Path("t.csv").write_text("x,day,y\n" + "\n".join(f"{i},{day},{'ab'[i // 10]}" for i, day in enumerate(days)) + "\n")
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--kernels", "linear", "--C", 1)
    assert done.exit_code == 0, done.stderr
    assert "in which nothing distinguishes days from months" in done.stderr
    Path("t.csv").write_text("x,y\n" + "\n".join(f"{'-' * (i % 2)}1e308,{'ab'[i // 10]}" for i in range(20)) + "\n")
    done = invoke("fit", "t.csv", "--target", "y", "--method", "average", "--force")
    assert "column 'x' holds numbers up to 1e+308, whose differences are more than" in done.stderr
