"""Machines and the problem of their mixtures by turns: the interior point method's optimum, bounds that hold."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest

from cases import one_in
from multikernel import L1MKLClassifier, LpMKLClassifier, SMKLClassifier, bind, kernels
from multikernel._workers import limited
from multikernel.banks.factor import FactorBank
from multikernel.combinations import Linear
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import EpsilonMachine, HingeMachine, OneClassMachine, SquaredHingeMachine, SupportMachine
from multikernel.observer import silent
from multikernel.problem import Problem
from multikernel.procedures.dual_hull import DualHull
from multikernel.procedures.support_hull import alternating
from multikernel.procedures.support_pair import SupportSaddle

Array = Any
procedure = import_module("multikernel.procedures.support_mkl")
DOMAINS = {
    "simplex": Simplex(),
    "simplex-3": Simplex(3.0),
    "ball-2": NormBall(2.0),
    "ball-1.1": NormBall(1.1),
    "around-ones": NormBall(2.0, center=1.0),
    "entropy": EntropySimplex(0.5),
}
MACHINES = {
    "hinge": lambda tol: HingeMachine(C=10.0, tol=tol),
    "no-intercept": lambda tol: HingeMachine(C=1.0, fit_intercept=False, tol=tol),
    "squared": lambda tol: SquaredHingeMachine(C=1.0, tol=tol),
    "epsilon": lambda tol: EpsilonMachine(C=1.0, tol=tol),
    "one-class": lambda tol: OneClassMachine(nu=0.3, tol=tol),
}


def problem(machine: SupportMachine, domain: Domain, n: int = 70) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    target = X[:, 0] + 0.3 * rng.normal(size=n) if isinstance(machine, EpsilonMachine) else y
    family = kernels.per_feature(kernels.RBF(1.0)) + kernels.rbf_grid([0.01, 0.1, 1.0])
    return Problem(bind(family, X), Linear(), machine, domain, target)


@pytest.mark.parametrize(("domain", "name", "tol"), one_in(7, product(DOMAINS, MACHINES, [1e-3, 1e-5])))
def test_the_gap_encloses_the_optimum(name: str, domain: str, tol: float) -> None:
    posed = problem(MACHINES[name](tol), DOMAINS[domain])
    exact, _ = procedure.support_mkl(problem(MACHINES[name](1e-9), DOMAINS[domain]), 1e-9)
    pair, history = alternating(SupportSaddle.of(posed, tol), None, None, 100, silent)
    assert pair.certificate.value == history[-1] <= tol
    optimum, size = exact.objective, abs(exact.objective) + pair.floor
    assert pair.bound <= optimum + 2e-9 * size
    assert pair.upper >= optimum - 2e-9 * size
    primal = posed.evaluate(pair.weights, machine=posed.machine.with_tolerance(1e-11))  # type: ignore[attr-defined]
    assert primal.value <= pair.upper + 1e-9 * size
    assert len(history) <= 30


@pytest.mark.parametrize("domain", ["simplex", "entropy"])
def test_each_gap_is_true(domain: str) -> None:
    """Whichever turn is the last one."""
    posed = problem(MACHINES["hinge"](1e-4), DOMAINS[domain])
    exact, _ = procedure.support_mkl(problem(MACHINES["hinge"](1e-9), DOMAINS[domain]), 1e-9)
    for most in (1, 2, 3, 5, 8):
        pair, history = alternating(SupportSaddle.of(posed, 1e-4), None, None, most, silent)
        assert len(history) <= most
        assert pair.bound <= exact.objective * (1 + 1e-9)
        at = posed.evaluate(pair.weights, machine=posed.machine.with_tolerance(1e-11))  # type: ignore[attr-defined]
        assert at.value - exact.objective <= (pair.certificate.value + 1e-9) * pair.upper


def test_forms_of_the_points() -> None:
    posed = problem(MACHINES["hinge"](1e-3), Simplex())
    program, rng = SupportSaddle.of(posed, 1e-3).saddle.program, np.random.default_rng(0)
    hull, points = DualHull.empty(len(posed.bank), program.n), rng.random((3, len(program.sign)))
    for a in points:
        coef = program.coef(a)
        hull = hull.with_point(coef, program.dual(a, 0.0), posed.bank.apply(coef[:, None])[:, :, 0])
    B, K = np.stack([program.coef(a) for a in points]), posed.bank.matrices()
    np.testing.assert_allclose(hull.forms.matrices(), B @ K @ B.T, rtol=1e-12)


def noisy(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "most"),
    one_in(
        3,
        [
            (LpMKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-3), 6),
            (L1MKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-3), 15),
            (SMKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-3), 15),
        ],
    ),
)
def test_no_more_is_done_than_is_asked_for(model: Any, most: int) -> None:
    """A loose tolerance takes a few machines, also where the kernels are stored in single precision."""
    X, y = noisy(1300)
    model.fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert len(model.history_[0]) <= most
    assert (
        isinstance(model, LpMKLClassifier | SMKLClassifier)
        or (model.weights_ == 0).any()
        or (model.weights_ > 1e-3).all()
    )


def test_the_interior_point_method_goes_on_where_turns_do_not_lead_there(monkeypatch: pytest.MonkeyPatch) -> None:
    posed = problem(MACHINES["hinge"](1e-6), Simplex())
    monkeypatch.setattr(procedure, "_most_rounds", lambda *_: 2)
    weights, _ = procedure.support_mkl(posed, 1e-6)
    assert weights.converged
    assert weights.n_iter > 2


def test_a_domain_that_only_a_penalty_bounds_takes_no_turns() -> None:
    posed = problem(MACHINES["hinge"](1e-3), Orthant(norm=2.0, strength=1.0))
    assert procedure._most_rounds(posed, posed.domain, 1e-3, 100) == 0


def test_products_of_sparse_columns() -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = np.where(rng.random((9, 7)) < 0.4, rng.normal(size=(9, 7)), 0.0)
    C = rng.normal(size=(9, 2))
    bank = bind(kernels.per_feature(kernels.Linear()), sparse.csr_matrix(X))
    assert isinstance(bank, FactorBank)
    np.testing.assert_allclose(bank.apply(C), np.einsum("ik,jk,jt->kit", X, X, C), atol=1e-14)


def test_a_path_goes_on_from_turns_and_solvers_by_name_start_from_their_machine() -> None:
    X, y = noisy(1300)
    model = LpMKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-3)
    bank, target = model.bind(X, y)
    first = model.fit_bank(bank, target)
    assert first[0].start.variables.shape == first[0].start.witness.shape == (1300,)
    again = model.fit_bank(bank, target, first)
    assert again[0].weights.converged
    assert again[0].weights.n_iter == 0
    part = first[0].among(np.arange(0, 1300, 2)).start
    assert part.variables.shape == part.witness.shape == (650,)
    other = LpMKLClassifier(kernels.per_feature(kernels.RBF(0.5)), tol=1e-3, solver="block_norm")
    other.classes_ = model.classes_
    assert other.fit_bank(bank, target, first)[0].weights.n_iter <= 2


def test_time_ends_the_rounds_of_small_machines() -> None:
    """These end in time by themselves; the best pair so far is the answer, with its gap."""
    posed = problem(HingeMachine(C=10.0), Simplex())
    with limited(0.0):
        pair, gaps = alternating(SupportSaddle.of(posed, 1e-8), None, None, 50, silent)
    assert len(gaps) == 1
    assert pair.certificate.value == gaps[0] > 1e-8
    best, _ = alternating(SupportSaddle.of(posed, 1e-4), None, None, 50, silent)
    assert pair.bound <= best.upper
    assert pair.upper >= best.bound
