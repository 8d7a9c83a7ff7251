"""Machines, combinations, domains and optimizers that the conformance suites run over. A new one is one line here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import import_module
from itertools import product
from pkgutil import walk_packages
from typing import Any

import numpy as np

import domain_reference
import multikernel
from multikernel import KernelBank, bind, kernels
from multikernel.banks import DenseGram
from multikernel.combinations import (
    Combination,
    HadamardPower,
    Linear,
    ProductOfRBF,
    Profiles,
    ScaledProfile,
    TiedAndFree,
)
from multikernel.combinations.listed_products import ListedProducts
from multikernel.combinations.subset_products import SubsetProducts
from multikernel.domains import Domain, EntropySimplex, NormBall, Orthant, Simplex
from multikernel.machines import (
    CrammerSingerMachine,
    EpsilonMachine,
    HingeMachine,
    Machine,
    MarginMachine,
    OneClassMachine,
    RidgeMachine,
    SquaredHingeMachine,
)
from multikernel.optimizers import (
    BlockNorm,
    CuttingPlane,
    Interpolated,
    LevelMethod,
    Optimizer,
    ProjectedGradient,
    PublishedGradient,
    QuasiNewton,
    ReducedGradient,
    SphereTrustRegion,
    Subgradient,
)
from multikernel.problem import Problem
from multikernel.procedures import SimplicialDecomposition
from multikernel.procedures.ridge_program import RidgeSupport
from multikernel.testing.assertions import refusal
from outsiders import Box, ExponentialOfSum, FrankWolfe, Logistic

Array = Any

MACHINES: dict[str, Machine] = {
    "hinge": HingeMachine(C=0.7),
    "hinge, no intercept": HingeMachine(C=0.7, fit_intercept=False),
    "hinge, nearly hard": HingeMachine(C=1e3),
    "squared hinge": SquaredHingeMachine(C=2.0),
    "squared hinge, no intercept": SquaredHingeMachine(C=2.0, fit_intercept=False),
    "epsilon": EpsilonMachine(C=0.7, epsilon=0.2),
    "epsilon, no intercept": EpsilonMachine(C=0.7, epsilon=0.2, fit_intercept=False),
    "one class": OneClassMachine(nu=0.3),
    "margin": MarginMachine(lam=0.1),
    "class means": MarginMachine(lam=1.0),
    "ridge": RidgeMachine(alpha=0.3),
    "ridge, no intercept": RidgeMachine(alpha=0.3, fit_intercept=False),
    "ridge as a program": RidgeSupport(alpha=0.3),
    "several classes": CrammerSingerMachine(C=0.7),
    "several classes, no intercepts": CrammerSingerMachine(C=0.7, fit_intercept=False),
    "an outsider's": Logistic(C=0.7),
}
PROFILES = (
    kernels.RBF(0.3),
    kernels.Matern(0.2, nu=1.5),
    kernels.Matern(0.2, nu=2.5),
    kernels.RationalQuadratic(0.4, alpha=0.7),
    kernels.ExponentialPower(0.4, power=1.5),
)
COMBINATIONS: dict[str, Combination] = {
    "sum": Linear(),
    "square of a sum": HadamardPower(2),
    "cube of a sum": HadamardPower(3),
    "tied and free": TiedAndFree(2, free=((0, 1), (2,))),
    "listed products": TiedAndFree(((0,), (1, 1), (0, 1, 2)), free=((2, 2),)),
    "listed products alone": ListedProducts(((0,), (1, 1), (0, 1, 2), (1, 1))),
    "products of subsets": SubsetProducts(((), (0,), (0, 2))),
    "product of gaussians": ProductOfRBF(),
    "profiles": Profiles((kernels.RBF(0.3), kernels.Matern(0.2))),
    **{f"profile of {kernel!r}": ScaledProfile(kernel) for kernel in PROFILES},
    "profiles of one distance": Profiles((kernels.RBF(0.3), kernels.Matern(0.2)), shared=True),
    "an outsider's": ExponentialOfSum(),
}
DOMAINS: dict[str, Domain] = {
    "simplex": Simplex(),
    "ball 1": NormBall(1.0),
    "ball 1.5": NormBall(1.5),
    "ball 2": NormBall(2.0),
    "ball 2 around 1": NormBall(2.0, 0.7, 1.0),
    "entropy": EntropySimplex(0.5),
    "penalty 1": Orthant(0.8, 1),
    "penalty 2": Orthant(0.8, 2),
    "an outsider's": Box(0.6),
}
# a domain of a further class needs no line of its own here: one of its references serves
DOMAINS |= {
    name: case.make(3)
    for name, case in reversed(domain_reference.DOMAINS.items())
    if type(case.make(3)) not in map(type, DOMAINS.values())
}
OPTIMIZERS: dict[str, Optimizer] = {
    "reduced gradient": ReducedGradient(tol=1e-3),
    "cutting plane": CuttingPlane(tol=1e-3),
    "level": LevelMethod(tol=1e-4),
    "subgradient": Subgradient(tol=1e-2),
    "block norm": BlockNorm(tol=1e-3),
    "projected gradient": ProjectedGradient(tol=1e-5),
    "quasi-Newton": QuasiNewton(tol=1e-5, max_iter=200),
    "published gradient": PublishedGradient(tol=1e-2, max_iter=100),
    "interpolated": Interpolated(tol=1e-9),
    "sphere": SphereTrustRegion(tol=1e-9),
    "simplicial decomposition": SimplicialDecomposition(tol=1e-6),
    "an outsider's": FrankWolfe(tol=1e-2, max_iter=300),
}


def takes_labels(machine: Machine) -> bool:
    """Whether its targets are -1 and +1: it refuses others."""
    return refusal(lambda: machine.solve(DenseGram(np.eye(4)), np.arange(4.0))) is not None


def labels_for(machine: Machine, y: Array) -> Array:
    """Labels -1 and +1 as a machine takes them: a vector, or a column for each of two classes."""
    columns = np.column_stack([y, -y])
    return columns if refusal(lambda: machine.solve(DenseGram(np.eye(len(y))), y)) is not None else y


@cache
def small_bank(distances: bool = False) -> KernelBank:
    """Three kernels on twelve samples."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    bank = bind([kernels.RBF(0.3), kernels.Polynomial(2).normalized(), kernels.Linear().on([0])], X)
    return bank.distances() if distances else bank


