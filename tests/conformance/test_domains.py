"""Every domain: its points, its projection, its support and its separable description agree with one another."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

from domain_reference import BALLS, DOMAINS, centre, nearest, support
from multikernel.domains import Domain, NormBall, Product, Simplex
from multikernel.testing.domains import check_domain
from zoo_problems import missing

Array = Any
names = pytest.mark.parametrize("name", DOMAINS)


def made(name: str, m: int) -> Domain:
    return DOMAINS[name].make(m)


def test_every_domain_of_the_package_is_here() -> None:
    assert not missing(Domain, (case.make(3) for case in DOMAINS.values()))


@pytest.mark.crossed
@names
@pytest.mark.parametrize(("m", "seed"), [(1, 0), (2, 1), (7, 2)])
def test_a_domain_keeps_what_domains_have_to_keep(name: str, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_domain(made(name, m), m, np.array([DOMAINS[name].points(rng, m) for _ in range(8)]), seed)


# -- domains with a fault, which the suite has to find --------------------------------------------------------------


class Uneasy(Simplex):
    def minimal(self, d: Array, idle: Array) -> Array:
        return np.full(len(d), self.total / len(d))


class Unbounded(Simplex):
    constrained = False


class Partial(Simplex):
    def finite_part(self, q: Array) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (Uneasy(), "minimal changes weights"),
        (Unbounded(), "large weights say otherwise"),
        (Partial(), "finite_part is 1"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_suite_finds_what_is_wrong(domain: Domain, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_domain(domain, 5)


# -- against a conic solver --------------------------------------------------------------------------------------------


@names
@pytest.mark.parametrize("seed", range(3))
def test_projection_is_that_of_a_conic_solver(name: str, seed: int) -> None:
    z = 2.0 * np.random.default_rng(seed).normal(size=6) + np.array([0.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    found, judge = made(name, 6).project(z), nearest(DOMAINS[name], z)
    np.testing.assert_allclose(found, judge, atol=2e-4)
    assert np.linalg.norm(found - z) <= np.linalg.norm(judge - z) + 1e-7


@names
@pytest.mark.parametrize("seed", range(2))
def test_support_is_that_of_a_conic_solver(name: str, seed: int) -> None:
    q = np.random.default_rng(seed).exponential(size=5)
    q = np.minimum(q, 0.7) if name == "orthant-1" else q  # larger scores have an infinite support there
    assert made(name, 5).support(q) == pytest.approx(support(DOMAINS[name], q), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", BALLS)
def test_support_of_negative_scores_is_that_of_a_conic_solver(name: str) -> None:
    for seed in range(3):
        q = np.random.default_rng(seed).normal(size=5) - seed
        ball, best = made(name, 5), support(DOMAINS[name], q)
        assert ball.support(q) == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert ball.maximiser(q) @ q == pytest.approx(ball.support(q), rel=1e-9, abs=1e-9)
        assert ball.contains(ball.maximiser(q), 1e-12)


# -- what the domains of the package keep besides ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, case in DOMAINS.items() if not isinstance(case.make(2), Product)])
def test_the_central_point_prefers_no_kernel(name: str) -> None:
    center = centre(7) if name.endswith(("-centre", "point")) else np.zeros(7)
    above = made(name, 7).start(7) - center
    np.testing.assert_allclose(above, above[0], atol=1e-12)


@names
def test_containment_has_a_tolerance(name: str) -> None:
    domain = made(name, 3)
    if domain.constrained:
        edge = domain.maximiser(np.ones(3))
        assert not domain.contains(edge * (1.0 + 1e-6) + 1e-6)
        assert domain.contains(edge * (1.0 + 1e-6), tol=1e-5)


@names
def test_equal_entries_have_equal_weights(name: str) -> None:
    if not name.startswith("ellipsoid") and not name.endswith(("-centre", "point")):
        z = np.array([2.0, 5.0, 5.0, -1.0, 5.0])
        d = made(name, 5).project(z)
        np.testing.assert_array_equal(d[[1, 2]], d[4])
        best = made(name, 5).maximiser(0.1 * z)
        assert best[1] >= best[2] - 1e-12


@names
def test_domains_are_frozen(name: str) -> None:
    domain = made(name, 3)
    with pytest.raises(FrozenInstanceError):
        setattr(domain, fields(domain)[0].name, 3.0)  # type: ignore[arg-type]


def test_a_centre_for_each_kernel_has_as_many_entries() -> None:
    domain = NormBall(2.0, 1.0, centre(4))
    domain.check(4)
    with pytest.raises(ValueError, match="4 entries for 5 kernels"):
        domain.check(5)
    with pytest.raises(ValueError, match="4 entries for 5 kernels"):
        domain.start(5)
