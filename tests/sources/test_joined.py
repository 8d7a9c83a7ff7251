"""Sources joined by the labels of their rows, and readers of annotated data."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_score

from multikernel import (
    BankSearchCV,
    L1MKLClassifier,
    MultiKernelClassifier,
    RLS2Regressor,
    kernels,
    path,
    report,
    views,
)

Array = Any
RNG = np.random.default_rng(0)
N = 40
NAMES = [f"p{i}" for i in range(N)]
GENES = pd.DataFrame(RNG.normal(size=(N, 5)), index=NAMES, columns=list("abcde"))
CLINIC = pd.DataFrame({"age": RNG.normal(size=N), "ill": RNG.random(N) < 0.5}, index=NAMES)
Y = pd.Series((GENES["a"] + CLINIC["age"] > 0).astype(int), index=NAMES)
SHUFFLED = RNG.permutation(N)


def test_rows_are_matched_by_label_and_so_is_the_target() -> None:
    V = views({"genes": GENES, "clinic": CLINIC.iloc[SHUFFLED]}, rows="index")
    same = views({"genes": GENES, "clinic": CLINIC})
    assert list(V.index) == NAMES
    model = L1MKLClassifier(C=1.0).fit(V, Y.iloc[SHUFFLED])
    want = L1MKLClassifier(C=1.0).fit(same, Y)
    np.testing.assert_allclose(model.decision_function(V), want.decision_function(same))
    assert model.score(V, Y.iloc[::-1]) == want.score(same, Y)
    more = pd.concat([Y, pd.Series([1], index=["other"])]).sample(frac=1.0, random_state=0)
    np.testing.assert_allclose(L1MKLClassifier(C=1.0).fit(V, more).decision_function(V), want.decision_function(same))
    weights = pd.Series(np.arange(N) + 1.0, index=NAMES)
    weighted = L1MKLClassifier(C=1.0).fit(V, Y, sample_weight=weights.iloc[SHUFFLED])
    np.testing.assert_allclose(
        weighted.decision_function(V),
        L1MKLClassifier(C=1.0).fit(same, Y, sample_weight=weights).decision_function(same),
    )


def test_groups_are_matched_by_label() -> None:
    V = views({"genes": GENES, "clinic": CLINIC.iloc[SHUFFLED]}, rows="index")
    groups = pd.Series(np.arange(N) // 4, index=NAMES)
    found = [
        MultiKernelClassifier(random_state=0).fit(V, Y, groups=given).predict_proba(V)
        for given in (groups, groups.iloc[SHUFFLED], groups.to_numpy())
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    score = cross_val_score(L1MKLClassifier(C=1.0), V, Y, groups=groups, cv=GroupKFold(3))
    assert score.shape == (3,)


def test_integers_as_labels_are_not_confused_with_positions() -> None:
    """A target in another order, of which cross-validation takes a part, is refused."""
    genes = GENES.set_axis(np.arange(1000, 1000 + N))
    V = views({"genes": genes, "clinic": CLINIC.set_axis(genes.index)}, rows="index")
    y = Y.set_axis(genes.index).iloc[SHUFFLED]
    np.testing.assert_allclose(
        L1MKLClassifier(C=1.0).fit(V, y).decision_function(V),
        L1MKLClassifier(C=1.0).fit(V, Y.to_numpy()).decision_function(V),
    )
    with pytest.raises(ValueError, match=r"y lacks \d+ of the 20 samples of X .*give y.loc\[X.index\]"):
        L1MKLClassifier(C=1.0).fit(V[:20], y.iloc[:20])


def test_rows_that_nobody_named_are_not_joined_with_names_in_silence() -> None:
    """pandas numbers rows by default, and the numbers of patients may be others."""
    clinic = CLINIC.set_axis(np.random.default_rng(0).permutation(N))
    with pytest.warns(UserWarning, match="rows of 'genes' are numbered 0, 1, 2, ..., as pandas does by default"):
        views({"genes": GENES.reset_index(drop=True), "clinic": clinic}, rows="index")
    views({"genes": GENES.reset_index(drop=True), "clinic": CLINIC.reset_index(drop=True)}, rows="index")


def test_frames_of_a_transformer_keep_the_labels() -> None:
    V = views({"genes": GENES, "clinic": CLINIC.iloc[SHUFFLED]}, rows="index")
    for output in ("kernel", "features"):
        step = L1MKLClassifier(C=1.0).fit(V, Y).as_transformer(output).set_output(transform="pandas")
        assert step.fit_transform(V).index.tolist() == NAMES
        assert step.transform(V[5:9]).index.tolist() == NAMES[5:9]


def test_samples_that_a_source_lacks_are_refused_or_kept() -> None:
    some = CLINIC.iloc[3:]
    with pytest.raises(ValueError, match=r"'clinic' lacks 3 of 40 samples \('p0', 'p1', 'p2'\); missing='keep'"):
        views({"genes": GENES, "clinic": some}, rows="index")
    V = views({"clinic": some, "genes": GENES.iloc[:-1]}, rows="index", missing="keep")
    assert (
        repr(V)
        == "<Views of 40 samples: 'clinic' (2 columns, 3 samples without), 'genes' (5 columns, 1 sample without)>"
    )
    assert list(V.index[-3:]) == ["p0", "p1", "p2"]  # the first source's order, and then the others
    assert V.has("clinic").sum() == 37
    assert V[-3:].has("clinic").sum() == 0
    np.testing.assert_array_equal(V.part("genes").iloc[0], GENES.loc["p3"])


def test_a_kernel_matrix_is_joined_on_both_sides() -> None:
    K = pd.DataFrame(kernels.RBF(0.1)(GENES.to_numpy()), index=NAMES, columns=NAMES)
    mixed = K.iloc[SHUFFLED, SHUFFLED[::-1]]
    V = views({"clinic": CLINIC, "similar": mixed}, rows="index")
    same = views({"clinic": CLINIC, "similar": K})
    np.testing.assert_allclose(
        L1MKLClassifier(C=1.0).fit(V, Y).decision_function(V),
        L1MKLClassifier(C=1.0).fit(same, Y).decision_function(same),
    )
    part = K.iloc[5:, 5:]
    some = views({"clinic": CLINIC, "similar": part}, rows="index", missing="keep")
    assert some.has("similar").sum() == N - 5
    for model in (L1MKLClassifier(C=1.0), MultiKernelClassifier(random_state=0)):
        assert model.fit(some, Y).score(some, Y) > 0.8


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"a": GENES, "b": CLINIC.to_numpy()}, "'b' has none: give a pandas DataFrame or Series whose index"),
        ({"a": GENES, "b": pd.concat([CLINIC, CLINIC[:1]])}, "'b' has two rows with the label 'p0'"),
        (
            {"a": GENES, "b": CLINIC.set_axis(range(N))},
            "'a' and 'b' share no sample: their first labels are 'p0' and 0",
        ),
        ({"a": GENES, "b": CLINIC.set_axis([np.nan, *NAMES[1:]])}, "'b' has a row whose label is missing"),
    ],
)
def test_what_cannot_be_joined_is_said(sources: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        views(sources, rows="index")


def test_options_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must be"):
        views({"a": GENES}, rows="name")
    with pytest.raises(ValueError, match="missing='keep' needs rows='index'"):
        views({"a": GENES}, missing="keep")
    V = views({"a": GENES, "b": CLINIC}, rows="index")
    with pytest.raises(ValueError, match="made already"):
        views(V, rows="index")
    with pytest.raises(ValueError, match="y has the label 'p0' twice"):
        L1MKLClassifier().fit(V, pd.concat([Y, Y[:1]]))


def test_searches_and_paths_take_joined_views() -> None:
    V = views({"genes": GENES, "clinic": CLINIC.iloc[SHUFFLED]}, rows="index")
    found = BankSearchCV(L1MKLClassifier(), {"C": [0.1, 1.0]}, cv=3).fit(V, Y.iloc[SHUFFLED])
    want = BankSearchCV(L1MKLClassifier(), {"C": [0.1, 1.0]}, cv=3).fit(V, Y.to_numpy())
    assert found.best_score_ == want.best_score_
    along = path(RLS2Regressor(), V, Y.astype(float).iloc[SHUFFLED], "alpha", [1.0, 0.1])
    same = path(RLS2Regressor(), V, Y.astype(float).to_numpy(), "alpha", [1.0, 0.1])
    np.testing.assert_allclose(along.weights, same.weights)


# -- annotated data ----------------------------------------------------------------------------------------------------


@dataclass
class Annotated:
    """What anndata.AnnData has, as far as it is read."""

    X: Any
    obs: pd.DataFrame
    var_names: pd.Index
    obsm: dict[str, Any]
    layers: dict[str, Any] = field(default_factory=dict)

    @property
    def obs_names(self) -> pd.Index:
        return self.obs.index

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape


@dataclass
class Modalities:
    """What mudata.MuData has, as far as it is read."""

    mod: dict[str, Annotated]


def annotated(rows: Any = slice(None), values: Any = None) -> Annotated:
    values = GENES.to_numpy() if values is None else values
    return Annotated(values[rows], CLINIC.iloc[rows], pd.Index(GENES.columns), {"X_pca": RNG.normal(size=(N, 2))[rows]})


def test_groups_of_variables_are_sources() -> None:
    data = annotated()
    mask = [True, False, False, False, True]
    V = views.from_anndata(data, {"few": ["a", "c"], "mask": mask, "pca": "X_pca", "clinic": ["age", "ill"]})
    assert V.names == ("few", "mask", "pca", "clinic")
    np.testing.assert_array_equal(V.part("few"), GENES[["a", "c"]])
    np.testing.assert_array_equal(V.part("mask"), GENES[["a", "e"]])
    assert list(V.part("clinic").columns) == ["age", "ill"]
    assert L1MKLClassifier(C=1.0).fit(V, Y.iloc[SHUFFLED]).score(V, Y) > 0.8
    assert views.from_anndata(data).names == ("X",)
    for groups, message in (
        ({"x": ["a", "unknown"]}, "group 'x' names 'unknown', which is no variable and no column of obs"),
        ({"x": []}, "group 'x' is empty"),
        ({"x": "X_umap"}, "group 'x' names 'X_umap', and obsm and layers have 'X_pca'"),
        ({"x": mask[:3]}, "group 'x' is a mask of 3 entries, and there are 5 variables"),
    ):
        with pytest.raises(ValueError, match=message):
            views.from_anndata(data, groups)
    data.layers = {"few": GENES.to_numpy()[:3]}
    with pytest.raises(ValueError, match=f"'few' has 3 rows for {len(GENES)} samples"):
        views.from_anndata(data, {"few": "few"})
    with pytest.raises(TypeError, match=r"takes an AnnData object, and this DataFrame has no X"):
        views.from_anndata(GENES)


@dataclass
class OnDisk:
    """What an AnnData object has that is backed by a file, whose rows can be had in their order only."""

    whole: Annotated
    isbacked: bool = True

    @property
    def obs_names(self) -> pd.Index:
        return self.whole.obs_names

    @property
    def var_names(self) -> pd.Index:
        return self.whole.var_names

    @property
    def X(self) -> Any:
        return object()  # rows of a file are not indexed

    def to_memory(self) -> Annotated:
        return self.whole


def test_what_is_backed_by_a_file_is_read_and_what_has_no_measurements_is_refused() -> None:
    data = annotated(SHUFFLED)
    data.layers = {"log": np.log1p(np.abs(data.X))}
    V = views.from_anndata(OnDisk(data), {"log": "log", "few": ["c", "a"]})
    np.testing.assert_array_equal(V.part("log"), data.layers["log"])
    np.testing.assert_array_equal(V.part("few"), GENES[["c", "a"]].iloc[SHUFFLED])
    joined = views({"clinic": CLINIC, "rna": OnDisk(data)}, rows="index")
    np.testing.assert_array_equal(joined.part("rna"), GENES)
    data.X = None
    assert views.from_anndata(data, {"log": "log"}).names == ("log",)
    for groups in (None, {"few": ["a"]}, {"mask": [True] * 5}):
        with pytest.raises(ValueError, match="has no X"):
            views.from_anndata(data, groups)


def test_modalities_are_sources_and_may_lack_samples() -> None:
    counts = sparse.csr_matrix(np.maximum(GENES.to_numpy(), 0.0))
    data = Modalities({"rna": annotated(values=counts), "protein": annotated(SHUFFLED[:30])})
    V = views.from_mudata(data)
    assert repr(V) == "<Views of 40 samples: 'rna' (5 columns), 'protein' (5 columns, 10 samples without)>"
    assert L1MKLClassifier(C=1.0).fit(V, Y).score(V, Y) > 0.7
    with pytest.raises(ValueError, match="'protein' lacks 10 of 40 samples"):
        views.from_mudata(data, missing="refuse")
    with pytest.raises(TypeError, match="takes a MuData object with modalities, and got Annotated"):
        views.from_mudata(annotated())


# -- labels of kernel matrices -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [L1MKLClassifier(C=1.0), MultiKernelClassifier(random_state=0)], ids=["L1", "auto"])
def test_columns_of_a_kernel_matrix_are_matched_by_their_labels(model: Any) -> None:
    K = pd.DataFrame(kernels.RBF(0.1)(GENES.to_numpy()), NAMES, NAMES)
    model = clone(model).fit({"similar": K, "clinic": CLINIC}, Y)
    decided = model.decision_function({"similar": K[:7], "clinic": CLINIC[:7]})
    found = model.decision_function({"similar": K.iloc[:7, SHUFFLED], "clinic": CLINIC[:7]})
    np.testing.assert_allclose(found, decided)
    with pytest.raises(ValueError, match="its column 'q0' is none of these, such as 'p0'"):
        model.predict({"similar": K.rename(columns=lambda name: name.replace("p", "q")), "clinic": CLINIC})
    first = views({"clinic": CLINIC.iloc[SHUFFLED], "similar": K}, rows="index")
    other = views({"clinic": CLINIC, "similar": K}, rows="index")
    again = clone(model).fit(first, Y)
    np.testing.assert_allclose(again.decision_function(other), again.decision_function(first)[np.argsort(SHUFFLED)])


def test_views_of_matrices_only_keep_their_labels() -> None:
    K = pd.DataFrame(kernels.RBF(0.1)(GENES.to_numpy()), NAMES, NAMES)
    V = views({"one": K, "two": K**2}, rows="index")
    model = L1MKLClassifier(C=1.0)
    want = clone(model).fit(V, Y).decision_function(V)
    np.testing.assert_allclose(clone(model).fit(V, Y.iloc[SHUFFLED]).decision_function(V), want)
    with pytest.raises(ValueError, match="the rows of y have the labels of X in another order"):
        model.fit(views({"one": K, "two": K**2}), Y.iloc[SHUFFLED])


def test_what_looks_like_a_kernel_matrix_without_names_is_refused() -> None:
    K = pd.DataFrame(kernels.RBF(0.1)(GENES.to_numpy()), NAMES, [f"g{j}" for j in range(N)])
    with pytest.raises(
        ValueError, match="'similar' is symmetric, as a kernel matrix is, and its columns are not named"
    ):
        views({"clinic": CLINIC.iloc[SHUFFLED], "similar": K}, rows="index")
    V = views({"clinic": CLINIC.iloc[SHUFFLED], "similar": K}, rows="index", features=["similar"])
    assert repr(V).endswith("'similar' (40 columns)>")


def test_odd_labels_masks_and_parts() -> None:
    pairs = pd.MultiIndex.from_product([range(8), range(5)])
    V = views({"a": GENES.set_axis(pairs), "b": CLINIC.set_axis(pairs)[::-1]}, rows="index")
    np.testing.assert_array_equal(V.part("b")["age"], CLINIC["age"])
    V = views({"a": GENES, "b": CLINIC}, rows="index")
    old = (CLINIC["age"] > 0).iloc[SHUFFLED]
    assert (V[old].part("b")["age"] > 0).all()
    assert repr(V[3]) == "<Views of 1 sample: 'a' (5 columns), 'b' (2 columns)>"
    with pytest.raises(ValueError, match="'b' has no row"):
        views({"a": GENES, "b": CLINIC[:0]}, rows="index", missing="keep")
    with pytest.warns(UserWarning, match="no two sources share a sample"):
        views({"a": GENES, "b": CLINIC.rename(index=str.upper)}, rows="index", missing="keep")
    with pytest.raises(ValueError, match="'v' is itself several views"):
        views({"v": V, "b": CLINIC})
    with pytest.raises(ValueError, match=r"'x' is an Annotated: views.from_anndata reads it"):
        views({"x": annotated(), "b": CLINIC})
    for model in (L1MKLClassifier(), MultiKernelClassifier()):
        with pytest.raises(TypeError, match=r"type Annotated: give multikernel.views.from_anndata\(X\)"):
            model.fit(annotated(), Y)
        with pytest.raises(TypeError, match=r"give multikernel.views.from_mudata\(X\)"):
            model.fit(SimpleNamespace(mod={"rna": annotated()}), Y)


def test_a_report_and_a_search_match_rows_as_well(tmp_path: Any) -> None:
    V = views({"genes": GENES, "clinic": CLINIC}, rows="index")
    model = L1MKLClassifier(C=1.0).fit(V, Y)
    pages = []
    for y in (Y, Y.iloc[SHUFFLED]):
        report(model, V, y, tmp_path / "report.html")
        pages.append((tmp_path / "report.html").read_text())
    assert pages[0] == pages[1]
    with pytest.raises(ValueError, match="the rows of y have the labels of X"):
        report(model, {"genes": GENES, "clinic": CLINIC}, Y.iloc[SHUFFLED], tmp_path / "report.html")
    groups = pd.Series(np.arange(N) // 4, NAMES)
    scores = [
        BankSearchCV(L1MKLClassifier(), {"C": [0.1, 1.0]}, cv=GroupKFold(3)).fit(V, Y, groups=given).best_score_
        for given in (groups, groups.iloc[SHUFFLED])
    ]
    assert scores[0] == scores[1]
