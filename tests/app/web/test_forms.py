"""Forms of estimators and families of kernels, made from their signatures and docstrings."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import multikernel as mk
from multikernel.app.toml import toml
from multikernel.app.web.exports import code
from multikernel.app.web.forms import MethodForm, family_fields, family_parameters, methods, parameters, plain_name
from multikernel.app.web.learning.families import FAMILIES, estimator_of, families
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import as_estimator_input
from multikernel.app.web.learning.summary import path_of
from multikernel.datasets.dataset import Task

_ALL = [(task, method) for task in ("classification", "regression") for method in methods(task).values()]  # type: ignore[arg-type]


@pytest.mark.parametrize(("task", "method"), _ALL, ids=lambda each: getattr(each, "name", each))
def test_a_form_says_what_each_field_is_and_changes_nothing_by_itself(task: Task, method: MethodForm) -> None:
    assert method.about.endswith(".")
    assert method.fields
    assert all(field.form for field in method.fields)
    filled = {field.name: field.value for field in method.fields}
    assert parameters(method, filled) == {}
    assert parameters(method, {}) == {}


def test_fields_become_values_and_wrong_ones_are_refused() -> None:
    method = methods("classification")["EasyMKLClassifier"]
    filled = {field.name: field.value for field in method.fields}
    changed = parameters(method, filled | {"lam": "0.5", "max_iter": "10", "learner": "svc"})
    assert changed == {"lam": 0.5, "max_iter": 10, "learner": "svc"}
    lam = next(field for field in method.fields if field.name == "lam")
    assert "0 is the hard margin" in lam.about
    assert next(field for field in method.fields if field.name == "learner").choices == ("margin", "svc")
    with pytest.raises(ValueError, match="lam must be"):
        parameters(method, filled | {"lam": "2"})
    with pytest.raises(ValueError, match="max_iter must be"):
        parameters(method, filled | {"max_iter": "many"})
    flag = next(field for field in methods("classification")["L1MKLClassifier"].fields if field.kind == "flag")
    unticked = {f.name: f.value for f in methods("classification")["L1MKLClassifier"].fields if f.kind != "flag"}
    assert parameters(methods("classification")["L1MKLClassifier"], unticked)[flag.name] is False


def test_every_family_asks_for_what_its_function_takes() -> None:
    asked = {word: {field.name: field for field in family_fields(word)} for word in FAMILIES}
    assert {word: set(fields) for word, fields in asked.items()} == {
        "types": {"single"},
        "gaussians": {"gammas"},
        "polynomials": {"degrees", "coef0"},
        "degrees": {"max_degree", "normalize"},
        "anova": {"max_degree", "normalize"},
        "linear": set(),
        "slopes": set(),
        "rls2": set(),
    }
    assert "by default this is so up to 100 columns" in asked["types"]["single"].form
    for word, fields in asked.items():
        assert family_parameters(word, {}) == family_parameters(word, {f.name: f.value for f in fields.values()}) == {}


@pytest.mark.parametrize(
    ("word", "typed", "found"),
    [
        ("types", {"single": "False"}, {"single": False}),
        ("gaussians", {"gammas": "[0.1, 1]"}, {"gammas": [0.1, 1]}),
        ("polynomials", {"degrees": "2", "coef0": "0"}, {"degrees": [2], "coef0": 0}),
        ("degrees", {"max_degree": "4"}, {"max_degree": 4, "normalize": False}),  # a box without its tick is not sent
        ("gaussians", {"gammas": "0.1, -1"}, "finite number > 0, got -1"),
        ("polynomials", {"degrees": ""}, "degrees must be a list"),
        ("polynomials", {"degrees": "two"}, "got 'two'"),
        ("degrees", {"max_degree": "9000"}, "9001 kernels; ask for 500 at most"),
        ("types", {"single": "perhaps"}, "single must be one of True, False"),
    ],
)
def test_what_is_typed_for_a_family_is_taken_or_refused(word: str, typed: dict[str, str], found: Any) -> None:
    if isinstance(found, dict):
        assert family_parameters(word, typed) == found
        return
    with pytest.raises(ValueError, match=found):
        family_parameters(word, typed)


def test_exported_code_and_toml_have_the_kernels_of_each_view() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 4)), columns=["a: x", "a: z", "b: x", "b: z"])
    recipe = Recipe(
        "d",
        "y",
        "regression",
        dict.fromkeys(X, "number"),
        {"a": ["a: x", "a: z"], "b": ["b: x", "b: z"]},
        method="AverageMKLRegressor",
        kernels={"a": ["polynomials", "gaussians"], "b": ["anova", "types", "linear"]},
        kernel_parameters={
            "a": {"polynomials": {"degrees": [2], "coef0": 0.5}, "gaussians": {"gammas": [0.25]}},
            "b": {"anova": {"max_degree": 2, "normalize": False}, "types": {"single": False}},
        },
    )
    given = as_estimator_input(X, recipe)
    own = families(given, recipe)
    assert own["a"].names[1] == "RBF(gamma=0.25)"
    assert own["b"].names[0] == "ANOVA(degree=1, kernel=None)"
    assert [len(each) for each in own.values()] == [1 + 1, 2 + 6 + 1]  # by type, those of both columns alone
    assert Recipe.from_json(tomllib.loads(toml(recipe.to_json()))) == recipe
    script: dict[str, Any] = {}
    exec(code(recipe, "float").partition("table = pd.read_csv")[0], script)
    again = script["families"](script["model_input"](X))
    for view, kernels in own.items():
        assert again[view].names == kernels.names
        assert list(map(repr, again[view])) == list(map(repr, kernels))


def test_exported_code_reads_classes_that_are_written_with_a_point(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,y\n1,1.0\n2,0.0\n3,1.0\n")
    script: dict[str, Any] = {"__file__": str(tmp_path / "run.py")}
    recipe = Recipe("d", "y", "classification", {"x": "number"})
    exec(code(recipe, "int").partition("\nfolds = ")[0], script)
    assert script["y"].tolist() == [1, 0, 1]


def test_the_linear_method_is_rls2_with_linear_kernels_of_the_columns() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 4)) * [1.0, 30.0, 0.1, 1.0] + [5.0, 0.0, 2.0, -7.0], columns=list("abcd"))
    y = np.asarray(X["a"] + 0.1 * X["b"] + 0.1 * rng.normal(size=50))
    form = methods("regression")["LinearRLS2Regressor"]
    assert (form.title, form.families) == (plain_name("LinearRLS2Classifier").title, ("slopes",))
    recipe = Recipe(
        "t", "y", "regression", dict.fromkeys("abcd", "number"), method=form.kind.__name__, kernels={"": ["slopes"]}
    )
    model, given = estimator_of(replace(recipe, parameters={"alpha": 0.01, "tol": 1e-9}), X, y)
    own = mk.LinearRLS2Regressor(alpha=0.01).fit((X - X.mean()) / X.std(ddof=0), y)
    assert model.fit(given, y).predict(given) == pytest.approx(own.predict((X - X.mean()) / X.std(ddof=0)), abs=1e-4)
    assert model.kernel_names_.tolist() == list("abcd")
    thirteen, given = estimator_of(replace(recipe, kernels={"": ["rls2"]}, parameters={"alpha": 0.1}), X, y)
    assert len(thirteen.fit(given, y).kernel_names_) == 13 * 5
    searched, given = estimator_of(replace(recipe, path="alpha", path_count=4, path_folds=3), X, y)
    searched.fit(given, y)
    assert [each["alpha"] for each in searched.cv_results_["params"]] == pytest.approx(
        np.geomspace(1e-6, 100.0, 4).tolist(), rel=1e-5
    )
    assert searched.n_splits_ == 3
    found = path_of(searched, replace(recipe, path="alpha"), given, y)
    assert found is not None
    assert set(found["profiles"]["weights"]["names"][:2]) == {"a", "b"}
    finest = mk.LinearRLS2Regressor(alpha=100.0 / 1e8 ** (2 / 3)).fit((X - X.mean()) / X.std(ddof=0), y)
    drawn = dict(
        zip(found["profiles"]["coefficients"]["names"], found["profiles"]["coefficients"]["curves"], strict=True)
    )
    assert [drawn[name][1] for name in "ab"] == pytest.approx(finest.coef_[:2].tolist(), abs=1e-2)
    assert set(found["profiles"]["criteria"]) == {"degrees_of_freedom", "gcv", "aic", "bic"}
