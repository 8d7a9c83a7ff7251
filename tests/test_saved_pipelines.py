"""Models of scikit-learn around and before those of this package: saved, or refused with what to do instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

import multikernel as mk
from cases import one_in
from multikernel import kernels
from multikernel.persistence.names import RefusedError, class_of, function_of
from multikernel.persistence.reader import Reader

FAMILY = [kernels.RBF(0.2), kernels.Linear()]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": RNG.choice(["u", "v"], 40), "d": RNG.choice(["x", "y"], 40)})
TEXTS = [" ".join(RNG.choice(["red", "blue", "cat", "dog"], 5)) for _ in range(40)]


def classifier(**given: Any) -> Any:
    return mk.L1MKLClassifier(FAMILY, **{"C": 1.0} | given)


def first_two(frame: Any) -> list[str]:
    return ["a", "b"]


BEFORE: dict[str, tuple[Any, Any]] = {
    "scaled": (StandardScaler(), X),
    "indicators": (OneHotEncoder(handle_unknown="ignore"), FRAME[["c", "d"]]),
    "ordinals": (OrdinalEncoder(), FRAME[["c", "d"]]),
    "columns by name": (
        ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["c", "d"])]),
        FRAME,
    ),
    "columns by place": (ColumnTransformer([("n", StandardScaler(), slice(0, 2)), ("r", "passthrough", [2])]), X),
    "columns by type": (ColumnTransformer([("n", StandardScaler(), make_column_selector(dtype_include=float))]), FRAME),
    "means": (SimpleImputer(add_indicator=True), HOLES),
    "most frequent": (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), FRAME[["c", "d"]]),
    "neighbours": (KNNImputer(), HOLES),
    "components": (PCA(2), X),
    "truncated": (TruncatedSVD(2), X),
    "words": (TfidfVectorizer(), TEXTS),
    "chosen": (SelectKBest(k=2), X),
    "chosen by information": (SelectKBest(mutual_info_classif, k=2), X),
    "ufunc": (FunctionTransformer(np.log1p), np.abs(X)),
    "nothing": (FunctionTransformer(), X),
    "power": (PowerTransformer(), X),
    "quantiles": (QuantileTransformer(n_quantiles=10), X),
    "bins": (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), X),
    "side by side": (FeatureUnion([("p", PCA(2)), ("s", StandardScaler())]), X),
}
AROUND: dict[str, tuple[Any, Any, Any]] = {
    "target": (
        TransformedTargetRegressor(mk.RLS2Regressor(FAMILY, alpha=0.1), transformer=StandardScaler()),
        X,
        X[:, 1],
    ),
    "ufunc of the target": (
        TransformedTargetRegressor(mk.RLS2Regressor(FAMILY, alpha=0.1), func=np.log1p, inverse_func=np.expm1),
        X,
        np.abs(X[:, 1]),
    ),
    "sigmoid": (CalibratedClassifierCV(classifier(), cv=2), X, Y),
    "isotonic": (CalibratedClassifierCV(classifier(), cv=2, method="isotonic"), X, Y),
    "voting": (VotingClassifier([("a", classifier()), ("b", LogisticRegression())]), X, Y),
    "stacking": (StackingClassifier([("a", classifier()), ("b", LogisticRegression())], cv=2), X, Y),
    "one against the rest": (OneVsRestClassifier(classifier()), X, np.arange(40) % 3),
    "several targets": (MultiOutputRegressor(mk.RLS2Regressor(FAMILY, alpha=0.1)), X, X[:, :2]),
    "bagging": (BaggingClassifier(classifier(), n_estimators=2, random_state=np.random.RandomState(0)), X, Y),
    "search": (GridSearchCV(classifier(), {"C": [0.1, 1.0]}, cv=2), X, Y),
    "search by splitter and metric": (
        GridSearchCV(classifier(), {"C": [0.1, 1.0]}, cv=StratifiedKFold(2, shuffle=True), scoring="roc_auc"),
        X,
        Y,
    ),
    "search by metrics": (
        GridSearchCV(classifier(), {"C": [0.1, 1.0]}, cv=2, scoring=["accuracy", "roc_auc"], refit="accuracy"),
        X,
        Y,
    ),
    "search of a pipeline": (
        GridSearchCV(make_pipeline(SimpleImputer(), classifier()), {"l1mklclassifier__C": [0.1, 1.0]}, cv=2),
        HOLES,
        Y,
    ),
    "drawn search": (RandomizedSearchCV(classifier(), {"C": [0.1, 1.0]}, n_iter=1, cv=2, random_state=0), X, Y),
    "search on one bank": (mk.BankSearchCV(classifier(), {"C": [0.1, 1.0]}, cv=KFold(2, shuffle=True)), X, Y),
    "folds in time": (classifier(C="auto", cv=TimeSeriesSplit(2)), X, Y),
}


def loaded(model: Any, folder: Path) -> Any:
    mk.save(model, folder / "model.mk")
    return mk.load(folder / "model.mk")


@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.parametrize("name", BEFORE)
def test_a_pipeline_predicts_the_same_once_it_is_loaded(name: str, tmp_path: Path) -> None:
    step, samples = BEFORE[name]
    model = make_pipeline(step, classifier()).fit(samples, Y)
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(samples), model.decision_function(samples))


@pytest.mark.parametrize("name", one_in(3, AROUND))
def test_a_model_around_others_predicts_the_same_once_it_is_loaded(name: str, tmp_path: Path) -> None:
    model, samples, y = AROUND[name]
    again = loaded(model.fit(samples, y), tmp_path)
    np.testing.assert_array_equal(again.predict(samples), model.predict(samples))


def test_a_search_is_loaded_with_its_results_and_its_score(tmp_path: Path) -> None:
    grid = [{"C": [0.1, 1.0]}, {"C": [1.0], "solver": ["level"]}]
    model = GridSearchCV(classifier(), grid, cv=2, scoring="roc_auc").fit(X, Y)
    again = loaded(model, tmp_path)
    assert again.score(X, Y) == model.score(X, Y)
    assert again.best_params_ == model.best_params_
    told = again.cv_results_["param_solver"]
    np.testing.assert_array_equal(told.mask, model.cv_results_["param_solver"].mask)


@pytest.mark.parametrize(
    ("model", "samples", "message"),
    [
        (
            RandomizedSearchCV(classifier(), {"C": stats.loguniform(0.1, 1.0)}, n_iter=1, cv=2),
            X,
            r"model.param_distributions\['C'\]: .*; save model.best_estimator_, which predicts the same",
        ),
        (
            make_pipeline(FunctionTransformer(lambda x: 2.0 * x), classifier()),
            X,
            "model.steps.*func: of functions only",
        ),
        (
            make_pipeline(ColumnTransformer([("n", "passthrough", first_two)]), classifier()),
            FRAME,
            "and not first_two; name columns",
        ),
    ],
)
def test_what_cannot_be_saved_is_named_with_what_to_do(model: Any, samples: Any, message: str, tmp_path: Path) -> None:
    model.fit(samples, Y)
    with pytest.raises(TypeError, match=f"cannot save {message}|{message}") as caught:
        mk.save(model, tmp_path / "model.mk")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "model.mk").exists()


@pytest.mark.parametrize("name", ["os:system", "numpy:load", "numpy:fromfile", "sklearn.utils:os", "builtins:eval"])
def test_a_file_names_no_function_that_does_more_than_compute(name: str) -> None:
    with pytest.raises(RefusedError, match="not a function that models are made of"):
        function_of(name)


def test_a_file_names_no_other_metric_and_no_other_class() -> None:
    with pytest.raises(RefusedError, match="is not a scorer"):
        Reader(lambda name: np.zeros(0), lambda count: None).decode(json.loads('{"scorer": "os.system"}'))
    with pytest.raises(RefusedError, match="is not a class of multikernel or scikit-learn that models are made of"):
        class_of("sklearn.utils:Bunch")
    assert class_of("sklearn.model_selection:GroupKFold") is GroupKFold


@pytest.mark.parametrize("output", ["kernel", "features"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_learned_kernel_is_a_frame_where_that_is_asked_for(output: Any, library: str) -> None:
    pytest.importorskip(library)
    learned = mk.L1MKLClassifier(FAMILY, C=1.0).fit(FRAME[["a", "b"]], Y)
    step = learned.as_transformer(output).set_output(transform=library)
    told = step.fit_transform(FRAME[["a", "b"]])
    assert list(told.columns) == list(step.get_feature_names_out())
    assert told.shape == (40, 40) if output == "kernel" else told.shape[0] == 40
    assert list(told.columns)[:2] == ["kerneltransformer0", "kerneltransformer1"]
    np.testing.assert_allclose(np.asarray(step.transform(FRAME[["a", "b"]])), np.asarray(told), atol=1e-8)
    pipeline = make_pipeline(StandardScaler(), learned.as_transformer(output)).set_output(transform=library)
    with_names = clone(pipeline).fit(FRAME[["a", "b"]])
    assert list(with_names.transform(FRAME[["a", "b"]]).columns) == list(with_names.get_feature_names_out())
