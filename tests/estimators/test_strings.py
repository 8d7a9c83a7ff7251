"""Estimators fitted on strings, alone and beside numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from multikernel import (
    BankSearchCV,
    EasyMKLClassifier,
    L1MKLClassifier,
    RLS2Regressor,
    kernels,
    load,
    save,
)
from multikernel.kernels import RBF, Linear, Spectrum

Array = Any


def sequences(n: int = 90, seed: int = 0) -> tuple[list[str], Array]:
    """Sequences in which a pair of letters is common in one class and rare in the other, single letters in neither."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    pairs = (["AB", "CD"], ["AD", "CB"])
    return ["".join(rng.choice(pairs[label] + ["AC"], size=15)) for label in y], y


S, Y = sequences()
TRAIN, TEST = slice(0, 60), slice(60, 90)
FRAME = pd.DataFrame({"age": np.random.default_rng(1).normal(size=90), "sequence": S, "dose": Y + 0.0})
MIXED = [Spectrum(2).on("sequence").normalized(), RBF(0.5).on("age"), Linear().on(["dose"])]


def test_a_list_of_strings_is_fitted_and_predicted() -> None:
    model = EasyMKLClassifier(kernels.spectra(3)).fit(S[TRAIN], Y[TRAIN])
    assert model.score(S[TEST], Y[TEST]) >= 0.9
    assert model.n_features_in_ == 1
    assert model.weights_[1] > model.weights_[0]
    assert list(model.kernel_names_) == list(kernels.spectra(3).names)


@pytest.mark.parametrize(
    "form", [np.array, lambda X: np.array(X, dtype=object), pd.Series], ids=["U", "object", "series"]
)
def test_forms_of_strings_give_the_same_model(form: Any) -> None:
    want = EasyMKLClassifier(kernels.spectra(3)).fit(S[TRAIN], Y[TRAIN])
    model = EasyMKLClassifier(kernels.spectra(3)).fit(form(S[TRAIN]), Y[TRAIN])
    np.testing.assert_array_equal(model.weights_, want.weights_)
    np.testing.assert_array_equal(model.decision_function(form(S[TEST])), want.decision_function(S[TEST]))


@pytest.mark.parametrize(
    "model",
    [L1MKLClassifier(kernels.spectra(3)), RLS2Regressor(kernels.spectra(3), alpha=0.1)],
    ids=["support", "least squares"],
)
def test_other_estimators_take_strings(model: Any) -> None:
    assert model.fit(S[TRAIN], Y[TRAIN]).score(S[TEST], Y[TEST]) > 0.5


def test_strings_shorter_than_every_length_get_the_intercept() -> None:
    model = RLS2Regressor(kernels.spectra(3)).fit([*S[TRAIN], ""], [*Y[TRAIN], 0])
    np.testing.assert_allclose(model.predict(["", "Z"]), model.intercept_)


def test_a_column_of_strings_beside_numbers() -> None:
    model = EasyMKLClassifier(MIXED).fit(FRAME[TRAIN], Y[TRAIN])
    assert model.score(FRAME[TEST], Y[TEST]) == 1.0  # the dose tells
    assert list(model.feature_names_in_) == ["age", "sequence", "dose"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[["sequence", "age", "dose"]])


def test_cross_validation_on_strings() -> None:
    model, grid = EasyMKLClassifier(kernels.spectra(2)), {"lam": [0.1, 0.5]}
    bank = BankSearchCV(model, grid, cv=3).fit(S, Y)
    anew = GridSearchCV(model, grid, cv=3).fit(S, Y)
    np.testing.assert_allclose(bank.cv_results_["mean_test_score"], anew.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(bank.predict(S[TEST]), anew.predict(S[TEST]))
    assert cross_val_score(EasyMKLClassifier(MIXED), FRAME, Y, cv=3).min() > 0.9


@pytest.mark.parametrize(("family", "X"), [(kernels.spectra(3), S), (MIXED, FRAME)], ids=["strings", "frame"])
def test_models_of_strings_are_saved_and_loaded(family: Any, X: Any, tmp_path: Path) -> None:
    model = EasyMKLClassifier(family).fit(X[TRAIN], Y[TRAIN])
    save(model, tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(X[TEST]), model.decision_function(X[TEST]))
    with pytest.raises(ValueError, match="strings"):
        again.predict(FRAME[["age"]].to_numpy() if X is S else FRAME.assign(sequence=0.0))


def test_strings_are_refused_where_numbers_are_taken() -> None:
    for model in (EasyMKLClassifier(), RLS2Regressor(), EasyMKLClassifier([RBF(1.0)])):
        with pytest.raises(ValueError, match="takes numbers, but column 0 of X holds strings"):
            model.fit(S, Y)
    with pytest.raises(ValueError, match="fitted with strings in columns none of X, and got them in 0"):
        EasyMKLClassifier().fit(FRAME[["age"]].to_numpy(), Y).predict(S)


def test_numbers_are_refused_where_strings_are_taken() -> None:
    numbers = FRAME[["age"]].to_numpy()
    with pytest.raises(ValueError, match="compares strings, and X has 0 columns of strings among 1"):
        EasyMKLClassifier(kernels.spectra(2)).fit(numbers, Y)
    with pytest.raises(ValueError, match="fitted with strings in columns 0 of X, and got them in none"):
        EasyMKLClassifier(kernels.spectra(2)).fit(S, Y).predict(numbers)
    with pytest.raises(
        ValueError, match=r"Spectrum.* takes no missing cells, and column 'sequence' of X has some: fill them in"
    ):
        EasyMKLClassifier(MIXED).fit(FRAME.assign(sequence=[None if i == 4 else s for i, s in enumerate(S)]), Y)


def test_a_model_fitted_again_on_numbers_forgets_the_strings() -> None:
    model = EasyMKLClassifier(kernels.spectra(2)).fit(S, Y)
    numbers = FRAME[["age", "dose"]].to_numpy()
    assert model.set_params(kernels=[Linear()]).fit(numbers, Y).predict(numbers).shape == (90,)


@pytest.mark.parametrize("kind", [str, object])
def test_strings_are_no_targets_of_a_regressor(kind: type) -> None:
    """Nor are those that could be read as numbers."""
    target = np.arange(len(Y)).astype(str).astype(kind)
    numbers = FRAME[["age"]].to_numpy()
    K = (numbers @ numbers.T)[None]
    for model, given in ((RLS2Regressor([Linear()]), numbers), (RLS2Regressor("precomputed"), K)):
        with pytest.raises(ValueError, match="y holds strings, not numbers"):
            model.fit(given, target)
