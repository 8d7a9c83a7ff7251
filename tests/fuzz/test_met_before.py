"""Cases that failed once."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from fuzz.families import FAMILIES, Case
from fuzz.judge import examine
from fuzz.samples import Features, Matrices, Powers, Sample, Samples, Target

CASES = {
    "centred kernels and samples of weight zero": Case(
        "L1MKLRegressor",
        Samples(Sample(1090, 29, 4, 30.0, constant=True), (("centered", 1.0), ("zero", 0.0121))),
        Target("random", 4, 1.0, 10000.0),
        {"C": 1.0, "solver": "auto", "epsilon": 0.0, "tol": 5.45e-06},
        "some zero",
    ),
    "a value that rounding leaves little of, and a bound from elsewhere": Case(
        "PolynomialMKLRegressor",
        Samples(Sample(232, 32, 1, repeated=True), (("polynomial", 0.0796),)),
        Target("outliers", 1992, 1e6, 1e4),
        {"penalty": 527.0, "degree": 2, "tol": 6.35e-08, "alpha": 1.16e-07, "fit_intercept": False},
    ),
    "weights that leave the range of numbers on the way": Case(
        "GMKLRegressor",
        Samples(Sample(7923, 25, 1, repeated=True), (("product", 1.0),)),
        Target("noisy", 485, 1e3),
        {"penalty": 1.87e-05, "norm": 1, "tol": 0.00224, "fit_intercept": True, "alpha": 6.79e-10},
    ),
    "weights beyond the range of single precision, which the samples have": Case(
        "GMKLRegressor",
        Powers(Sample(0, 39, 6, 1000.0, constant=True, single=True), 5, normalize=False),
        Target("random", 70783, 1000.0, 10000.0),
        {"norm": 2, "penalty": 0.000919, "alpha": 100.0, "tol": 6.61e-09, "fit_intercept": True},
    ),
    "weights beyond the range of single precision, on normalised powers": Case(
        "PolynomialMKLRegressor, degree 1",
        Powers(Sample(17559, 31, 5, repeated=True, single=True), 3, normalize=True),
        Target("constant", 11362, 0.01, 10000.0),
        {"penalty": 0.0136, "solver": "auto", "fit_intercept": False, "tol": 5.15e-09, "alpha": 1e-10},
    ),
    "samples far from zero": Case(
        "LpMKLRegressor",
        Samples(Sample(407, 10, 6, shift=100.0, repeated=True), (("rbf", 0.0396), ("normalized", 0.0234))),
        Target("noisy", 100000, 0.01, 10.0),
        {"C": 31.6, "p": 5.594858169555664, "tol": 8.11e-10, "solver": "auto", "epsilon": 0.0},
    ),
    "kernel values that share their digits": Case(
        "LpMKLClassifier",
        Matrices(7969, 14, ((50, 44), (1, 40), (50, 42), (1, 44), (5, 36))),
        Target("unbalanced", 512),
        {"tol": 3.47e-07, "p": 8.0, "solver": "projected_gradient", "C": 1.0, "max_iter": 30},
    ),
    "an alpha below the rounding of the kernels": Case(
        "AverageMKLRegressor",
        Matrices(141, 37, ((5, 43),), single=True),
        Target("random", 0),
        {"alpha": 1.0},
    ),
    "large values of features and a small penalty": Case(
        "PolynomialMKLRegressor, degree 1",
        Features(Sample(255, 36, 4, shift=3.0, repeated=True)),
        Target("random", 2246, 1e6),
        {"offset": 48.6, "radius": 86.1, "norm": 8.0, "solver": "auto", "alpha": 3.42e-09, "tol": 2.09e-06},
    ),
    "a centred kernel, and an alpha below the digits that centring takes": Case(
        "PolynomialMKLRegressor, degree 1",
        Samples(Sample(452, 37, 1, 0.001, 100.0), (("centered", 0.0511),)),
        Target("explained", 1000000, 1000.0, 10000.0),
        {"penalty": 1e-07, "fit_intercept": False, "solver": "auto", "alpha": 0.0212, "tol": 6.6e-10},
        "some zero",
    ),
    "kernels of low rank, and an alpha below their rounding": Case(
        "GMKLRegressor",
        Samples(Sample(49804, 29, 2, 1000.0), (("cubic", 12.6), ("sum", 0.0835))),
        Target("outliers", 288694, 1000.0),
        {"norm": 5.242860794067383, "radius": 1.0, "tol": 4.34e-09, "fit_intercept": False, "alpha": 296000000.0},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    verdict = examine(CASES[name])
    assert verdict.outcome in ("true", "undecided"), verdict


HOPELESS = [
    Case(
        "LpMKLClassifier",
        Powers(Sample(71695, 38, 4, shift=100.0), 5, normalize=False),
        Target("noisy", 259),
        {"C": 58900.0, "p": 3.0, "tol": 0.000298, "solver": "block_norm", "max_iter": 30},
    ),
    Case(
        "L1MKLClassifier",
        Powers(Sample(202, 30, 2, 1000.0), 5, normalize=False),
        Target("unbalanced", 924),
        {"C": 0.000407, "tol": 0.000407, "solver": "reduced_gradient", "max_iter": 30},
    ),
]


@pytest.mark.parametrize("case", HOPELESS, ids=lambda case: case.family)
def test_steps_end_where_rounding_hides_the_value(case: Case) -> None:
    given = case.kind.make()
    with pytest.warns(ConvergenceWarning):
        model = (
            FAMILIES[case.family]
            .estimator(kernels=given.kernels, **case.parameters)
            .fit(given.X, case.target.labels(given))
        )
    assert not model.converged_
    assert model.duality_gap_ > 0.99
    assert model.n_iter_ < 400_000
