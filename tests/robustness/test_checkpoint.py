"""Finished parts of long work: read back as they were, for the same work only, and what is left is told."""

from __future__ import annotations

import functools
import io
import re
import threading
import warnings
import zipfile
from collections import deque
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import works
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import multikernel
from multikernel import AverageMKLRegressor, BankSearchCV, EasyMKLClassifier, L1MKLClassifier, checkpoints, kernels
from multikernel._warnings import warn_user
from multikernel.persistence.checkpoint import Checkpoint
from multikernel.persistence.digest import digest


class Stopped(Exception):
    """In the place of a kill."""


def stop_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """End the work by an error once so many problems have been solved."""
    method, solved = EasyMKLClassifier._method, iter(range(count))

    def some(*given: Any, **more: Any) -> Any:
        if next(solved, None) is None:
            raise Stopped
        return method.learn(*given, **more)

    monkeypatch.setattr(EasyMKLClassifier, "_method", replace(method, learn=some))


def test_a_fit_of_pairs_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = works.data()
    model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]), lam=0.3, multiclass="ovo", checkpoint=tmp_path)
    truth = clone(model).set_params(checkpoint=None).fit(X, y)
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stopped):
            model.fit(X, y)
    (state,) = checkpoints(tmp_path)
    assert (state.finished, state.left) == (("problem 1", "problem 2"), ("problem 3",))
    assert str(state) == "fit of EasyMKLClassifier: 2 of 3 parts are finished"
    with monkeypatch.context() as patch:
        stop_after(patch, 1)  # which is what is left
        model.fit(X, y)
        stop_after(patch, 0)
        clone(model).set_params(verbose=0, n_jobs=2).fit(X.copy(), y.copy())
    np.testing.assert_array_equal(model.dual_coef_, truth.dual_coef_)
    assert not checkpoints(tmp_path)[0].left


def test_probabilities_and_chosen_parameters_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = works.data()
    model = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]), lam="auto", probability="platt", checkpoint=tmp_path)
    truth = clone(model).set_params(checkpoint=None).fit(X, y > 0).predict_proba(X)
    model.fit(X, y > 0)
    stop_after(monkeypatch, 0)
    again = clone(model).fit(X, y > 0)
    np.testing.assert_array_equal(again.predict_proba(X), truth)
    assert again.lam_ == model.lam_


@pytest.mark.parametrize("pipeline", [False, True])
def test_searches_and_paths_read_what_they_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: bool
) -> None:
    X, y = works.data()
    own = EasyMKLClassifier(kernels.rbf_grid([0.1, 1.0]))
    model, name = (make_pipeline(StandardScaler(), own), "easymklclassifier__lam") if pipeline else (own, "lam")
    grid = {name: [0.2, 0.5]}
    truth = BankSearchCV(model, grid, cv=2).fit(X, y > 0)
    BankSearchCV(model, grid, cv=2, checkpoint=tmp_path).fit(X, y > 0)
    steps = multikernel.path(model, X, y > 0, "lam", [0.1, 0.9], checkpoint=tmp_path)
    if not pipeline:  # which learns again on all samples
        stop_after(monkeypatch, 0)
    found = BankSearchCV(model, grid, cv=2, checkpoint=tmp_path, n_jobs=2).fit(X, y > 0)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], truth.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.decision_function(X), truth.decision_function(X))
    stop_after(monkeypatch, 0)
    again = multikernel.path(model, X, y > 0, "lam", [0.1, 0.9], checkpoint=str(tmp_path))

    np.testing.assert_array_equal(again.dual_coef, steps.dual_coef)
    np.testing.assert_array_equal(again.seconds, steps.seconds)
    assert [(len(work.finished), work.left) for work in checkpoints(tmp_path)] == [(2, ()), (2, ())]


