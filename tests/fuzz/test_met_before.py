"""Cases that failed once."""

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from cases import one_in
from fuzz.claims import Case
from fuzz.families import FAMILIES
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
    "a multiple of the predictor had the published value": Case(
        "LpMKLClassifier, classes at once",
        Powers(Sample(262129, 17, 5, 1000.0, 3.0), 5, normalize=False),
        Target("noisy", 524),
        {"tol": 0.01, "C": 1e6, "p": 2.0, "fit_intercept": True, "multiclass": "crammer_singer"},
        "random",
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
    "a square of one kernel of low rank, of whose slope rounding hides all": Case(
        "PolynomialMKLRegressor",
        Samples(Sample(855183, 17, 1), (("cubic", 0.1),)),
        Target("random", 138998),
        {"degree": 2, "alpha": 2.9250150149318e-05, "tol": 1e-08, "fit_intercept": False, "penalty": 0.000137442180671},
    ),
    "squares of repeated samples, of whose slopes rounding hides a part": Case(
        "PolynomialMKLRegressor",
        Samples(Sample(706235, 11, 3, 30.0, repeated=True), (("polynomial", 0.1), ("product", 10.0), ("product", 1.0))),
        Target("noisy", 711005),
        {"degree": 2, "alpha": 1.06665124809623e-06, "tol": 1e-08, "fit_intercept": False, "penalty": 17.2775721964312},
    ),
    "a ball whose norm is hardly larger than the degree": Case(
        "PolynomialMKLClassifier",
        Matrices(4625, 28, ((1, -23), (1, -17), (1, -17), (1, -21), (0, -18), (50, -22))),
        Target("random", 823585),
        {
            "norm": 2.0000100135803223,
            "offset": 0.0,
            "radius": 33.8,
            "degree": 2,
            "fit_intercept": False,
            "alpha": 24.7,
            "tol": 5.36e-05,
        },
    ),
    "cubes of features far from zero, in wide arithmetic too": Case(
        "GMKLRegressor, not convex",
        Features(Sample(17965, 9, 1, shift=100.0)),
        Target("noisy", 1388, 1000.0, 10000.0),
        {
            "combination": "polynomial",
            "degree": 3,
            "radius": 56.1,
            "norm": 1,
            "alpha": 1.0,
            "tol": 4.05e-08,
            "max_iter": 60,
        },
    ),
    "stationarity of coefficients that are not quite those of the weights": Case(
        "GMKLClassifier, not convex",
        Features(Sample(1984, 13, 3, 30.0, repeated=True)),
        Target("random", 89693),
        {
            "combination": "rbf_product",
            "degree": 2,
            "radius": 1.45,
            "norm": 2,
            "C": 1.02,
            "tol": 2.35e-07,
            "max_iter": 60,
        },
    ),
    "held-out errors whose slopes fell by decades on the way": Case(
        "MultipleKernelRidgeCV",
        Powers(Sample(1335, 15, 2, 1000.0), 2, normalize=False),
        Target("noisy", 615358, 1000.0),
        {"cv": KFold(4), "tol": 1.99e-06, "fit_intercept": True},
    ),
    "held-out errors of small kernels in single precision": Case(
        "MultipleKernelRidgeCV",
        Matrices(893325, 16, ((1, -38), (2, -43), (1, -39), (0, -40)), single=True, twice=True),
        Target("noisy", 1952, 1e6, 10.0),
        {"cv": KFold(4), "tol": 2.84e-05, "fit_intercept": True},
    ),
    "scales of features none of which varies": Case(
        "LearnedScalesRegressor",
        Features(Sample(136484, 13, 1, 1000.0, constant=True)),
        Target("noisy", 92, 1000.0, 10000.0),
        {"cv": KFold(4), "tol": 4.09e-05, "penalty": 18.9, "fit_intercept": True},
    ),
    "coefficients of features that an alpha below rounding makes large": Case(
        "LinearRLS2Regressor",
        Features(Sample(4579, 6, 5, 1000.0, repeated=True, constant=True)),
        Target("explained", 37193, 1e6),
        {"tol": 5.95e-08, "alpha": 2.61e-07, "scaling": "none", "fit_intercept": True},
    ),
    "the value of a machine that did not converge, below the bound": Case(
        "HKLClassifier",
        Samples(Sample(999999, 6, 2, 1000.0, shift=100.0), (("linear", 1.92),)),
        Target("noisy", 1863),
        {"rho": 1.3572947978973389, "beta": 1.0, "tol": 0.000122, "C": 654.0},
    ),
    "targets far from zero, whose coefficients keep the equality but for rounding": Case(
        "L1MKLRegressor",
        Matrices(30123, 36, ((5, -42),)),
        Target("explained", 175280, 1000.0, 10000.0),
        {"tol": 2.44e-11, "solver": "auto", "epsilon": 8.14, "C": 1090.0},
        "some zero",
    ),
    "the same with a penalty on the weights": Case(
        "GMKLSupportRegressor",
        Matrices(22025, 25, ((2, 2), (1, -3), (0, -4))),
        Target("noisy", 6041, 1000.0, 10000.0),
        {"radius": 0.542, "norm": 5.551780700683594, "tol": 3.62e-10, "epsilon": 0.671, "C": 0.00205},
        "random",
    ),
    "distances of samples whose middle is three times as far as they differ": Case(
        "L1MKLClassifier",
        Samples(Sample(1416, 19, 6, shift=3.0, repeated=True), (("product", 45.6), ("rbf", 0.292))),
        Target("noisy", 24537),
        {"C": 10.0, "tol": 1.64e-11, "solver": "reduced_gradient", "max_iter": 30},
    ),
    "a small ball far from zero": Case(
        "PolynomialMKLClassifier, degree 1",
        Matrices(597199, 6, ((2, 3), (1, -2), (2, -2), (50, 3), (1, 1), (1, -4))),
        Target("noisy", 0),
        {
            "offset": 173.0,
            "radius": 0.00253,
            "norm": 2.3904356956481934,
            "tol": 0.01,
            "fit_intercept": True,
            "alpha": 1.76e-06,
        },
    ),
    "gates whose slopes are known as well as the machine": Case(
        "GatedMKLClassifier",
        Features(Sample(133, 12, 2, 30.0, single=True)),
        Target("unbalanced", 114338),
        {"C": 1.0, "gates": "sigmoid", "ridge": 3.39, "tol": 0.00304, "max_iter": 60},
    ),
    "constant kernels, which held-out errors with an intercept do not feel": Case(
        "MultipleKernelRidgeCV",
        Samples(Sample(830, 7, 3), (("constant", 1.0), ("constant", 4.2))),
        Target("outliers", 259, 1e-06, 10.0),
        {"cv": KFold(4), "tol": 0.00673, "fit_intercept": True},
    ),
}


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_case(name):
    verdict = examine(CASES[name])
    if name == "the same with a penalty on the weights" and verdict.outcome == "false":
        assert verdict.proved < 1e-9
        pytest.xfail("both values that enclose the optimum are too large by 2.3e-10 of it, about as much as tol")
    assert verdict.outcome in ("true", "undecided", "stationary", "rounding"), verdict


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


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
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
