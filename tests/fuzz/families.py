"""Every estimator that certifies a problem: how its cases are drawn, and the problem that a model claims to solve.

A claim is a problem, the published weights, coefficients and intercept, and the published value. The judge tells
whether the published gap holds for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import hkl_reference
import multikernel as mk
from fuzz import machines
from fuzz import saddle as s
from fuzz.claims import FEW, Claim, Family, Flatness
from fuzz.held_out import HeldOutLoss
from fuzz.hulls import Hulls
from fuzz.lattice import Lattice
from fuzz.layers import Layers, learned_kernel
from fuzz.local import Gated, balls, localised
from fuzz.powers import Powers
from fuzz.samples import Features, Given, Matrices, as_numbers, kinds, log_uniform, samples
from fuzz.stationary import GaussianProduct, Landscape, Power
from fuzz.wide import Array, Number, combine, wide

TOL = log_uniform(-11, -2)


def _signs(y: Array) -> Array:
    return wide(np.where(y > 0, 1.0, -1.0))


# -- support vector machines -------------------------------------------------------------------------------------------


def _svm(machine: Callable[..., machines.Machine], domain: Callable[[dict[str, Any]], s.Domain]) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
        problem = s.Saddle(given.K, machine(y, C, parameters), domain(parameters))
        yield _published(problem, model)

    return claims


def _published(problem: Any, model: Any, **more: Any) -> Claim:
    objective = None if model.objective_ is None else as_numbers(model.objective_)
    return Claim(
        problem,
        as_numbers(model.weights_),
        as_numbers(model.dual_coef_),
        as_numbers(model.intercept_),
        objective,
        **more,
    )


def _hinge(y: Array, C: Array, parameters: dict[str, Any]) -> machines.Machine:
    return machines.hinge(_signs(y), C)


def _epsilon(y: Array, C: Array, parameters: dict[str, Any]) -> machines.Machine:
    return machines.epsilon(wide(y), C, parameters["epsilon"])


def _unit_ball(parameters: dict[str, Any]) -> s.Domain:
    return s.ball(parameters.get("p", 1.0))


SVM = {"C": log_uniform(-6, 6), "tol": TOL}
TUBE = SVM | {"epsilon": st.one_of(st.just(0.0), log_uniform(-4, 1))}
P = {"p": st.one_of(st.sampled_from([1.0, 2.0, 3.0, 8.0, 64.0]), st.floats(1.0625, 6.0, width=32))}
AUTO_MOSTLY = ["auto", "auto", "auto"]


def _solver(*others: str) -> dict[str, Any]:
    """The default solver, and now and then another."""
    return {"solver": st.sampled_from([*AUTO_MOSTLY, *others])}


# -- one class, generalised and smoothed -------------------------------------------------------------------------------


def _one_class(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    n = given.K.shape[1]
    floor = 1e-5 * 0.5 * float(np.trace(given.K, axis1=1, axis2=2).max()) / n
    problem = s.Saddle(given.K, machines.one_class(n, parameters["nu"]), s.ball(1.0))
    yield _published(problem, model, floor=floor)


def _generalised_domain(parameters: dict[str, Any]) -> s.Domain:
    if parameters.get("radius") is not None:
        return s.ball(parameters["norm"], parameters["radius"])
    return s.orthant(parameters["penalty"], parameters["norm"])


GENERALISED = st.one_of(
    st.fixed_dictionaries({"penalty": log_uniform(-6, 6), "norm": st.sampled_from([1, 2])}),
    st.fixed_dictionaries(
        {
            "radius": log_uniform(-3, 3),
            "norm": st.one_of(st.sampled_from([1, 2, 8.0]), st.floats(1.0625, 6.0, width=32)),
        }
    ),
)


def _with(domain: st.SearchStrategy[dict[str, Any]], **more: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(domain, st.fixed_dictionaries(more)).map(lambda both: both[0] | both[1])


def _gmkl_classifier(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    machine = machines.squared_hinge(_signs(y), parameters["C"])
    yield _published(s.Saddle(given.K, machine, _generalised_domain(parameters)), model)


def _smkl(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
    problem = s.Saddle(given.K, machines.hinge(_signs(y), C, intercept=False), s.entropy(0.5 * parameters["smoothing"]))
    yield Claim(
        problem,
        as_numbers(model.weights_),
        as_numbers(model.dual_coef_),
        Number(0),
        -as_numbers(model.objective_),
        point="weights",
    )


def _easymkl(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
    problem = Hulls(given.K.sum(axis=0), _signs(y), Number(parameters["lam"]))
    yield _published(problem, model, point="nothing")


# -- ridge regression --------------------------------------------------------------------------------------------------


def _ridge(y: Array, weight: Array | None, parameters: dict[str, Any]) -> tuple[machines.Ridge, Array]:
    """The machine of the samples with a weight, and which these are."""
    kept = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    w = wide(np.ones(len(y)) if weight is None else weight)[kept]
    Y = wide(y)[kept].reshape(int(kept.sum()), -1)
    mean = (w[:, None] * Y).sum(axis=0) / w.sum() if parameters.get("fit_intercept", True) else Number(0)
    return machines.Ridge(Y - mean, Number(parameters["alpha"]), w), kept


def _least_squares(domain: Callable[[dict[str, Any]], s.Domain], labels: bool) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        machine, kept = _ridge(np.where(y > 0, 1.0, -1.0) if labels else y, weight, parameters)
        problem = s.Saddle(given.K[:, kept][:, :, kept], machine, domain(parameters))
        coef = as_numbers(model.dual_coef_)[kept].reshape(-1, 1)
        objective = None if model.objective_ is None else as_numbers(model.objective_)
        yield Claim(
            problem,
            as_numbers(model.weights_),
            coef,
            as_numbers(model.intercept_),
            objective,
            nothing=_nothing(y, machine),
        )

    return claims


def _nothing(y: Array, machine: machines.Ridge) -> float:
    """The value of a target that is rounding of the one given."""
    rounding = 8 * np.finfo(float).eps * float(np.abs(y).max())
    return float(machine.weight.sum() * rounding**2 / machine.alpha)


def _polynomial_domain(parameters: dict[str, Any]) -> s.Domain:
    if parameters.get("penalty") is not None:
        return s.orthant(parameters["penalty"], 2)
    return s.ball(parameters["norm"], parameters["radius"], parameters["offset"])


POLYNOMIAL_DOMAIN = st.one_of(
    st.fixed_dictionaries({"penalty": log_uniform(-8, 6)}),
    st.fixed_dictionaries(
        {
            "norm": st.one_of(st.sampled_from([1, 2, 2, 8.0]), st.floats(1.0625, 6.0, width=32)),
            "radius": st.one_of(log_uniform(-3, 3), log_uniform(-3, 3), st.just(0.0)),
            "offset": st.one_of(st.sampled_from([0.0, 1.0]), log_uniform(-3, 3)),
        }
    ),
)
DEGREE = {"degree": st.sampled_from([2, 2, 2, 3])}


def _powers(labels: bool) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Any]:
        machine, kept = _ridge(np.where(y > 0, 1.0, -1.0) if labels else y, weight, parameters)
        K, ball, penalty = given.K[:, kept][:, :, kept], None, None
        if not hasattr(model, "duality_gap_"):
            if parameters.get("penalty") is None:
                landscape = Landscape(Power(K, parameters["degree"]), machine, _polynomial_domain(parameters))
                yield Flatness(landscape, as_numbers(model.weights_), as_numbers(model.dual_coef_)[kept])
            return
        if parameters.get("penalty") is not None:
            penalty = Number(parameters["penalty"])
        elif parameters["norm"] == 2 or parameters["radius"] == 0:
            ball = wide(parameters["offset"]) + np.zeros(len(K), dtype=Number), Number(parameters["radius"])
        problem = Powers(K, machine, _polynomial_domain(parameters), parameters["degree"], ball, penalty)
        coef = as_numbers(model.dual_coef_)[kept].reshape(-1, 1)
        objective, intercept = as_numbers(model.objective_), as_numbers(model.intercept_)
        yield Claim(problem, as_numbers(model.weights_), coef, intercept, objective, nothing=_nothing(y, machine))

    return claims


def _power(model: Any, K: Array) -> Array:
    return combine(K, as_numbers(model.weights_)) ** model.degree


ALPHA = {"alpha": log_uniform(-10, 10), "tol": TOL, "fit_intercept": st.booleans()}


def _two_layers(labels: bool, point: str = "predictor") -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        machine, _ = _ridge(np.where(y > 0, 1.0, -1.0) if labels else y, None, parameters)
        scaling = as_numbers(model.scaling_)
        problem = s.Saddle(scaling[:, None, None] * given.K, machine, s.ball(1.0))
        objective = as_numbers(model.objective_) * 2 / machine.alpha
        coef = as_numbers(model.dual_coef_).reshape(-1, 1)
        yield Claim(
            problem,
            as_numbers(model.weights_),
            coef,
            as_numbers(model.intercept_),
            objective,
            nothing=_nothing(y, machine),
            point=point,
        )

    return claims


# -- not convex --------------------------------------------------------------------------------------------------------


def _landscape(target: str) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        if target == "labels":
            machine: Any = machines.squared_hinge(_signs(y), parameters["C"])
        elif target == "numbers":
            machine = _ridge(y, None, parameters)[0]
        else:
            machine = machines.epsilon(wide(y), Number(parameters["C"]), parameters["epsilon"])
        domain = s.ball(parameters["norm"], parameters["radius"])
        if parameters["combination"] == "polynomial":
            combination: Any = Power(given.K, parameters["degree"])
        else:
            combination = GaussianProduct(given.K)
        landscape = Landscape(combination, machine, domain)
        yield Flatness(landscape, as_numbers(model.weights_), as_numbers(model.dual_coef_))

    return claims


NOT_CONVEX = {
    "combination": st.sampled_from(["polynomial", "rbf_product"]),
    "degree": st.sampled_from([2, 3]),
    "radius": log_uniform(-2, 2),
    "norm": st.sampled_from([1, 2, 1.5]),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}
IN_A_TUBE = {
    "combination": st.just("rbf_product"),  # powers of large kernels take pairs of coefficients minutes
    "C": log_uniform(-4, 2),
    "epsilon": st.one_of(st.just(0.0), log_uniform(-4, 1)),
    "tol": log_uniform(-5, -2),
}
FEW_FEATURES = st.builds(Features, samples(most=15, features=3))


# -- products ----------------------------------------------------------------------------------------------------------


def _lattice(labels: bool) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        nodes, C = hkl_reference.lattice(len(given.K)), parameters["C"]
        if labels:
            machine: Any = machines.hinge(_signs(y), C * np.ones(len(y)))
        else:
            machine = _ridge(y, None, {"alpha": 0.5 / Number(C)})[0]
        problem = Lattice(_products(given.K, nodes), nodes, machine, model.beta, parameters["rho"])
        weights = np.zeros(len(nodes), dtype=Number)
        weights[[nodes.index(node) for node in model.nodes_]] = model.weights_
        coef = as_numbers(model.dual_coef_)
        objective, intercept = as_numbers(model.objective_), as_numbers(model.intercept_)
        yield Claim(problem, weights, coef if labels else coef[:, None], intercept, objective)

    return claims


def _products(K: Array, nodes: Any) -> Array:
    """The entrywise product of the kernels of every node."""
    one = np.ones(K.shape[1:], dtype=Number)
    return np.array([np.prod([one, *(K[i] for i in node)], axis=0) for node in nodes])


LATTICE = {
    "C": log_uniform(-4, 4),
    "rho": st.one_of(st.just(2.0), st.floats(1.0625, 2.0, width=32)),
    "beta": st.one_of(st.just(2.0), log_uniform(-0.25, 1.5)),
    "tol": log_uniform(-6, -2),
}
FEW_KERNELS = kinds(most=16, kernels=3).filter(lambda kind: kind.count <= 3)


# -- rules -------------------------------------------------------------------------------------------------------------


def _rule_classifier(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    """The machine's gap at the weights."""
    machine = machines.hinge(_signs(y), Number(parameters["C"]) * np.ones(len(y)))
    yield _published(s.Saddle(given.K, machine, s.point(model.weights_)), model)


