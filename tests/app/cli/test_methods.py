"""Parameters of the estimators on the command line, and what the program says about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from csv_tables import Invoke, write_table

import multikernel
from multikernel.app.cli.words import assigned
from multikernel.app.jobs.methods import METHODS, estimators_of, parameters_of
from multikernel.persistence import load


@pytest.mark.parametrize("name", [None, *METHODS])
def test_every_parameter_is_described_in_the_words_of_the_docstring(name: str | None) -> None:
    for estimator in estimators_of(name):
        found = {each.name: each for each in parameters_of(estimator)}
        own = set(estimator().get_params(deep=False)) - {"kernels", "verbose"}
        assert set(found) == own
        assert all(each.kind and not each.kind.startswith("as in") for each in found.values())


def test_methods_lists_all_and_describes_one(invoke: Invoke) -> None:
    listed = invoke("methods").stdout
    assert all(f"\n{name} " in listed for name in METHODS)
    shown = invoke("methods", "smkl").stdout
    assert "SMKLClassifier\n" in shown
    assert "\n  smoothing : float > 0" in shown
    assert invoke("methods", "magic").exit_code == 2


def test_a_parameter_reaches_the_estimator(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 40)
    options = ("--target", "target", "--method", "lpmkl", "--set", "p=1.5", "--set", "class_weight={3: 1, 7: 2.5}")
    done = invoke("fit", "train.csv", *options, "--set", "C=2", "--set", "multiclass=ovo", "--kernels", "rbf:1,4")
    assert done.exit_code == 0, done.output
    assert "chosen by" not in done.stdout  # C was given
    model = load("model.mk")
    assert (model.p, model.C, model.multiclass, model.class_weight) == (1.5, 2, "ovo", {3: 1, 7: 2.5})


def test_the_automatic_estimator_takes_its_own(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "real", 40)
    assert invoke("fit", "train.csv", "--target", "target", "--set", "time_budget=20").exit_code == 0
    assert load("model.mk").time_budget == 20


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            ("--method", "easymkl", "--set", "lam=2"),
            "EasyMKLClassifier: lam must be a number in [0, 1] or 'auto', got 2",
        ),
        (
            ("--method", "easymkl", "--set", "lamm=1"),
            "no parameter 'lamm'; did you mean 'lam'? It has lam, method, norm",
        ),
        (("--method", "lpmkl", "--set", "p=inf"), "p must be a finite number >= 1"),
        (("--method", "l1mkl", "--set", "solver=magic"), "solver"),
        (("--method", "l1mkl", "--set", "kernels=rbf"), "'kernels' cannot be set here; use --kernels"),
        (("--method", "l1mkl", "--C", "1", "--set", "C=2"), "C is given twice, by --C and by --set; give it once"),
        (("--method", "linearrls2", "--kernels", "linear"), "--method linearrls2 takes no kernels"),
        (("--set", "lam=0.1"), "MultiKernelClassifier has no parameter 'lam'"),
    ],
)
def test_a_wrong_parameter_is_one_sentence(invoke: Invoke, options: tuple[str, ...], complaint: str) -> None:
    write_table(Path("train.csv"), "number", 40)
    refused = invoke("fit", "train.csv", "--target", "target", *options)
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert complaint in refused.stderr
    assert not Path("model.mk").exists()


@pytest.mark.parametrize("word", ["lam", "lam=", "=3", "a b=1"])
def test_words_of_set_have_a_name_and_a_value(invoke: Invoke, word: str) -> None:
    write_table(Path("train.csv"), "number", 40)
    refused = invoke("fit", "train.csv", "--target", "target", "--set", word)
    assert refused.exit_code == 2
    assert "is written like lam=0.5" in refused.stderr


def test_values_are_written_as_in_python() -> None:
    found = assigned(["a=1", "b=1e-3", "c=none", "d=True", "e=auto", "f=[1, 2]", "g='1'", "h=a=b", "i=-inf"])
    assert found == {
        "a": 1,
        "b": 1e-3,
        "c": None,
        "d": True,
        "e": "auto",
        "f": [1, 2],
        "g": "1",
        "h": "a=b",
        "i": "-inf",
    }
    with pytest.raises(ValueError, match="'a' is set twice"):
        assigned(["a=1", "a=2"])


def test_probabilities_are_learned_where_they_are_asked_for(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 40)
    write_table(Path("real.csv"), "real", 40)
    fit = (
        "fit",
        "train.csv",
        "--target",
        "target",
        "--method",
        "l1mkl",
        "--C",
        "10",
        "--kernels",
        "rbf:1,4",
        "--force",
    )
    assert invoke(*fit).exit_code == 0
    assert "gives no probabilities; fit it with --proba" in invoke("predict", "model.mk", "train.csv", "--proba").stderr
    assert invoke(*fit, "--proba").exit_code == 0
    assert load("model.mk").probability == "platt"
    rows = invoke("predict", "model.mk", "train.csv", "--proba").stdout.splitlines()
    assert rows[0] == "prediction,probability 3,probability 7"
    refused = invoke("fit", "real.csv", "--target", "target", "--method", "l1mkl", "--proba", "--force")
    assert "'target' holds numbers, which have no probabilities" in refused.stderr
    assert multikernel.L1MKLRegressor().get_params().get("probability") is None