def test_a_path_on_joined_sources_takes_targets_by_their_labels(tmp_path: Path) -> None:
    X, _ = works.data()
    labels = [f"sample {i}" for i in range(len(X))]
    sources = {"one": pd.DataFrame(X[:, :1], index=labels), "others": pd.DataFrame(X[:, 1:], index=labels)}
    seen = multikernel.views(sources, rows="index")
    model = AverageMKLRegressor(kernels.rbf_grid([0.1, 1.0]))
    for order in (labels, labels[::-1]):
        y = pd.Series(X[:, 0], index=order)
        found = multikernel.path(model, seen, y, "alpha", [0.1, 1.0], checkpoint=tmp_path)
        truth = multikernel.path(model, seen, y, "alpha", [0.1, 1.0])
        np.testing.assert_array_equal(found.dual_coef, truth.dual_coef)


def test_candidates_that_are_found_together_are_one_part(tmp_path: Path) -> None:
    X, _ = works.data()
    model = AverageMKLRegressor(kernels.rbf_grid([0.1, 1.0]))
    for _ in range(2):
        BankSearchCV(model, {"alpha": [0.1, 1.0]}, cv=2, checkpoint=tmp_path).fit(X, X[:, 0])
        found = multikernel.path(model, X, X[:, 0], "alpha", [0.1, 1.0], checkpoint=tmp_path)
    truth = multikernel.path(model, X, X[:, 0], "alpha", [0.1, 1.0])
    np.testing.assert_array_equal(found.dual_coef, truth.dual_coef)
    assert [work.finished for work in checkpoints(tmp_path)] == [("all steps",), ("all folds",)]


def test_a_part_that_cannot_be_read_is_made_again(tmp_path: Path) -> None:
    kept = Checkpoint.of(tmp_path, "numbers", 1)
    assert kept.part("one", lambda: [1.5]) == [1.5]
    (file,) = tmp_path.rglob("*.part")
    for damaged in (b"", b"PK", file.read_bytes()[:-9]):
        file.write_bytes(damaged)
        assert kept.part("one", lambda: [2.5]) == [2.5]
        assert kept.part("one", lambda: [3.5]) == [2.5]
        file.unlink()
        kept.part("one", lambda: [2.5])
    (file.parent / "work.json").write_text("[")
    assert checkpoints(tmp_path)[0].finished == ()


def test_warnings_are_kept_and_work_whose_time_was_up_is_not(tmp_path: Path) -> None:
    def warn() -> int:
        warn_user("not there yet", ConvergenceWarning)
        return 1

    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match="not there yet"):
            assert Checkpoint.of(tmp_path, "warns").part("one", warn) == 1
    X, y = works.data()
    folder = tmp_path / "late"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        L1MKLClassifier(kernels.rbf_grid([0.1, 1.0]), tol=1e-12, time_budget=1e-6, checkpoint=folder).fit(X, y > 0)
    assert [work.left for work in checkpoints(folder)] == [("problem 1",)]


def test_folds_of_models_that_a_time_budget_cut_are_kept_for_this_budget_only(tmp_path: Path) -> None:
    X, y = works.data()
    for budget in (1e-6, 100.0):
        model = L1MKLClassifier(kernels.rbf_grid([0.1, 1.0]), tol=1e-12, time_budget=budget)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            BankSearchCV(model, {"C": [0.1, 1.0]}, cv=2, checkpoint=tmp_path).fit(X, y > 0)
    assert [work.left for work in checkpoints(tmp_path)] == [(), ()]


def test_problems_of_a_choice_that_had_no_time_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = works.data()
    model = L1MKLClassifier(kernels.rbf_grid([0.1, 1.0]), C="auto", time_budget=100.0, checkpoint=tmp_path)
    with monkeypatch.context() as limits:
        limits.setattr("multikernel.estimators.fit.CHOICE_TIME", 1e-12)
        with pytest.warns(ConvergenceWarning, match="time_budget was used up"):
            cut = clone(model).fit(X, y > 0)
    assert [work.finished for work in checkpoints(tmp_path)] == [()]
    found, truth = clone(model).fit(X, y > 0), clone(model).set_params(checkpoint=None).fit(X, y > 0)
    assert cut.C_ != truth.C_
    np.testing.assert_array_equal(found.dual_coef_, truth.dual_coef_)


