"""What is refused, and the words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import multikernel as mk
from multikernel import diagnostics, kernels, precomputed

Y = [-1.0, 1.0, 1.0]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "spectral_ratio": diagnostics.spectral_ratio,
    "alignment": lambda K: diagnostics.alignment(K, Y),
    "meb_radius": diagnostics.meb_radius,
    "rademacher_bound": diagnostics.rademacher_bound,
    "spectral_rademacher_bound": diagnostics.spectral_rademacher_bound,
    "empirical_rademacher": diagnostics.empirical_rademacher,
    "radius_margin_bound": lambda K: diagnostics.radius_margin_bound(K, Y),
}


def with_entry(i: int, j: int, value: float) -> Any:
    K = np.eye(3)
    K[i, j] = value
    return K


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bad_matrices_are_refused_by_all(function: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"square kernel matrix, got shape \(3, 2\)"):
        function(np.ones((3, 2)))
    with pytest.raises(ValueError, match="NaN or infinity at row 1, column 2"):
        function(with_entry(1, 2, np.nan))
    with pytest.raises(ValueError, match=r"not symmetric: entry \(0, 2\) is 0.5 and entry \(2, 0\) is 0"):
        function(with_entry(0, 2, 0.5))
    with pytest.raises(ValueError, match="real numbers"):
        function(np.full((3, 3), "a"))
    with pytest.raises(ValueError, match="shape"):
        function(np.zeros((0, 0)))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"spectral_ratio", "alignment"}))
def test_indefinite_matrices_are_refused_where_positivity_is_needed(name: str) -> None:
    with pytest.raises(ValueError, match="not positive semi-definite: its smallest eigenvalue is -1"):
        FUNCTIONS[name]([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, -1.0], "each of the 3 samples"),
        ([1.0, np.nan, -1.0], "at position 1"),
        ([[1.0], [1.0], [-1.0]], "shape"),
    ],
)
def test_bad_targets(y: Any, message: str) -> None:
    for function in (diagnostics.alignment, diagnostics.radius_margin_bound):
        with pytest.raises(ValueError, match=message):
            function(np.eye(3), y)


def test_targets_without_two_classes() -> None:
    with pytest.raises(ValueError, match="two classes, got 1: 1"):
        diagnostics.radius_margin_bound(np.eye(3), [1, 1, 1])
    with pytest.raises(ValueError, match="two classes, got 3: a, b, c"):
        diagnostics.radius_margin_bound(np.eye(3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="y is constant"):
        diagnostics.alignment(np.eye(3), [0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="y is zero"):
        diagnostics.alignment(np.eye(3), np.zeros(3), centered=False)
    with pytest.raises(ValueError, match="y must hold real numbers"):
        diagnostics.alignment(np.eye(3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="same shape"):
        diagnostics.alignment(np.eye(3), np.eye(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diagnostics.meb_radius(np.eye(2), tol=0.0), "tol must be a finite number > 0"),
        (lambda: diagnostics.rademacher_bound(np.eye(2), norm=0.0), "norm must be"),
        (
            lambda: diagnostics.alignment(precomputed([np.eye(2)] * 3), [0.0, 1.0]),
            r"one kernel matrix, got a bank of 3; take",
        ),
        (lambda: diagnostics.rademacher_bound(np.eye(2), q=0.5), "q must be a finite number >= 1"),
        (lambda: diagnostics.rademacher_bound(np.eye(2), factor=np.nan), "factor must be"),
        (lambda: diagnostics.rademacher_bound([np.eye(2), np.eye(3)]), "kernel 1 has shape"),
        (lambda: diagnostics.empirical_rademacher(np.eye(2), n_draws=1), "n_draws must be an integer in"),
        (lambda: diagnostics.center_of_mass([0.5, -0.5]), "non-negative, got -0.5 at position 1"),
        (lambda: diagnostics.center_of_mass([0.0, 0.0]), "all zero"),
        (lambda: diagnostics.center_of_mass([]), "at least one value"),
        (lambda: diagnostics.center_of_mass([1.0], degrees=[1, 2]), "1 weights and 2 degrees"),
    ],
)
def test_bad_parameters(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_rectangular_banks_have_no_bound() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=r"square, its matrices have shape \(2, 6\)"):
        diagnostics.rademacher_bound(mk.bind(kernels.rbf_grid([1.0]), X).cross(X[:2]))


@pytest.mark.parametrize("call", [
    lambda K, y: diagnostics.margin_bound(y, y[::-1], 0.1),
    lambda K, y: diagnostics.convexity(K, y[::-1], n_samples=0),
    lambda K, y: diagnostics.proposition_4(K, y[::-1], [1.0], [1.0]),
])  # fmt: skip
def test_targets_whose_rows_are_labelled_in_another_order_are_refused(call: Callable[..., Any]) -> None:
    labels = list("abc")
    K = pd.DataFrame(np.diag([1.0, 2.0, 3.0]), index=labels, columns=labels)
    with pytest.raises(ValueError, match="in another order"):
        call(K, pd.Series(Y, index=labels))


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [], 1.0, np.ma.masked_greater([0.1, 0.9], 0.5)])
def test_weights_that_are_not_known_are_refused(weights: Any) -> None:
    for function in (diagnostics.positive_weights, diagnostics.center_of_mass, diagnostics.effective_number):
        with pytest.raises(ValueError, match="weights"):
            function(weights)


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
def test_seeds_of_draws_are_whole_numbers_or_generators(seed: Any) -> None:
    with pytest.raises(ValueError, match="empirical_rademacher: random_state must be"):
        diagnostics.empirical_rademacher(np.eye(2), random_state=seed)


@pytest.mark.parametrize("call", [
    lambda K: diagnostics.convexity(K, Y, n_samples=0),
    diagnostics.curvature_bounds,
    lambda K: diagnostics.proposition_4(K, Y, [1.0], [1.0]),
])  # fmt: skip
def test_powers_beyond_double_precision_are_refused(call: Callable[[Any], Any]) -> None:
    with pytest.raises(
        ValueError, match=r"kernels to the power 2 are beyond double precision, with entries up to .e\+160"
    ):
        call([1e160 * np.eye(3)])