def _rule_regressor(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[Claim]:
    yield from _least_squares(lambda _: s.point(model.weights_), labels=False)(model, given, y, weight, parameters)


# -- weights that follow the sample, and functions of functions --------------------------------------------------------


def _localised(machine: Callable[..., machines.Machine]) -> Any:
    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        C = Number(parameters["C"]) * (np.ones(len(y)) if weight is None else wide(weight))
        h = model.memberships_
        domain = balls(parameters["p"], h.shape[1])
        yield _published(s.Saddle(localised(given.K, h), machine(y, C, parameters), domain), model)

    return claims


def _localised_kernel(model: Any, K: Array) -> Array | None:
    """Of the training samples, whose memberships are published."""
    h = model.memberships_
    return combine(localised(K, h), as_numbers(model.weights_)) if len(h) == K.shape[1] == K.shape[2] else None


def _gated(labels: bool) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        gates, X = model.predictor_.gates, np.asarray(given.X, dtype=float)
        unit = 1 / _kernel_size(given.K)
        if labels:
            machine: Any = machines.squared_hinge(_signs(y), parameters["C"])
        else:
            machine, unit = _ridge(y, None, parameters)[0], unit * Number(_spread(y)) ** 2
        x = np.column_stack([gates.slopes[0], gates.levels[0]]).ravel()
        told, ridge = Number(model.objective_), unit * Number(parameters["ridge"])
        spreads = X.std(axis=0)
        features = (X - X.mean(axis=0)) / np.where(spreads > 1e-12 * np.abs(X).max(axis=0), spreads, 1.0)
        inputs = wide(np.column_stack([features, np.ones(len(y))]))
        surface = Gated(given.K, inputs, machine, parameters["gates"], ridge, told)
        yield Flatness(surface, wide(x), as_numbers(model.dual_coef_))

    return claims


def _gated_kernel(model: Any, K: Array) -> Array | None:
    """Of the training samples, where the features of all are kept."""
    predictor = model.predictor_
    e = wide(predictor.gates.of(predictor.reference.columns))
    if not len(e) == K.shape[1] == K.shape[2]:
        return None
    return np.einsum("ik,kij,jk->ij", e, K, e)


def _layers(labels: bool) -> Any:
    def claims(
        model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
    ) -> Iterator[Flatness]:
        values = np.where(y > 0, 1.0, -1.0) if labels else y
        target = wide(values) - (wide(values).mean() if parameters["fit_intercept"] else 0)
        size, first = _kernel_size(given.K), wide(model.predictor_.first)
        surface = Layers(
            given.K / size,
            target / Number(_spread(values)),
            parameters["second"],
            parameters["degree"],
            Number(parameters["alpha"]),
            Number(parameters["beta"]),
            Number(model.objective_),
        )
        yield Flatness(surface, (first * size).ravel(), as_numbers(model.dual_coef_))

    return claims


def _kernel_size(K: Array) -> Number:
    """The mean self-value of the kernels that are not zero, of which no kernel learns anything but rounding."""
    sizes = np.einsum("kii->k", K) / K.shape[1]
    return sizes[sizes > 0].mean() if (sizes > 0).any() else Number(1)


def _spread(y: Array) -> float:
    """The standard deviation of a target, its size where it is constant."""
    spread, size = float(np.std(y)), float(np.sqrt(np.mean(np.square(y))))
    return (spread if spread > 1e-12 * np.abs(y).max() else size) or 1.0


# -- several classes ---------------------------------------------------------------------------------------------------

_CLASSES = 3


def _one_by_one(binary: Any) -> Any:
    """The claims of one class against the others, for each class; the published gap is the largest."""

    def claims(model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]) -> Iterator[Claim]:
        for c in range(_CLASSES):
            names = ("weights_", "dual_coef_", "intercept_", "objective_", "scaling_")
            own = SimpleNamespace(**{name: getattr(model, name)[c] for name in names if hasattr(model, name)})
            yield from binary(own, given, np.where(y == c, 1, -1), weight, parameters)

    return claims