def same(*values: Any) -> list[str]:
    return [digest(value) for value in values]


def test_equal_things_have_one_digest_and_different_ones_several() -> None:
    X, _ = works.data()
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    alike = [
        (X, X.copy(), np.asfortranarray(X), np.require(X, requirements="C")),
        (frame, frame.copy()),
        (sparse.csr_array(X), sparse.csc_array(X).tocsr()),
        (partial(np.add, 1.0), partial(np.add, 1.0)),
        ({"b", "a"}, {"a", "b"}),
        (np.random.default_rng(3), np.random.default_rng(3)),
        (L1MKLClassifier(C=2.0), L1MKLClassifier(C=2.0, verbose=1, n_jobs=2, checkpoint="here")),
        (kernels.RBF(0.5), kernels.RBF(0.5)),
        (np.random.RandomState(3), np.random.RandomState(3)),
    ]
    assert all(len(set(same(*pair))) == 1 for pair in alike)
    other = X.copy()
    other[3, 2] = np.nextafter(other[3, 2], np.inf)
    different = [X, other, X.astype(np.float32), X[:-1], X.T, X.tolist(), frame, frame.rename(columns={"a": "c"})]
    different += [
        L1MKLClassifier(C=2.0),
        L1MKLClassifier(C=3.0),
        L1MKLClassifier(C=2.0, time_budget=1.0),
        kernels.RBF(0.5),
        kernels.Laplacian(0.5),
        {1: 2},
        [1, 2],
    ]
    different += [None, 0, 0.0, False, "", "0", b"0", lambda x: x + 1, lambda x: x + 2, np.random.RandomState(3)]
    different += [
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        np.array(["2024-01-01"], dtype="M8[D]"),
        *map(sparse.csr_array, ([[1.0, 0.0]], [[2.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0, 0.0]])),
        *(partial(np.add, 1.0), partial(np.add, 2.0), partial(np.subtract, 1.0), partial(np.add, 1.0, dtype=float)),
        *(np.float64(1.0), np.float64(2.0), np.float32(1.0)),
        *({"a"}, {"a", "b"}, np.random.default_rng(3), np.random.default_rng(4)),
        [[1], [2]],
        [[1, 2], []],
    ]
    found = same(*different)
    assert len(set(found)) == len(found)


class Point:
    """An object whose state is beside its dictionary."""

    __slots__ = ("__dict__", "x")

    def __init__(self, x: float) -> None:
        self.x = x


