"""Every parameter of every public class, with values of all sorts: taken, or refused in one sentence that names it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV

import multikernel as mk
from cases import one_in
from multikernel import combinations, diagnostics, domains, kernels, machines, optimizers
from multikernel._parameters import Count, Part, Positive, Seed, Threads, check_parameters
from multikernel._rules import Vector
from multikernel.estimators.base import KernelEstimator
from multikernel.problem import Problem
from zoo_estimators import searched

VALUES = (None, "a", np.nan, np.inf, -np.inf, -1, 0, 0.5, True, [], (), {}, 1j, 10**9, 10**400, 1e300)
HUGE = 1e300  # a size that some parameters may have: what is then learned is another matter
ESTIMATORS = {
    name: cls for name in mk.__all__ if inspect.isclass(cls := getattr(mk, name)) and issubclass(cls, KernelEstimator)
}
X = np.random.default_rng(0).normal(size=(8, 2))
LABELS, NUMBERS = np.arange(8) % 2, X[:, 0] + 0.1 * X[:, 1] ** 2
FAMILY = [kernels.RBF(0.5), kernels.RBF(2.0)]


def cases(cls: Any) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name in inspect.signature(cls).parameters for value in VALUES)


def named(error: Exception, owner: str, parameter: str) -> bool:
    return owner in str(error) and parameter in str(error) and "\n" not in str(error)


@pytest.mark.parametrize("name", one_in(3, ESTIMATORS))
def test_an_estimator_fits_or_says_which_parameter_is_wrong(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a directory that a parameter names is made
    cls = ESTIMATORS[name]
    unnamed: list[str] = []
    signature = inspect.signature(cls).parameters
    given = {"kernels": FAMILY} if "kernels" in signature else {}
    given |= {name: "linear" if name == "second" else 0.1 for name in searched(cls())}  # a fit, not a search
    few = {"max_iter": 2, "penalty": 1.0, "cv": 2}  # which is all that the parameters' words need
    given |= {parameter: value for parameter, value in few.items() if parameter in signature}
    for parameter, value in cases(cls):
        model = cls(**given | {parameter: value})
        try:
            model.check_parameters()
            if value == HUGE:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, LABELS if is_classifier(model) else NUMBERS)
        except (ValueError, TypeError) as error:
            unnamed += [] if named(error, name, parameter) else [f"{name}({parameter}={value!r}): {error}"]
        else:
            predicted = model.predict(X)
            assert is_classifier(model) or np.isfinite(predicted).all(), f"{name}({parameter}={value!r})"
    assert not unnamed


PARTS: dict[str, Callable[..., Any]] = {
    f"{room.__name__}.{name}": cls
    for room in (kernels, machines, domains, optimizers, combinations)
    for name in room.__all__
    if inspect.isclass(cls := getattr(room, name))
    and not inspect.isabstract(cls)
    and not getattr(cls, "_is_protocol", False)
    and cls not in (machines.DualSolution, machines.SupportProgram, optimizers.Result, kernels.Features)
}
NEEDED = {
    "kernel": kernels.RBF(1.0),
    "kernels": (kernels.RBF(1.0),),
    "degree": 2,
    "coefficients": (1, 2),
    "scales": (1,),
    "factor": ((1.0,),),
    "shape": np.eye(2),
    "moves": [(0, "a", 0, 1.0)],
    "initial": (1.0,),
    "final": (1.0,),
    "encoding": kernels.Standardize(),
    "levels": ("low", "high"),
    "domains": (domains.Simplex(), domains.NormBall(2.0)),
    "sizes": (1, 2),
    "parts": ((kernels.Standardize(), (0,)),),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_made_or_says_which_parameter_is_wrong(name: str) -> None:
    cls = PARTS[name]
    given = {p: NEEDED[p] for p, about in inspect.signature(cls).parameters.items() if about.default is about.empty}
    unnamed: list[str] = []
    for parameter, value in cases(cls):
        try:
            cls(**given | {parameter: value})
        except (ValueError, TypeError) as error:
            unnamed += [] if named(error, cls.__name__, parameter) else [f"{name}({parameter}={value!r}): {error}"]
    assert not unnamed


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernels.homogeneous_polynomials(10**9), r"homogeneous_polynomials: max_degree .*\[0, 10000\]"),
        (lambda: kernels.anova(10**9), r"anova: max_degree must be an integer in \[1, 10000\], got 1000000000"),
        (lambda: kernels.spectra(10**9), "spectra: max_length must be"),
        (lambda: kernels.polynomials([1, 1.5]), "Polynomial|polynomials: degrees must be an integer"),
        (lambda: kernels.polynomials(3), "polynomials: degrees must be a list"),
        (lambda: kernels.rbf_grid(1.0), "rbf_grid: gammas must be a list"),
        (lambda: kernels.rbf_grid(["a"]), "rbf_grid: gammas must be a finite number > 0, got 'a'"),
        (lambda: kernels.rbf_subsets(None, [1.0]), "rbf_subsets: subsets must be an integer"),
        (lambda: kernels.mean_polynomial(1.5), "mean_polynomial: max_degree must be"),
        (lambda: kernels.column_groups([0, 1], kernels.Linear()), "column_groups: groups must be a dict"),
        (lambda: kernels.column_groups({"a": [0]}, "rfb"), "kernels known by name are 'linear', .*; got 'rfb'"),
        (lambda: diagnostics.meb_radius(np.eye(2), tol="a"), "meb_radius: tol must be"),
        (
            lambda: diagnostics.radius_margin_bound(np.eye(2), [0, 1], max_iter=0),
            "radius_margin_bound: max_iter must be",
        ),
        (lambda: diagnostics.empirical_rademacher(np.eye(2), n_draws=None), "empirical_rademacher: n_draws must be"),
        (lambda: diagnostics.rademacher_bound(np.eye(2), q=None), "q must be a finite number >= 1"),
        (lambda: diagnostics.convexity([np.eye(2)], [0.0, 1.0], domain="ball"), "convexity: domain must be a NormBall"),
    ],
)
def test_functions_refuse_what_has_no_meaning(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("part", "example"),
    [("domain", "Simplex"), ("machine", "HingeMachine"), ("combination", "Linear"), ("bank", "bind")],
)
def test_a_problem_names_the_part_that_is_none(part: str, example: str) -> None:
    given = {
        "bank": mk.precomputed([np.eye(2)]),
        "combination": combinations.Linear(),
        "machine": machines.RidgeMachine(),
        "domain": domains.Simplex(),
        "target": np.array([0.0, 1.0]),
    }
    with pytest.raises(TypeError, match=f"Problem: {part} must be a .* such as {example}.*, got 'simplex'"):
        Problem(**given | {part: "simplex"})  # type: ignore[arg-type]


@dataclass
class Some:
    """A class that states what its parameters may be."""

    size: Positive = 1.0
    part: Part | None = None
    count: Count = 1
    way: Literal["this", "that", 2] = "this"
    flag: bool = True
    threads: Threads = None
    seed: Seed = None
    elsewhere: Unknown = None  # type: ignore[name-defined]  # noqa: F821 - a name that only a type checker sees


def test_numbers_of_numpy_are_numbers_and_truth_values_are_none() -> None:
    numbers: list[dict[str, Any]] = [
        {"size": np.float32(2.0)},
        {"size": np.int64(2)},
        {"count": np.uint8(2)},
        {"flag": np.bool_(False)},
        {"way": np.int64(2)},
        {"seed": np.random.RandomState(0)},
    ]
    for given in numbers:
        check_parameters(Some(**given))
    for wrong in (
        {"size": True},
        {"size": np.bool_(True)},
        {"size": Fraction(1, 2)},
        {"size": np.longdouble(2.0)},
        {"count": True},
        {"count": 2.0},
        {"flag": 1},
        {"way": True},
    ):
        with pytest.raises(ValueError, match=f"Some: {next(iter(wrong))} must be"):
            check_parameters(Some(**wrong))  # type: ignore[arg-type]


def test_an_annotation_that_cannot_be_evaluated_takes_no_other_rule_away() -> None:
    with pytest.raises(ValueError, match="Some: size must be a finite number > 0, got -1"):
        check_parameters(Some(size=-1))


def test_vectors_hold_numbers_only() -> None:
    rule = Vector()
    assert all(map(rule.accepts, ([1, 2.5], (0.0,), np.ones(3), np.array([1], dtype=np.int8))))
    for wrong in ([], "12", ["1"], [True], [[1.0]], np.ones((1, 1)), [1, -1], [np.nan], [None], 1.0, [1j], [1, [2]]):
        assert not rule.accepts(wrong)


def test_powers_beyond_the_range_of_numbers_are_refused() -> None:
    for model in (
        mk.PolynomialMKLRegressor(FAMILY, radius=1e300),
        mk.PolynomialMKLRegressor(FAMILY, offset=1e300),
        mk.GMKLRegressor(FAMILY, combination="polynomial", radius=1e300),
    ):
        with pytest.raises(ValueError, match="lower radius or offset, or the degree"):
            model.fit(X, NUMBERS)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("cv", 1), ("cv", "five"), ("one_standard_error", 1), ("n_jobs", 0), ("n_jobs", "a"), ("verbose", -1)],
)
def test_a_search_says_which_parameter_is_wrong(parameter: str, value: Any) -> None:
    search = mk.BankSearchCV(mk.EasyMKLClassifier(FAMILY), {"lam": [0.1, 1.0]}, **{parameter: value})
    with pytest.raises(ValueError, match=f"BankSearchCV: {parameter} must be"):
        search.fit(X, LABELS)


def test_a_search_looks_at_all_candidates_first() -> None:
    search = mk.BankSearchCV(mk.EasyMKLClassifier(FAMILY), {"lam": [0.1, 2.0]}, cv=[(np.arange(4), np.arange(4))])
    with pytest.raises(ValueError, match="lam must be a number in"):
        search.fit(X, LABELS)


@pytest.mark.parametrize(("argument", "value"), [("verbose", "x"), ("verbose", -1), ("validation", 3)])
def test_a_path_says_which_argument_is_wrong(argument: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"path: {argument} must be"):
        mk.path(mk.EasyMKLClassifier(FAMILY), X, LABELS, "lam", [0.1, 1.0], **{argument: value})


def test_searches_of_scikit_learn_take_a_bank() -> None:
    bank = mk.bind(FAMILY, X)
    for given in (FAMILY, "precomputed"):
        assert GridSearchCV(mk.EasyMKLClassifier(given), {"lam": [0.1]}, cv=2).fit(bank, LABELS).best_params_
