"""Samples that are objects, in estimators, cross-validation, views and model files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

import multikernel as mk
from multikernel import kernels, views
from packages import Commons, common

rng = np.random.default_rng(0)
Y = np.arange(40) % 2
GOODS = np.array(list("abcdef"))
SETS = [set(rng.choice(GOODS[2 * k : 2 * k + 4], 3, replace=False).tolist()) for k in Y]
AGE = rng.normal(size=(40, 2))
SERIES = [np.sin(np.arange(rng.integers(6, 10)) * (0.5 + k)) for k in Y]
PAIRS = kernels.external(common, pairwise=True)
FAMILY = [PAIRS, kernels.external(Commons()).normalized()]


def lengths(x: Any, z: Any) -> float:
    """Of two series: how alike they are as far as the shorter one goes."""
    n = min(len(x), len(z))
    return float(np.exp(-np.square(np.asarray(x)[:6] - np.asarray(z)[:6]).sum())) if n >= 6 else 0.0


@pytest.mark.parametrize(
    "model",
    [
        mk.L1MKLClassifier(FAMILY),
        mk.EasyMKLClassifier(FAMILY),
        mk.AverageMKLClassifier(FAMILY),
        mk.RLS2Classifier(FAMILY),
        mk.LpMKLClassifier(FAMILY, approximation="nystroem", rank=12),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_learn_from_a_list_of_objects(model: Any) -> None:
    model.fit(SETS[:30], Y[:30])
    assert model.score(SETS[30:], Y[30:]) >= 0.9
    assert model.n_features_in_ == 1
    assert np.array_equal(model.predict(pd.Series(SETS[30:])), model.predict(SETS[30:]))
    assert np.array_equal(model.predict(np.array(SETS[30:])), model.predict(SETS[30:]))
    assert model.kernel_matrix(SETS[30:], SETS[:5]).shape == (10, 5)


def test_regressors_know_their_uncertainty_about_objects() -> None:
    model = mk.MultipleKernelRidgeCV(FAMILY).fit(SETS, Y + 0.1 * AGE[:, 0])
    mean, std = model.predict(SETS[:5], return_std=True)
    assert mean.shape == std.shape == (5,)
    assert (std > 0).all()


def test_cross_validation_and_searches_slice_objects() -> None:
    assert cross_val_score(mk.L1MKLClassifier(FAMILY), SETS, Y, cv=3).min() >= 0.8
    found = GridSearchCV(mk.L1MKLClassifier(PAIRS), {"C": [0.01, 1.0]}, cv=3).fit(SETS, Y)
    assert found.best_score_ >= 0.8
    found = mk.BankSearchCV(mk.EasyMKLClassifier(FAMILY), {"lam": [0.1, 0.9]}, cv=3).fit(SETS, Y)
    assert found.predict(SETS[:4]).tolist() == Y[:4].tolist()
    found = GridSearchCV(mk.L1MKLClassifier(kernels.external(Commons(2.0))), {"kernels__pairwise": [False]}, cv=3).fit(
        SETS, Y
    )
    assert found.best_score_ >= 0.8


def test_views_of_objects_beside_numbers() -> None:
    seen = views({"sets": SETS, "age": AGE})
    assert repr(seen) == "<Views of 40 samples: 'sets' (objects), 'age' (2 columns)>"
    model = mk.L1MKLClassifier({"sets": FAMILY, "age": "rbf"})
    assert cross_val_score(model, seen, Y, cv=3).min() >= 0.8
    train, test, y_train, y_test = train_test_split(seen, Y, random_state=0)
    assert model.fit(train, y_train).score(test, y_test) >= 0.8
    assert model.fit(seen, Y).kernel_names_[0] == "sets: external(common, pairwise=True)"
    found = mk.BankSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(seen, Y)
    assert found.predict(seen[:4]).tolist() == Y[:4].tolist()


def test_a_list_of_views_has_kernels_by_view() -> None:
    by_view = {"view 0": kernels.external(rbf_kernel), "view 1": kernels.external(RBF(0.5))}
    model = mk.L1MKLClassifier(by_view).fit([AGE, AGE[:, :1]], Y)
    assert list(model.kernel_names_) == ["view 0", "view 1"]


def test_a_sample_may_lack_its_object_in_a_view() -> None:
    some: list[Any] = list(SETS)
    some[3] = some[35] = None
    model = mk.L1MKLClassifier({"sets": FAMILY, "age": "rbf"}).fit({"sets": some[:30], "age": AGE[:30]}, Y[:30])
    assert model.predict({"sets": some[30:], "age": AGE[30:]}).shape == (10,)
    assert model.predict({"sets": [None] * 2, "age": AGE[30:32]}).shape == (2,)


def test_series_of_equal_length_in_training_may_have_others_later() -> None:
    equal = [series[:6] for series in SERIES]
    kernel = kernels.external(lengths, pairwise=True)
    model = mk.L1MKLClassifier(kernel).fit(equal[:30], Y[:30])
    assert np.array_equal(model.predict(SERIES[30:]), model.predict(equal[30:]))
    assert np.array_equal(model.predict(np.array(equal[30:])), model.predict(equal[30:]))
    model = mk.L1MKLClassifier({"series": kernel, "age": "rbf"}).fit({"series": equal, "age": AGE}, Y)
    assert np.array_equal(
        model.predict({"series": SERIES[30:], "age": AGE[30:]}), model.predict({"series": equal[30:], "age": AGE[30:]})
    )
    wide = [np.outer(series[:6], [1.0, -1.0]) for series in SERIES]  # of two variables: matrices, and no views
    assert mk.L1MKLClassifier(kernel).fit(wide[:30], Y[:30]).predict(wide[30:]).shape == (10,)


def test_strings_go_to_external_kernels_beside_kernels_of_strings_and_in_frames() -> None:
    def letters(x: str, z: str) -> float:
        return float(len(set(x) & set(z)))

    words = ["".join(sorted(items)) for items in SETS]
    kernel = kernels.external(letters, pairwise=True)
    alone = mk.L1MKLClassifier(kernel).fit(words, Y)
    framed = mk.L1MKLClassifier(kernel.on("word")).fit(pd.DataFrame({"word": words, "n": 1.0}), Y)
    assert np.array_equal(alone.predict(words), framed.predict(pd.DataFrame({"word": words, "n": 1.0})))
    assert mk.L1MKLClassifier([kernel, kernels.Spectrum(1)]).fit(words, Y).score(words, Y) >= 0.9


@dataclass
class SharedLetters:
    factor: float = 1.0

    def __call__(self, x: Any, z: Any) -> float:
        return self.factor * len(set(x) & set(z))


def test_models_of_objects_are_saved(tmp_path: Path) -> None:
    mk.register(SharedLetters)
    model = mk.L1MKLClassifier(kernels.external(SharedLetters(2.0), pairwise=True)).fit(SETS, Y)
    mk.save(model, tmp_path / "model")
    assert np.array_equal(mk.load(tmp_path / "model").decision_function(SETS), model.decision_function(SETS))
    family = [kernels.external(2.0 * RBF(0.5)), kernels.external(rbf_kernel, psd="clip")]
    model = mk.L1MKLClassifier(family).fit(AGE, Y)
    mk.save(model, tmp_path / "other")
    assert np.array_equal(mk.load(tmp_path / "other").decision_function(AGE), model.decision_function(AGE))


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"cannot save model.kernels.obj: .* registered by multikernel.register"):
        mk.save(mk.L1MKLClassifier(PAIRS).fit(SETS, Y), tmp_path / "model")
    with pytest.raises(TypeError, match="a Commons has no form of plain arrays and JSON"):
        mk.save(mk.L1MKLClassifier(kernels.external(Commons())).fit(SETS, Y), tmp_path / "model")


MISTAKES: dict[str, tuple[Any, str]] = {
    "automatic": (
        lambda: mk.MultiKernelClassifier(time_budget=5).fit([object()] * 40, Y),
        "X holds objects of type object, and the automatic estimator takes numbers, strings, .* kernels.external",
    ),
    "automatic-view": (
        lambda: mk.MultiKernelClassifier(time_budget=5).fit({"sets": SETS, "age": AGE}, Y),
        "view 'sets' holds objects of type set, and the automatic estimator takes",
    ),
    "no-kernels": (
        lambda: mk.L1MKLClassifier().fit({"sets": SETS, "age": AGE}, Y),
        "view 'sets' holds objects .* no default kernels: give kernels by view",
    ),
    "other-kernels": (
        lambda: mk.L1MKLClassifier([PAIRS, "rbf"]).fit([object()] * 40, Y),
        "X contains an object of type object, first at row 0: .* kernels.external.*all kernels have to be of that kind",
    ),
    "other-kernels-of-view": (
        lambda: mk.L1MKLClassifier("rbf").fit({"sets": [object()] * 40, "age": AGE}, Y),
        "view 'sets': .* kernels of objects are made by kernels.external",
    ),
    "frame": (
        lambda: mk.L1MKLClassifier(PAIRS).fit(SETS, Y).predict(pd.DataFrame({"a": [1.0]})),
        "was fitted to a list of objects: give new samples as a list, too, and not as 'DataFrame'",
    ),
    "one-sample": (lambda: mk.L1MKLClassifier(PAIRS).fit(SETS[:1], Y[:1]), "1 sample.* minimum of 2"),
    "none": (lambda: mk.L1MKLClassifier(PAIRS).fit(SETS, Y).predict([None]), "X contains NaN or None, first at row 0"),
}


@pytest.mark.parametrize(("make", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_refused_in_a_sentence(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