def test_what_is_not_in_the_cells_counts_as_well() -> None:
    X = np.arange(6.0).reshape(3, 2)
    masks = [np.ma.array(X, mask=np.arange(6).reshape(3, 2) == k) for k in range(2)]
    orders = [["low", "high"], ["high", "low"]]
    words = ["low", "high", "low"]
    frames = [pd.DataFrame({"a": pd.Categorical(words, order, ordered=True)}) for order in orders]
    frames.append(pd.DataFrame({"a": pd.Categorical(words, orders[0])}))
    enums = [pl.DataFrame({"a": pl.Series(words, dtype=pl.Enum(order))}) for order in orders]
    days = [pd.DataFrame({"a": pd.to_datetime([day]).tz_localize("UTC")}) for day in ("2020-01-01", "2020-01-02")]
    stamps = [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02"), pd.Period("2020"), pd.Period("2021")]
    different = [X, *masks, *frames, *enums, *days, *stamps, Point(1.0), Point(2.0), deque([1]), deque([2])]
    found = same(*different)
    assert len(set(found)) == len(found)
    assert same(masks[0].copy(), frames[0].copy(), days[0].copy(), Point(1.0)) == same(
        masks[0], frames[0], days[0], Point(1.0)
    )


def test_a_checkpoint_does_not_answer_for_categories_in_another_order(tmp_path: Path) -> None:
    sizes = np.random.default_rng(0).choice(["s", "m", "l"], size=60)
    y = np.where(sizes == "m", 1, np.arange(60) % 3)
    truths = []
    for order in (["s", "m", "l"], ["m", "s", "l"]):
        X = pd.DataFrame({"size": pd.Categorical(sizes, order, ordered=True)})
        family = kernels.for_columns(X)
        kept, truth = (EasyMKLClassifier(family, checkpoint=folder).fit(X, y) for folder in (tmp_path, None))
        truths.append(truth.decision_function(X))
        np.testing.assert_array_equal(kept.decision_function(X), truths[-1])
    assert not np.allclose(*truths)


SCRIPT = """
import functools
import numba
import numpy as np
from dataclasses import dataclass
from multikernel.kernels import DistanceKernel
from sklearn.base import BaseEstimator, TransformerMixin
def part(t):
    return -GAMMA * t
def kernel(X, Z):
    return np.exp(part(((X[:, None] - Z[None]) ** 2).sum(-1)))
class Kernel:
    def __init__(self, gamma):
        self.gamma = gamma
    def __call__(self, X, Z):
        return np.exp(-self.gamma * OFFSET * ((X[:, None] - Z[None]) ** 2).sum(-1))
    def __repr__(self):
        return "Kernel()"
    def as_method(self, X, Z):
        return self(X, Z)
def first(n):
    return second(n - 1) if n else GAMMA
def second(n):
    return first(n - 1) if n else 0
@functools.lru_cache
def kept(n):
    return GAMMA * n
class Base:
    factor = GAMMA
    @staticmethod
    def helper(D):
        return GAMMA * D
class ByHelper(Base):
    factor = 1
    def __call__(self, X, Z):
        return self.helper(X @ Z.T)
class ByVariable(Base):
    helper = None
    def __call__(self, X, Z):
        return self.factor * X @ Z.T
@dataclass(repr=False)
class Profile(DistanceKernel):
    def profile(self, D):
        return np.exp(-GAMMA * D)
class Step(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None, sample_weight=None):
        return self
    def transform(self, X):
        return GAMMA * X
"""


def of_script(gamma: float, offset: int = 1, ahead: str = "", module: str = "a_script") -> dict[str, Any]:
    names: dict[str, Any] = {"GAMMA": gamma, "OFFSET": offset, "__name__": module}
    exec(compile(ahead + SCRIPT, "script.py", "exec"), names)
    return names


def test_a_function_is_another_one_where_what_it_reads_is_another() -> None:
    script, commented, edited = of_script(0.1), of_script(0.1, ahead="# a comment\n"), of_script(10.0)
    for name in ("kernel", "first", "second"):
        assert digest(script[name]) == digest(commented[name])
        assert digest(script[name]) != digest(edited[name])
    own = script["Kernel"]
    assert digest(own(1.0)) == digest(own(1.0)) != digest(own(2.0))
    assert digest(own(1.0).as_method) == digest(own(1.0).as_method) != digest(own(2.0).as_method)
    assert digest(own(1.0)) != digest(of_script(0.1, offset=2)["Kernel"](1.0))
    assert len(set(same(np.exp, np.sin, len, numba.njit(script["first"]), numba.njit(edited["first"])))) == 5


@pytest.mark.parametrize("module", ["a_script", "__main__"])
def test_an_object_is_another_one_where_a_method_or_a_variable_of_its_class_is_another(module: str) -> None:
    script, again, edited = (of_script(gamma, module=module) for gamma in (0.1, 0.1, 10.0))
    assert digest(script["kept"]) == digest(again["kept"]) != digest(edited["kept"])
    for name in ("ByHelper", "ByVariable", "Profile", "Step"):
        assert digest(script[name]()) == digest(again[name]()) != digest(edited[name]())


def test_categories_of_a_column_by_itself_and_words_in_records_count() -> None:
    sizes = [pd.Series(pd.Categorical(["s", "m"], order, ordered=True)) for order in (["s", "m"], ["m", "s"])]
    records = [np.array([(word, 1)], dtype=[("word", object), ("count", int)]) for word in "aba"]
    assert len(set(same(*sizes, *records[:2]))) == 4
    assert digest(records[0]) == digest(records[2])


def test_a_checkpoint_does_not_answer_for_a_kernel_with_another_constant(tmp_path: Path) -> None:
    X, y = works.data()
    for gamma, name in ((0.1, "kernel"), (10.0, "kernel"), (0.1, "Profile"), (10.0, "Profile")):
        made = of_script(gamma)[name]
        family = kernels.external(made) if name == "kernel" else [made()]
        kept, truth = (EasyMKLClassifier(family, checkpoint=folder).fit(X, y > 0) for folder in (tmp_path, None))
        np.testing.assert_array_equal(kept.decision_function(X), truth.decision_function(X))


def test_what_cannot_be_told_apart_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a checkpoint cannot decide whether a lock is the same"):
        Checkpoint.of(tmp_path, "work", threading.Lock())
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file: name a directory"):
        Checkpoint.of(tmp_path / "file", "work")
    X, y = works.data()
    with pytest.raises(ValueError, match="checkpoint must be the name of a directory or None, got 3"):
        EasyMKLClassifier(checkpoint=3).fit(X, y)
    with pytest.raises(ValueError, match="path: checkpoint must be the name of a directory"):
        multikernel.path(EasyMKLClassifier(), X, y, "lam", [0.1], checkpoint="")


def test_a_model_that_names_a_checkpoint_is_saved(tmp_path: Path) -> None:
    X, y = works.data()
    model = EasyMKLClassifier(kernels.rbf_grid([0.1]), checkpoint=tmp_path / "parts").fit(X, y > 0)
    multikernel.save(model, tmp_path / "model.mk")
    assert multikernel.load(tmp_path / "model.mk").checkpoint == str(tmp_path / "parts")


def test_a_part_in_the_place_of_another_or_with_another_array_is_made_again(tmp_path: Path) -> None:
    kept = Checkpoint.of(tmp_path, "some work")
    assert kept.folder is not None
    for name in "ab":
        kept.part(name, lambda name=name: {"name": name, "values": np.arange(4.0)})
    one, two = sorted(kept.folder.glob("*.part"))
    content = two.read_bytes()
    two.write_bytes(one.read_bytes())
    assert kept.part("b", lambda: "made again") == "made again"
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(two, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(np.float64(2.0).tobytes(), np.float64(3.0).tobytes()))
    assert kept.part("b", lambda: "made again") == "made again"


def test_what_a_class_holds_beside_its_code_does_not_hinder_and_stores_do_not_count() -> None:
    """Locks, cyclic objects and stores that grow; patterns in the globals of methods are read."""
    assert digest(Unread()) == digest(Unread())
    before = digest(Unread())
    Unread.store["seen"] = 1
    assert digest(Unread()) == before
    del Unread.store["seen"]


def test_a_wrapper_is_told_by_its_own_state() -> None:
    assert digest(Wrapper(len, 1.0)) != digest(Wrapper(len, 2.0))
    assert digest(Wrapper(np_mean, 1.0)) != digest(Wrapper(np_mean, 2.0))


class Unread:
    lock = threading.Lock()
    store: dict[str, int] = {}  # noqa: RUF012
    word = re.compile("a")

    def __call__(self, X: Any, Z: Any) -> Any:
        with LOCK:
            return WORD.sub("b", X)


LOCK = threading.Lock()
WORD = re.compile("a")
Unread.itself = [Unread]  # type: ignore[attr-defined]


def np_mean(x: Any) -> Any:
    return np.mean(x)


class Wrapper:
    def __init__(self, function: Any, gamma: float) -> None:
        functools.update_wrapper(self, function)
        self.gamma = gamma

    def __call__(self, x: Any) -> Any:
        return self.gamma * x