def _several(family: Family) -> Family:
    """The same estimator for three classes."""
    return replace(family, claims=_one_by_one(family.claims), classes=_CLASSES, kernel=lambda model, K: None)


# -- held-out errors ---------------------------------------------------------------------------------------------------

_FOLDS = 4
_LARGEST, _LARGEST_SINGLE = Number(1e9), Number(2e-2 / np.finfo(np.float32).eps)
HELD_OUT = {"cv": st.just(KFold(_FOLDS)), "fit_intercept": st.booleans(), "tol": log_uniform(-6, -2)}


def _held_out(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[HeldOutLoss]:
    v, told = as_numbers(model.weights_) / Number(model.alpha_), Number(model.cv_loss_)
    largest = _LARGEST_SINGLE if getattr(given.X, "dtype", None) == np.float32 else _LARGEST
    yield HeldOutLoss(given.K, v, wide(y), _FOLDS, parameters["fit_intercept"], told, largest)


def _scales(
    model: Any, given: Given, y: Array, weight: Array | None, parameters: dict[str, Any]
) -> Iterator[HeldOutLoss]:
    X, v = wide(given.X), as_numbers(model.weights_) / Number(model.alpha_)
    K = np.exp(-(wide(model.scales_) * (X[:, None] - X[None]) ** 2).sum(axis=2))[None]
    told = Number(model.cv_loss_)
    yield HeldOutLoss(K, v, wide(y), _FOLDS, parameters["fit_intercept"], told, _LARGEST, learned=False)


def _with_learned_scales(kernels: Any, **parameters: Any) -> Any:
    return mk.LearnedScalesRegressor([mk.kernels.RBF()], max_iter=FEW, **parameters)


# -- the table ---------------------------------------------------------------------------------------------------------

ANY = kinds()
FEATURES = st.builds(Features, samples())


def _fixed(*groups: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({name: value for group in groups for name, value in group.items()})


_SIMPLEX_SOLVERS = _solver("reduced_gradient", "cutting_plane", "level", "subgradient")
_BALL_SOLVERS = _solver("block_norm", "projected_gradient")
GROUPS = {
    "n_clusters": st.integers(1, 3),
    "temperature": st.sampled_from([0.0, 0.0, 0.3]),
    "random_state": st.just(0),
    "tol": log_uniform(-5, -2),
    "C": log_uniform(-4, 2),
}
GATES = {
    "gates": st.sampled_from(["softmax", "sigmoid"]),
    "ridge": log_uniform(-3, 2),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}
LAYERS = {
    "second": st.sampled_from(["linear", "polynomial", "gaussian"]),
    "degree": st.sampled_from([2, 3]),
    "alpha": log_uniform(-4, 3),
    "beta": log_uniform(-3, 1),
    "fit_intercept": st.booleans(),
    "tol": log_uniform(-8, -2),
    "max_iter": st.just(60),
}
OF_SAMPLES = kinds(most=20).filter(lambda kind: not isinstance(kind, Matrices))
RLS2 = ALPHA | {"scaling": st.sampled_from(["trace", "none"])}

FAMILIES: dict[str, Family] = {
    "L1MKLClassifier": Family(
        mk.L1MKLClassifier, _fixed(SVM, _SIMPLEX_SOLVERS), _svm(_hinge, _unit_ball), ANY, True, True
    ),
    "L1MKLRegressor": Family(
        mk.L1MKLRegressor, _fixed(TUBE, _SIMPLEX_SOLVERS), _svm(_epsilon, _unit_ball), ANY, False, True
    ),
    "LpMKLClassifier": Family(
        mk.LpMKLClassifier, _fixed(SVM, P, _BALL_SOLVERS), _svm(_hinge, _unit_ball), ANY, True, True
    ),
    "LpMKLRegressor": Family(
        mk.LpMKLRegressor, _fixed(TUBE, P, _BALL_SOLVERS), _svm(_epsilon, _unit_ball), ANY, False, True
    ),
    "OneClassMKL": Family(
        mk.OneClassMKL,
        _fixed({"nu": st.floats(0.0078125, 1.0, width=32), "tol": TOL}, _solver("reduced_gradient", "level")),
        _one_class,
        ANY,
        True,
        needs_target=False,
    ),
    "SMKLClassifier": Family(
        mk.SMKLClassifier,
        _fixed(SVM, {"smoothing": log_uniform(-4, 4)}, _solver("accelerated")),
        _smkl,
        ANY,
        True,
        True,
    ),
    "EasyMKLClassifier": Family(
        mk.EasyMKLClassifier,
        _fixed({"lam": st.one_of(log_uniform(-6, 0), st.sampled_from([0.1, 1.0])), "tol": TOL}),
        _easymkl,
        ANY,
        True,
    ),
    "GMKLClassifier": Family(
        mk.GMKLClassifier, _with(GENERALISED, C=log_uniform(-6, 6), tol=TOL), _gmkl_classifier, ANY, True
    ),
    "GMKLRegressor": Family(
        mk.GMKLRegressor, _with(GENERALISED, **ALPHA), _least_squares(_generalised_domain, False), ANY, False
    ),
    "PolynomialMKLRegressor, degree 1": Family(
        lambda **given: mk.PolynomialMKLRegressor(degree=1, **given),
        _with(POLYNOMIAL_DOMAIN, **ALPHA, solver=st.sampled_from([*AUTO_MOSTLY, "projected_gradient"])),
        _least_squares(_polynomial_domain, False),
        ANY,
        False,
        True,
    ),
    "PolynomialMKLClassifier, degree 1": Family(
        lambda **given: mk.PolynomialMKLClassifier(degree=1, **given),
        _with(POLYNOMIAL_DOMAIN, **ALPHA),
        _least_squares(_polynomial_domain, True),
        ANY,
        True,
        True,
    ),
    "PolynomialMKLRegressor": Family(
        mk.PolynomialMKLRegressor,
        _with(POLYNOMIAL_DOMAIN, **ALPHA, **DEGREE),
        _powers(False),
        ANY,
        False,
        True,
        kernel=_power,
    ),
    "PolynomialMKLClassifier": Family(
        mk.PolynomialMKLClassifier,
        _with(POLYNOMIAL_DOMAIN, **ALPHA, **DEGREE),
        _powers(True),
        ANY,
        True,
        True,
        kernel=_power,
    ),
    "RLS2Regressor": Family(mk.RLS2Regressor, _fixed(RLS2), _two_layers(False), ANY, False),
    "RLS2Classifier": Family(mk.RLS2Classifier, _fixed(RLS2), _two_layers(True), ANY, True),
    "LinearRLS2Regressor": Family(
        lambda **given: mk.LinearRLS2Regressor(**{k: v for k, v in given.items() if k != "kernels"}),
        _fixed(ALPHA, {"scaling": st.sampled_from(["norm", "none"])}),
        _two_layers(False, "weights"),  # it predicts by coef_, which is more exact than the coefficients of kernels
        FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
    "GMKLClassifier, not convex": Family(
        mk.GMKLClassifier,
        _fixed(NOT_CONVEX, {"C": log_uniform(-4, 4)}),
        _landscape("labels"),
        FEW_FEATURES,
        True,
        kernel=lambda model, K: None,
    ),
    "GMKLRegressor, not convex": Family(
        mk.GMKLRegressor,
        _fixed(NOT_CONVEX, {"alpha": log_uniform(-4, 6)}),
        _landscape("numbers"),
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
    "HKLClassifier": Family(
        mk.HKLClassifier,
        _fixed(LATTICE),
        _lattice(True),
        FEW_KERNELS,
        True,
        kernel=lambda model, K: combine(_products(K, model.nodes_), as_numbers(model.weights_)),
    ),
    "HKLRegressor": Family(
        mk.HKLRegressor,
        _fixed(LATTICE),
        _lattice(False),
        FEW_KERNELS,
        False,
        kernel=lambda model, K: combine(_products(K, model.nodes_), as_numbers(model.weights_)),
    ),
    "MultipleKernelRidgeCV": Family(
        lambda **given: mk.MultipleKernelRidgeCV(max_iter=FEW, **given),
        _fixed(HELD_OUT),
        _held_out,
        kinds(most=20),
        False,
    ),
    "LearnedScalesRegressor": Family(
        _with_learned_scales,
        _fixed(HELD_OUT, {"penalty": log_uniform(-2, 2)}),
        _scales,
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
    "AverageMKLClassifier": Family(
        mk.AverageMKLClassifier, _fixed({"C": log_uniform(-6, 6), "tol": TOL}), _rule_classifier, ANY, True
    ),
    "AlignmentMKLClassifier": Family(
        mk.AlignmentMKLClassifier, _fixed({"C": log_uniform(-6, 6), "tol": TOL}), _rule_classifier, ANY, True
    ),
    "AverageMKLRegressor": Family(
        mk.AverageMKLRegressor, _fixed({"alpha": log_uniform(-10, 10)}), _rule_regressor, ANY, False, True
    ),
    "AlignmentMKLRegressor": Family(
        mk.AlignmentMKLRegressor, _fixed({"alpha": log_uniform(-10, 10)}), _rule_regressor, ANY, False, True
    ),
    "SMKLRegressor": Family(
        mk.SMKLRegressor,
        _fixed(TUBE, {"smoothing": log_uniform(-4, 4)}),
        _svm(_epsilon, lambda parameters: s.entropy(0.5 * parameters["smoothing"])),
        ANY,
        False,
        True,
    ),
    "GMKLSupportRegressor": Family(
        mk.GMKLSupportRegressor, _with(GENERALISED, **TUBE), _svm(_epsilon, _generalised_domain), ANY, False, True
    ),
    "GMKLSupportRegressor, not convex": Family(
        mk.GMKLSupportRegressor,
        _fixed(NOT_CONVEX, IN_A_TUBE),
        _landscape("numbers in a tube"),
        FEW_FEATURES,
        False,
        kernel=lambda model, K: None,
    ),
    "LocalizedMKLClassifier": Family(
        mk.LocalizedMKLClassifier,
        _fixed(SVM, P, GROUPS),
        _localised(_hinge),
        kinds(most=20),
        True,
        True,
        kernel=_localised_kernel,
    ),
    "LocalizedMKLRegressor": Family(
        mk.LocalizedMKLRegressor,
        _fixed(TUBE, P, GROUPS),
        _localised(_epsilon),
        kinds(most=20),
        False,
        True,
        kernel=_localised_kernel,
    ),
    "GatedMKLClassifier": Family(
        mk.GatedMKLClassifier,
        _fixed(GATES, {"C": log_uniform(-4, 4)}),
        _gated(True),
        OF_SAMPLES,
        True,
        kernel=_gated_kernel,
    ),
    "GatedMKLRegressor": Family(
        mk.GatedMKLRegressor,
        _fixed(GATES, {"alpha": log_uniform(-6, 6), "fit_intercept": st.booleans()}),
        _gated(False),
        OF_SAMPLES,
        False,
        kernel=_gated_kernel,
    ),
    "TwoLayerClassifier": Family(
        mk.TwoLayerClassifier, _fixed(LAYERS), _layers(True), kinds(most=20), True, kernel=learned_kernel
    ),
    "TwoLayerRegressor": Family(
        mk.TwoLayerRegressor, _fixed(LAYERS), _layers(False), kinds(most=20), False, kernel=learned_kernel
    ),
    "ProportionalMKLClassifier": Family(
        lambda **given: mk.ProportionalMKLClassifier(random_state=0, **given),
        _fixed({"C": log_uniform(-6, 6), "tol": TOL}),
        _rule_classifier,
        ANY,
        True,
    ),
    "ProportionalMKLRegressor": Family(
        lambda **given: mk.ProportionalMKLRegressor(random_state=0, **given),
        _fixed({"alpha": log_uniform(-10, 10)}),
        _rule_regressor,
        ANY,
        False,
        True,
    ),
}
SEVERAL = ("L1MKLClassifier", "LpMKLClassifier", "SMKLClassifier", "EasyMKLClassifier", "RLS2Classifier")
FAMILIES |= {f"{name}, several classes": _several(FAMILIES[name]) for name in SEVERAL}