def small_problem(domain: Domain, machine: Machine, combination: Combination) -> Problem:
    """A problem of these parts, on twelve samples."""
    y = np.sin(np.arange(12.0))
    target = labels_for(machine, np.where(y > 0, 1.0, -1.0)) if takes_labels(machine) else y
    return Problem(
        small_bank(isinstance(combination, ProductOfRBF | Profiles | ScaledProfile)),
        combination,
        machine,
        domain,
        target,
    )


def pairings() -> Iterator[Problem]:
    """Every domain with every machine and with every combination, and these two with one another."""
    for domain, machine in product(DOMAINS.values(), MACHINES.values()):
        yield small_problem(domain, machine, Linear())
    for domain, combination in product(DOMAINS.values(), COMBINATIONS.values()):
        problem = small_problem(domain, RidgeMachine(0.3), combination)
        if refusal(partial(domain.check, problem.size)) is None:  # it may fit a number of weights only
            yield problem
    for machine, combination in product(MACHINES.values(), COMBINATIONS.values()):
        yield small_problem(NormBall(2.0), machine, combination)


PACKAGES = ("combinations", "domains", "machines", "optimizers", "problem", "procedures")


def missing(base: type, registered: Iterable[object]) -> set[str]:
    """The concrete classes of these packages derived from ``base`` of which nothing is registered."""
    for module in walk_packages(multikernel.__path__, "multikernel."):
        if module.name.split(".")[1] in PACKAGES:
            import_module(module.name)
    return {cls.__name__ for cls in _concrete(base)} - {type(each).__name__ for each in registered}


def _concrete(base: type) -> set[Callable[..., Any]]:
    """The classes that can be made, of these packages."""
    package = base.__module__.removeprefix("multikernel.").split(".")[0]
    found = {base} if not inspect.isabstract(base) and package in PACKAGES else set()
    return found.union(*(_concrete(derived) for derived in base.__subclasses__()))
