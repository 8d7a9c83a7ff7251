"""Kernels by name and kernels of scikit-learn's Gaussian processes; families that nest, are indexed and added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import cosine_similarity, pairwise_kernels

from multikernel import EasyMKLClassifier, bind, kernels, load, save
from multikernel.kernels import RBF, Hamming, Kernels, Laplacian, Linear, Polynomial

Array = Any
X = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 2.0, 0.5]
Y = (X[:, 0] > 0).astype(int)

GAUSSIAN_PROCESSES = [
    gp.RBF(0.7),
    gp.RBF([0.7, 2.0, 1.0]),
    gp.Matern(1.3, nu=0.5),
    gp.Matern(1.3, nu=1.5),
    gp.Matern([1.3, 1.0, 4.0], nu=2.5),
    gp.Matern(0.8, nu=np.inf),
    gp.RationalQuadratic(1.2, alpha=0.6),
    gp.DotProduct(1.5),
    gp.ConstantKernel(2.5) * gp.RBF(0.7),
    gp.RBF(0.7) * gp.ConstantKernel(2.5),
    gp.ConstantKernel(2.5) + gp.RBF(0.7) * gp.DotProduct(0.5),
    gp.Exponentiation(gp.DotProduct(1.0), 3),
    2.0 * gp.RBF(0.7) ** 2 + 1.0,
]


@pytest.mark.parametrize("given", GAUSSIAN_PROCESSES, ids=str)
def test_kernels_of_gaussian_processes_are_translated(given: Any) -> None:
    np.testing.assert_allclose(bind([given, "linear"], X).matrix(0), given(X), rtol=1e-10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (gp.WhiteKernel(0.1), "WhiteKernel of scikit-learn has no counterpart: it is noise, .* alpha of a regressor"),
        (gp.RBF() + gp.WhiteKernel(), "WhiteKernel"),
        (gp.ExpSineSquared(), "ExpSineSquared of scikit-learn has no counterpart: use RBF on the cosine"),
        (gp.PairwiseKernel(metric="rbf"), "PairwiseKernel .* use Linear"),
        (gp.Matern(nu=0.7), "kernels.Matern has nu = 0.5, 1.5 or 2.5"),
        (gp.Exponentiation(gp.RBF(), 0.5), "use a whole exponent"),
        ("sigmoid", "'sigmoid' is not positive semi-definite"),
        ("rfb", "kernels known by name are 'linear', .*; got 'rfb'"),
        (["rbf", "rfb"], "got 'rfb'"),
    ],
)
def test_what_has_no_counterpart_is_refused_with_what_to_use(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        EasyMKLClassifier(given).fit(X, Y)
    assert "\n" not in str(told.value)


def test_names_are_the_kernels_of_scikit_learn() -> None:
    gamma = 1.0 / (3 * X.var())
    for name, want in (
        ("linear", X @ X.T),
        ("rbf", pairwise_kernels(X, metric="rbf", gamma=gamma)),
        ("poly", (gamma * X @ X.T + 1.0) ** 3),
        ("cosine", cosine_similarity(X)),
        ("laplacian", pairwise_kernels(X, metric="laplacian", gamma=1.0 / (3 * X.std()))),
    ):
        np.testing.assert_allclose(bind(name, X).matrix(0), want, rtol=1e-10)
        assert EasyMKLClassifier(name).fit(X, Y).kernel_names_.shape == (1,)
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["one two", "three"] * 10})
    assert EasyMKLClassifier(["hamming", "words", "characters"]).fit(frame, [0, 1] * 10).score(frame, [0, 1] * 10) == 1


def test_families_nest() -> None:
    family = kernels.as_family(["rbf", [Linear(), kernels.per_feature(kernels.polynomials([1, 2]))], RBF(0.1)])
    assert len(bind(family, X)) == 1 + 1 + 6 + 1
    assert EasyMKLClassifier(["rbf", kernels.rbf_grid([0.1, 1.0])]).fit(X, Y).weights_.shape == (3,)
    assert len(bind(kernels.per_feature(["rbf", kernels.polynomials([2, 3])]), X)) == 9


def test_families_are_added_also_to_kernels_and_by_sum() -> None:
    grid = kernels.rbf_grid([0.1, 1.0])
    assert list(grid + Linear()) == [*grid, Linear()]
    assert list(Linear() + grid) == [Linear(), *grid]
    words: list[Any] = ["linear"]
    assert list(grid + words) == [*grid, Linear()]
    assert list(words + grid) == [Linear(), *grid]
    assert list(sum([grid, grid])) == [*grid, *grid]
    assert sum([Linear(), RBF(0.1)]) == Linear() + RBF(0.1)
    with pytest.raises(TypeError):
        grid + 3


def test_families_are_indexed_by_position_name_slice_and_mask() -> None:
    family = kernels.column_groups({"clinical": [0], "genes": [1, 2]}, [RBF(0.1), Linear()])
    assert family.names[1] == "clinical: Linear()"
    assert family[0] == RBF(0.1).on([0])
    assert family[-1] == Linear().on([1, 2]) == family["genes: Linear()"]
    assert family[1:3].names == family.names[1:3]
    assert list(family[[3, 0]]) == [family[3], family[0]]
    assert family[np.array([True, False, False, True])].names == (family.names[0], family.names[3])
    assert family[["genes: Linear()"]].names == ("genes: Linear()",)
    with pytest.raises(ValueError, match="no kernel is named 'lipids'; the names are clinical"):
        family["lipids"]
    with pytest.raises(IndexError):
        family[4]
    with pytest.raises(TypeError, match="depends on the number of features"):
        kernels.linear_features()[0]
    many = kernels.rbf_subsets(2, [0.1]).resolve(kernels.Features(4))
    assert many[5] == list(many)[5]


def test_every_kernel_of_a_family_is_seen_in_another_way() -> None:
    grid = kernels.rbf_grid([0.1, 1.0]) + kernels.per_feature(Polynomial(2))
    for changed, want in (
        (grid.normalized(), [k.normalized() for k in grid.resolve(kernels.Features(3))]),
        (grid.standardized().centered(), None),
    ):
        bank = bind(changed, X)
        assert len(bank) == 5
        if want:
            np.testing.assert_allclose(bank.matrices(), bind(want, X).matrices(), atol=1e-12)
    assert list(kernels.rbf_grid([0.1]).on([1, 2])) == [RBF(0.1).on([1, 2])]
    groups = kernels.column_groups({"a": 0, "b": 1}, RBF(1.0))
    assert groups.standardized().names == ("a", "b")


@pytest.mark.parametrize(
    ("columns", "want"),
    [
        (slice(1, None), [1, 2]),
        (slice(None, -1), [0, 1]),
        (np.array([True, False, True]), [0, 2]),
        (pd.Series([True, False, True]), [0, 2]),
        ([-1], [2]),
        (np.array([0, 2]), [0, 2]),
        (range(2), [0, 1]),
        (1, [1]),
    ],
    ids=str,
)
def test_columns_in_every_form(columns: Any, want: list[int], tmp_path: Any) -> None:
    for kernel in (RBF(0.3), Laplacian("median"), Linear().standardized()):
        K = kernel(X[:, want])
        np.testing.assert_allclose(kernel.on(columns)(X), K, atol=1e-12)
        np.testing.assert_allclose(bind(kernel.on(columns), X).matrix(0), K, atol=1e-12)
    family = kernels.column_groups({"view": columns}, "linear")
    model = EasyMKLClassifier(family).fit(X, Y)
    save(model, tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert list(again.kernel_names_) == ["view"]


def test_a_kernel_on_columns_takes_a_frame() -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    for kernel in (RBF(0.3), RBF("median").standardized()):
        for columns, index in (([0, 1], [0, 1]), (["c", "a"], [2, 0]), ("b", [1]), (slice(1, 3), [1, 2])):
            K = kernel(X[:, index])
            np.testing.assert_allclose(kernel.on(columns)(frame), K, atol=1e-12)
            np.testing.assert_allclose(kernel.on(columns)(frame[:5], frame), K[:5], atol=1e-12)
    with pytest.raises(ValueError, match="unknown column 'd'; the data have a, b, c"):
        RBF(0.3).on("d")(frame)
    words = pd.DataFrame({"n": [1.0, 2.0], "t": ["ab ba", "ab"]})
    for kernel in (kernels.Spectrum(2), kernels.NGrams(), Hamming()):
        K = kernel(words["t"].tolist())
        np.testing.assert_allclose(kernel.on("t")(words), K)
        np.testing.assert_allclose(kernel(words[["t"]]), K)
    with pytest.raises(ValueError, match="takes numbers, but column 't' of X holds strings"):
        RBF(0.3).on(["n", "t"])(words)
    with pytest.raises(ValueError, match=r"slice\(3, None, None\)\) has no columns among the 3"):
        bind(RBF(0.3).on(slice(3, None)), X)


@pytest.mark.parametrize("kernel", [RBF(0.3).standardized(), Hamming()], ids=repr)
def test_frames_whose_columns_are_in_another_order_are_refused(kernel: kernels.Kernel) -> None:
    frame = pd.DataFrame(X, columns=list("abc"))
    with pytest.raises(ValueError, match="X has the columns c, a, b, and the training sample has a, b, c: give the"):
        kernel(frame[["c", "a", "b"]], frame)


def test_columns_of_an_encoding_are_a_sequence() -> None:
    with pytest.raises(ValueError, match="parts must be a tuple of pairs, an encoding and its columns"):
        kernels.Together(((kernels.Standardize(), "ab"),))  # type: ignore[arg-type]


def test_a_family_of_named_kernels_keeps_its_names_when_nested() -> None:
    family = kernels.as_family([kernels.column_groups({"a": [0], "b": [1]}, "rbf"), Linear()])
    assert list(EasyMKLClassifier(family).fit(X, Y).kernel_names_) == ["a", "b", "Linear()"]
    assert isinstance(family.resolve(kernels.Features(3)), Kernels)


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_a_dict_names_kernels() -> None:
    given = {"near": "rbf", "shape": kernels.polynomials([1, 2])}
    model = EasyMKLClassifier(given).fit(X, Y)
    assert list(model.kernel_names_)[:2] == ["near", "shape: Polynomial(degree=1, coef0=1.0, gamma=1.0)"]


def test_hamming_counts_a_column_without_any_value_as_missing() -> None:
    new, training = np.array([[None, "q"]], dtype=object), np.array([["a", "q"], ["b", "r"]], dtype=object)
    with pytest.warns(UserWarning, match="missing cells that the training sample does not have"):
        np.testing.assert_array_equal(Hamming()(new, training), [[0.5, 0.0]])
