"""Banks, kernels and problems that every conformance suite runs over. A new one is one line here."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from inspect import isabstract
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.metrics.pairwise import linear_kernel
from sklearn.preprocessing import StandardScaler

import multikernel
import reference as ref
from multikernel import KernelBank, bind, kernels, precomputed, views
from multikernel.auto.in_leaves import Rough
from multikernel.banks.base_matrix import BaseMatrix
from multikernel.banks.columns import ColumnDistancesBank
from multikernel.banks.localized import LocalizedBank
from multikernel.banks.low_rank import Approximation, approximate_bank, approximate_kernels
from multikernel.banks.mapped import FeaturedSamples, MappedBank
from multikernel.banks.memberships import OfFunction
from multikernel.banks.mixed import MixedBank
from multikernel.banks.placed import PlacedBank
from multikernel.banks.products import ColumnProductsBank
from multikernel.banks.profiles import ProfilesBank
from multikernel.banks.shared import Passes, SharedBank
from multikernel.banks.subset_rbf import SubsetRBFBank
from multikernel.kernels import RBF, HomogeneousPolynomial, Kernel, Laplacian, Linear, Polynomial, as_family
from multikernel.kernels.distance import OfDistance
from multikernel.kernels.features import Features
from multikernel.kernels.monomials import Draw, MonomialSum, _monomials
from multikernel.sources.bank import bank_of_views, bind_views, learned_views
from packages import Commons, common, furthest, share_of_first

Array = Any

# -- what has to be here -----------------------------------------------------------------------------------------------


def concrete(base: type) -> set[type]:
    """Every class of the package that is derived from this one and is no abstract class."""
    modules = pkgutil.walk_packages(multikernel.__path__, "multikernel.")
    for module in modules:
        if module.name.split(".")[1] in ("banks", "kernels"):
            import_module(module.name)
    found, left = set(), [base]
    while left:
        left += (kind := left.pop()).__subclasses__()
        found.add(kind)
    return {kind for kind in found if _of_the_package(kind) and not isabstract(kind)}


def _of_the_package(kind: type) -> bool:
    """Whether a class is one of a module of the package, and not one that a test made in its name."""
    if not kind.__module__.startswith("multikernel."):
        return False
    return getattr(import_module(kind.__module__), kind.__name__, None) is kind


# -- samples -----------------------------------------------------------------------------------------------------------


@cache
def samples() -> tuple[Array, Array]:
    """Training samples (17, 4) and new samples (5, 4), exact in float32, with zeros and one sample of zeros in each."""
    rng = np.random.default_rng(3)
    X = (0.6 * rng.normal(size=(22, 4))).astype(np.float32).astype(np.float64)
    X[rng.random(X.shape) < 0.25] = 0.0
    X[4] = X[19] = 0.0
    return X[:17], X[17:]


def as_is(X: Array) -> Array:
    return X


def single(X: Array) -> Array:
    return X.astype(np.float32)


def csr(X: Array) -> Any:
    return sparse.csr_array(X)


def elsewhere(X: Array) -> Any:
    """An array of another library, on a device whose arrays do not become NumPy's by themselves."""
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(X, device=strict.Device("device1"))


# -- banks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BankCase:
    """How to make a bank on samples, and the dense truth."""

    make: Callable[[Any], KernelBank]
    truth: ref.Truth
    given: Callable[[Array], Any] = as_is  # the form in which it takes samples
    tol: float = 1e-11
    centred: bool = False  # whether a block has statistics of its own
    given_as: ref.Truth | None = None  # new samples come as these matrices against the training set
    definite: bool = True  # whether the matrices are positive semi-definite
    of_samples: bool = True  # whether all follows from the values of a sample: not where training samples have weights

    def new(self, X: Array, Z: Array) -> Any:
        """New samples X, in the form in which ``cross`` takes them when the bank is on Z."""
        return self.given_as.matrices(X, Z) if self.given_as else self.given(X)


def _mixed() -> list[Kernel]:
    return [Laplacian(0.4), RBF(0.3), Polynomial(2, 0.5, 0.7), Laplacian(0.1).on([2, 0])]


_MIXED = ref.stack(ref.laplacian(0.4), ref.rbf(0.3), ref.polynomial(2, 0.5, 0.7), ref.on(ref.laplacian(0.1), [2, 0]))
_FEATURES = ref.stack(*(ref.on(ref.linear(), [j]) for j in range(4)))
_GROUPS = ref.stack(ref.on(ref.linear(), [1, 3]), ref.linear(), ref.on(ref.linear(), [2]))
_COSINES = ref.normalised(ref.stack(*(ref.homogeneous(d) for d in range(6))))
_POLYNOMIALS = ref.stack(*(ref.polynomial(d, 0.5) for d in (3, 0, 2, 3, 1)))
_INTERLEAVED_KERNELS = [
    Polynomial(2, 0.5),
    RBF(0.3),
    Linear().on([1, 3]),
    Polynomial(1, 0.5),
    Laplacian(0.2),
    Polynomial(3, 0.5),
    Linear().on([0]),
    Polynomial(4, 0.5),
]
_INTERLEAVED = ref.stack(
    ref.polynomial(2, 0.5),
    ref.rbf(0.3),
    ref.on(ref.linear(), [1, 3]),
    ref.polynomial(1, 0.5),
    ref.laplacian(0.2),
    ref.polynomial(3, 0.5),
    ref.on(ref.linear(), [0]),
    ref.polynomial(4, 0.5),
)
_SQUARES = ref.stack(*(ref.on(ref.difference(2), [j]) for j in range(4)))
_ABSOLUTE = ref.stack(*(ref.on(ref.difference(1), [j]) for j in range(4)))
_GROUPED_SQUARES = ref.stack(ref.on(ref.difference(2), [2]), ref.on(ref.difference(2), [0, 3]))
_PRODUCTS = ref.stack(*(ref.product_of_differences(j, k) for j, k in ((0, 0), (0, 1), (1, 1), (3, 2))))
_FACTORS = [0.5, 2.0, 0.0, 3.0]
_DOUBLING = 0.002 * 2.0 ** np.arange(15)
_UNEVEN = np.array([0.3, 0.9, 5.4, 0.1, 0.77, 0.77, 0.11])


def _subset_products(k: ref.Function, degree: int) -> ref.Function:
    """The ANOVA kernel as its definition lists it."""
    return lambda x, z: sum(np.prod([k([x[i]], [z[i]]) for i in s]) for s in combinations(range(len(x)), degree))


_ANOVA = ref.stack(*(_subset_products(ref.linear(), d) for d in (1, 2, 3)))
_ANOVA_RBF = ref.stack(*(_subset_products(ref.rbf(0.3), d) for d in (1, 2, 3, 4, 5)))


def _groups() -> list[Kernel]:
    return [Linear().on([1, 3]), Linear(), Linear().on([2])]


def _unsorted_polynomials() -> list[Kernel]:
    return [Polynomial(d, 0.5) for d in (3, 0, 2, 3, 1)]


def _grid(gammas: Array) -> Callable[[Any], KernelBank]:
    return _grid_on(gammas, None)


def _grid_on(gammas: Array, columns: tuple[int, ...] | None) -> Callable[[Any], KernelBank]:
    kernels = tuple(RBF(gamma) for gamma in gammas)
    return lambda X: ProfilesBank(BaseMatrix.of(OfDistance(kernels[0], columns), X), kernels).compact()


def _grid_on_demand(X: Array) -> KernelBank:
    kernels = tuple(RBF(gamma) for gamma in _UNEVEN)
    return ProfilesBank(BaseMatrix.of(OfDistance(kernels[0]), X), kernels)


_SUBSETS = ((2,), (0, 3), (1, 0, 2))
_SUBSET_RBFS = ref.stack(*(ref.on(ref.rbf(g), list(s)) for s in _SUBSETS for g in _UNEVEN))


def _subset_family() -> kernels.KernelFamily:
    return kernels.rbf_subsets(_SUBSETS, _UNEVEN)


def _subsets(X: Array) -> KernelBank:
    return SubsetRBFBank.of(X, np.array([[2, -1, -1], [0, 3, -1], [1, 0, 2]]), _UNEVEN)


def _rbfs(gammas: Array) -> ref.Truth:
    return ref.stack(*(ref.rbf(g) for g in gammas))


def _fold(X: Array) -> KernelBank:
    """The same samples, as an unsorted part of a larger stack."""
    more = np.vstack([X[::-1], X[:3] + 1.0])
    return bind(_mixed(), more).block(np.arange(len(X))[::-1], np.arange(len(X))[::-1])


def _distances(truth: ref.Truth) -> ref.Truth:
    """|phi(x) - phi(z)|^2 of every kernel."""

    def matrices(X: Array, Z: Array) -> Array:
        rows, columns = truth.self_values(X, Z), truth.self_values(Z, Z)
        return rows[:, :, None] + columns[:, None, :] - 2.0 * truth.matrices(X, Z)

    return ref.Truth(matrices, lambda X, Z: 0.0 * truth.self_values(X, Z))


def _centred_then_normalised(X: Array) -> KernelBank:
    return bind(_mixed(), X).centered().normalized()


def _shared(X: Array) -> KernelBank:
    """A bank that a single problem has for itself."""
    given = bind(_mixed(), X)
    return SharedBank(given, Passes(given, running=1))


def _weight(X: Array) -> Array:
    """Weights of the training samples; new samples have weight one, and the sample of zeros, which is of both."""
    known = {tuple(x): 0.5 + 0.1 * i for i, x in enumerate(samples()[0]) if x.any()}
    return np.array([known.get(tuple(x), 1.0) for x in X])


def _few(X: Array) -> Array:
    """One for a third of the training samples, and for new ones."""
    known = {tuple(x): float(i % 3 == 0) for i, x in enumerate(samples()[0]) if x.any()}
    return np.array([known.get(tuple(x), 1.0) for x in X])


def _placed(X: Any) -> KernelBank:
    rows = np.flatnonzero(_few(X))
    return PlacedBank(bind(_mixed(), X[rows]), rows, rows, (len(X), len(X)), True)


def _sides(X: Array) -> Array:
    """Every sample in one of two groups."""
    return np.eye(2)[(X[:, 0] > 0.0).astype(int)]


def _soft(X: Array) -> Array:
    return np.column_stack([np.exp(-(X[:, 0] ** 2)), 1.0 + np.tanh(X[:, 1])])


def _localized(rule: Callable[[Array], Array]) -> Callable[[Any], KernelBank]:
    return lambda X: LocalizedBank.of(bind(_mixed(), X), rule(X), OfFunction(rule, 2))


def _local(rule: Callable[[Array], Array]) -> ref.Truth:
    return ref.both(*(ref.weighed(_MIXED, lambda X, j=j: rule(X)[:, j]) for j in range(2)))


def _weighed(family: Callable[[], Any]) -> Callable[[Any], KernelBank]:
    return lambda X: bind(family(), X).weighted(_weight(X))


def _encoded() -> list[Kernel]:
    """Of two encodings, one of them of two columns."""
    one, two = kernels.Standardize((0.5,), (2.0,)), kernels.Standardize((0.5, 0.0), (2.0, 1.0))
    return [
        kernels.Encoded(RBF(0.3), two).on([1, 3]),
        kernels.Encoded(Linear(), one).on(2),
        kernels.Encoded(Polynomial(2), two).on([1, 3]),
    ]


def _moved(k: ref.Function, means: list[float], deviations: list[float]) -> ref.Function:
    return lambda x, z: k(*((np.asarray(s) - np.array(means)) / np.array(deviations) for s in (x, z)))


_ENCODED = ref.stack(
    ref.on(_moved(ref.rbf(0.3), [0.5, 0.0], [2.0, 1.0]), [1, 3]),
    ref.on(_moved(ref.linear(), [0.5], [2.0]), [2]),
    ref.on(_moved(ref.polynomial(2), [0.5, 0.0], [2.0, 1.0]), [1, 3]),
)


def _two_views(X: Array) -> Any:
    return views({"first": X[:, :2], "last": X[:, 1:]})


def _views_bank(X: Any) -> KernelBank:
    families = {"first": as_family([RBF(0.3), Linear()]), "last": as_family(Polynomial(2))}
    learned = learned_views(X, lambda name, part: families[name])
    return bank_of_views(bind_views(X, learned, lambda m, n: None))


def _mixed_bank(X: Any) -> KernelBank:
    """Every sample x as half of 2 x - c and half of c, which linear kernels take for x itself."""
    c = np.linspace(0.5, 2.0, X.shape[1])
    n = len(X)
    bank = bind([Linear().on([j]) for j in range(X.shape[1])], np.vstack([2.0 * X - c, c]))
    halves = sparse.csr_array(np.hstack([0.5 * np.eye(n), np.full((n, 1), 0.5)]))
    return MixedBank(bank, halves, halves)


_VIEWS = ref.stack(ref.on(ref.rbf(0.3), [0, 1]), ref.on(ref.linear(), [0, 1]), ref.on(ref.polynomial(2), [1, 2, 3]))


def _low_rank(method: str, family: list[Kernel]) -> Callable[[Any], KernelBank]:
    """Of kernels with fewer features than there are samples: then the approximation is the kernels."""

    def make(X: Any) -> KernelBank:
        resolved = as_family(family).resolve(Features.of(X)).learned(X)
        return approximate_kernels(resolved, X, Approximation(method, 17))[0]

    return make


_EXACT = [Polynomial(2, 0.5, 0.7), Linear().on([1, 3]), 2.0 * HomogeneousPolynomial(2).on([0, 2])]
_EXACT_TRUTH = ref.stack(
    ref.polynomial(2, 0.5, 0.7), ref.on(ref.linear(), [1, 3]), ref.scaled(ref.on(ref.homogeneous(2), [0, 2]), 2.0)
)
_CENTRED_TOO = [k for pair in zip(_EXACT, _EXACT, strict=True) for k in (pair[0], pair[1].centered())]
_CENTRED_TOO_TRUTH = ref.reordered(ref.both(_EXACT_TRUTH, ref.centred(_EXACT_TRUTH)), [0, 3, 1, 4, 2, 5])


def _low_rank_of_bank(X: Any) -> KernelBank:
    return approximate_bank(bind(list(_EXACT), X), Approximation("nystroem", 17))[0]


BANKS: dict[str, BankCase] = {
    "nystroem": BankCase(_low_rank("nystroem", _EXACT), _EXACT_TRUTH),
    "nystroem-sparse": BankCase(_low_rank("nystroem", _EXACT), _EXACT_TRUTH, csr),
    "nystroem-of-bank": BankCase(_low_rank_of_bank, _EXACT_TRUTH),
    "nystroem-centred": BankCase(_low_rank("nystroem", _CENTRED_TOO), _CENTRED_TOO_TRUTH, centred=True),
    "monomials": BankCase(_low_rank("fourier", _EXACT), _EXACT_TRUTH),
    "monomials-cosines": BankCase(
        _low_rank("fourier", [HomogeneousPolynomial(d).normalized() for d in (1, 2)]),
        ref.normalised(ref.stack(ref.homogeneous(1), ref.homogeneous(2))),
    ),
    "monomials-centred-sparse": BankCase(_low_rank("fourier", _CENTRED_TOO), _CENTRED_TOO_TRUTH, csr, centred=True),
    "arrays": BankCase(lambda X: bind(_mixed(), X), _MIXED, elsewhere),
    "arrays-on-demand": BankCase(lambda X: bind(list(_INTERLEAVED_KERNELS), X, memory=1), _INTERLEAVED, elsewhere),
    "arrays-cosines": BankCase(lambda X: bind(kernels.homogeneous_polynomials(5), X), _COSINES, elsewhere),
    "arrays-normalized": BankCase(lambda X: bind(_mixed(), X).normalized(), ref.normalised(_MIXED), elsewhere),
    "arrays-scaled": BankCase(
        lambda X: bind(_mixed(), X).scaled(_FACTORS), ref.multiplied(_MIXED, _FACTORS), elsewhere
    ),
    "arrays-factor": BankCase(lambda X: bind(kernels.linear_features(), X), _FEATURES, elsewhere),
    "arrays-factor-groups": BankCase(lambda X: bind(_groups(), X), _GROUPS, elsewhere),
    "arrays-nystroem": BankCase(_low_rank("nystroem", _EXACT), _EXACT_TRUTH, elsewhere),
    "arrays-nystroem-centred": BankCase(
        _low_rank("nystroem", _CENTRED_TOO), _CENTRED_TOO_TRUTH, elsewhere, centred=True
    ),
    "arrays-monomials": BankCase(_low_rank("fourier", _EXACT), _EXACT_TRUTH, elsewhere),
    "views": BankCase(_views_bank, _VIEWS, _two_views),
    "mixed": BankCase(_mixed_bank, _FEATURES),
    "encoded": BankCase(lambda X: bind(_encoded(), X), _ENCODED),
    "encoded-float32": BankCase(lambda X: bind(_encoded(), X), _ENCODED, single, 2e-6),
    "centered-encoded": BankCase(lambda X: bind(_encoded(), X).centered(), ref.centred(_ENCODED), centred=True),
    "packed": BankCase(lambda X: bind(_mixed(), X), _MIXED),
    "packed-float32": BankCase(lambda X: bind(_mixed(), X), _MIXED, single, 2e-6),
    "factor": BankCase(lambda X: bind(kernels.linear_features(), X), _FEATURES),
    "factor-float32": BankCase(lambda X: bind(kernels.linear_features(), X), _FEATURES, single, 2e-6),
    "factor-sparse": BankCase(lambda X: bind(kernels.linear_features(), X), _FEATURES, csr),
    "factor-groups": BankCase(lambda X: bind(_groups(), X), _GROUPS),
    "factor-groups-sparse": BankCase(lambda X: bind(_groups(), X), _GROUPS, csr),
    "powers-cosines": BankCase(lambda X: bind(kernels.homogeneous_polynomials(5), X), _COSINES),
    "powers-unsorted": BankCase(lambda X: bind(_unsorted_polynomials(), X), _POLYNOMIALS),
    "powers-float32": BankCase(lambda X: bind(_unsorted_polynomials(), X), _POLYNOMIALS, single, 2e-6),
    "powers-sparse": BankCase(lambda X: bind(kernels.homogeneous_polynomials(5), X), _COSINES, csr),
    "rbf-doubling": BankCase(_grid(_DOUBLING), _rbfs(_DOUBLING)),
    "rbf-doubling-float32": BankCase(_grid(_DOUBLING), _rbfs(_DOUBLING), single, 5e-6),
    "rbf-uneven": BankCase(_grid(_UNEVEN), _rbfs(_UNEVEN)),
    "rbf-columns": BankCase(_grid_on(_UNEVEN, (3, 1)), ref.stack(*(ref.on(ref.rbf(g), [3, 1]) for g in _UNEVEN))),
    "rbf-sparse": BankCase(_grid(_UNEVEN), _rbfs(_UNEVEN), csr),
    "rbf-on-demand": BankCase(_grid_on_demand, _rbfs(_UNEVEN)),
    "anova": BankCase(lambda X: bind(kernels.anova(3, normalize=False), X), _ANOVA),
    "anova-float32": BankCase(lambda X: bind(kernels.anova(3, normalize=False), X), _ANOVA, single, 5e-6),
    "anova-cosines": BankCase(lambda X: bind(kernels.anova(5, RBF(0.3)), X), ref.normalised(_ANOVA_RBF)),
    "anova-sparse": BankCase(lambda X: bind(kernels.anova(3, normalize=False), X), _ANOVA, csr),
    "anova-lazy": BankCase(lambda X: bind(kernels.anova(3, normalize=False), X, memory=1), _ANOVA),
    "subset-rbf": BankCase(_subsets, _SUBSET_RBFS),
    "subset-rbf-float32": BankCase(_subsets, _SUBSET_RBFS, single),
    "subset-rbf-in-single-precision": BankCase(
        lambda X: replace(_subsets(X), dtype=np.float32), _SUBSET_RBFS, tol=2e-6
    ),
    "subset-rbf-sparse": BankCase(_subsets, _SUBSET_RBFS, csr),
    "subset-rbf-stored": BankCase(lambda X: bind(_subset_family(), X), _SUBSET_RBFS),
    "stored-in-float32": BankCase(
        lambda X: bind(list(_INTERLEAVED_KERNELS), X, dtype=np.float32), _INTERLEAVED, tol=2e-6
    ),
    "lazy": BankCase(lambda X: bind(_mixed(), X, memory=1), _MIXED),
    "powers-on-demand": BankCase(lambda X: bind(kernels.homogeneous_polynomials(5), X, memory=1), _COSINES),
    "powers-on-demand-float32": BankCase(
        lambda X: bind(_unsorted_polynomials(), X, memory=1), _POLYNOMIALS, single, 2e-6
    ),
    "powers-on-demand-sparse": BankCase(lambda X: bind(kernels.homogeneous_polynomials(5), X, memory=1), _COSINES, csr),
    "lazy-sparse": BankCase(
        lambda X: bind([RBF(0.3), Polynomial(2), Laplacian(0.4)], X, memory=1),
        ref.stack(ref.rbf(0.3), ref.polynomial(2), ref.laplacian(0.4)),
        csr,
    ),
    "precomputed": BankCase(lambda X: precomputed(_MIXED.matrices(X, X)), _MIXED, given_as=_MIXED),
    "fold": BankCase(_fold, _MIXED),
    "shared": BankCase(_shared, _MIXED),
    "scaled": BankCase(lambda X: bind(_mixed(), X).scaled(_FACTORS), ref.multiplied(_MIXED, _FACTORS)),
    "scaled-factor": BankCase(
        lambda X: bind(kernels.linear_features(), X).scaled(_FACTORS), ref.multiplied(_FEATURES, _FACTORS)
    ),
    "weighed": BankCase(_weighed(_mixed), ref.weighed(_MIXED, _weight), of_samples=False),
    "weighed-factor": BankCase(_weighed(kernels.linear_features), ref.weighed(_FEATURES, _weight), of_samples=False),
    "weighed-scaled": BankCase(
        lambda X: bind(_mixed(), X).scaled(_FACTORS).weighted(_weight(X)),
        ref.weighed(ref.multiplied(_MIXED, _FACTORS), _weight),
        of_samples=False,
    ),
    "placed": BankCase(_placed, ref.weighed(_MIXED, _few), of_samples=False),
    "featured": BankCase(lambda X: MappedBank(bind(_mixed(), X), FeaturedSamples.of(X)), _MIXED),
    "localized": BankCase(_localized(_sides), _local(_sides)),
    "localized-soft": BankCase(_localized(_soft), _local(_soft)),
    "localized-some": BankCase(
        lambda X: _localized(_sides)(X).select([6, 1, 3]), ref.reordered(_local(_sides), [6, 1, 3])
    ),
    "normalized": BankCase(lambda X: bind(_mixed(), X).normalized(), ref.normalised(_MIXED)),
    "normalized-factor": BankCase(lambda X: bind(_groups(), X).normalized(), ref.normalised(_GROUPS)),
    "centered": BankCase(lambda X: bind(_mixed(), X).centered(), ref.centred(_MIXED), centred=True),
    "centered-factor": BankCase(lambda X: bind(_groups(), X).centered(), ref.centred(_GROUPS), centred=True),
    "centered-sparse": BankCase(lambda X: bind(_groups(), X).centered(), ref.centred(_GROUPS), csr, centred=True),
    "centered-powers": BankCase(
        lambda X: bind(_unsorted_polynomials(), X).centered(), ref.centred(_POLYNOMIALS), centred=True
    ),
    "centered-lazy": BankCase(lambda X: bind(_mixed(), X, memory=1).centered(), ref.centred(_MIXED), centred=True),
    "centered-fold": BankCase(lambda X: _fold(X).centered(), ref.centred(_MIXED), centred=True),
    "centered-precomputed": BankCase(
        lambda X: precomputed(_MIXED.matrices(X, X)).centered(), ref.centred(_MIXED), centred=True, given_as=_MIXED
    ),
    "centered-normalized": BankCase(
        lambda X: bind(_mixed(), X).normalized().centered(), ref.centred(ref.normalised(_MIXED)), centred=True
    ),
    "normalized-centered": BankCase(_centred_then_normalised, ref.normalised(ref.centred(_MIXED)), centred=True),
    "normalized-scaled-centered": BankCase(
        lambda X: bind(_mixed(), X).centered().scaled([1.0, 2.0, 3.0, 4.0]).normalized(),
        ref.normalised(ref.centred(_MIXED)),
        centred=True,
    ),
    "concatenated": BankCase(lambda X: bind(list(_INTERLEAVED_KERNELS), X), _INTERLEAVED),
    "normalized-concatenated": BankCase(
        lambda X: bind(list(_INTERLEAVED_KERNELS), X).centered().normalized(),
        ref.normalised(ref.centred(_INTERLEAVED)),
        centred=True,
    ),
    "centered-concatenated": BankCase(
        lambda X: bind(list(_INTERLEAVED_KERNELS), X).centered(), ref.centred(_INTERLEAVED), centred=True
    ),
    "concatenated-views": BankCase(
        lambda X: bind([k for pair in zip(_mixed(), _mixed(), strict=True) for k in (pair[0], pair[1].centered())], X),
        ref.reordered(ref.both(_MIXED, ref.centred(_MIXED)), [0, 4, 1, 5, 2, 6, 3, 7]),
        centred=True,
    ),
    "distances": BankCase(lambda X: bind(_mixed(), X).distances(), _distances(_MIXED), definite=False),
    "distances-factor": BankCase(
        lambda X: bind(kernels.linear_features(), X).distances(), _distances(_FEATURES), definite=False
    ),
    "distances-groups-sparse": BankCase(
        lambda X: bind(_groups(), X).distances(), _distances(_GROUPS), csr, definite=False
    ),
    "distances-centered": BankCase(  # of points moved by the same vector
        lambda X: bind(_mixed(), X).centered().distances(), _distances(_MIXED), definite=False
    ),
    "columns": BankCase(lambda X: ColumnDistancesBank.of(X), _SQUARES, definite=False),
    "columns-absolute": BankCase(lambda X: ColumnDistancesBank.of(X, 1), _ABSOLUTE, definite=False),
    "columns-groups-sparse": BankCase(
        lambda X: ColumnDistancesBank.of(X, 2, np.array([1, -1, 0, 1])), _GROUPED_SQUARES, csr, definite=False
    ),
    "products": BankCase(lambda X: ColumnProductsBank.of(X).select([0, 1, 5, 14]), _PRODUCTS, definite=False),
    "products-sparse": BankCase(
        lambda X: ColumnProductsBank.of(X).select([0, 1, 5, 14]), _PRODUCTS, csr, definite=False
    ),
    "distances-fold": BankCase(lambda X: _fold(X).distances(), _distances(_MIXED), definite=False),
}


@cache
def bank(name: str) -> KernelBank:
    """The bank of that name on the training samples."""
    case = BANKS[name]
    return case.make(case.given(samples()[0]))


# -- problems of two classes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """Kernel matrices (m, n, n) and labels -1, +1."""

    K: Array
    y: Array


def _labels(n: int) -> Array:
    return np.where(np.arange(n) % 3 == 0, 1.0, -1.0)


def _random_matrices(m: int, n: int, rank: int, seed: int) -> Array:
    """Random features, with the classes a little apart."""
    F = np.random.default_rng(seed).normal(size=(m, n, rank)) + 0.4 * _labels(n)[:, None]
    return F @ F.transpose(0, 2, 1) / rank


def _random() -> Problem:
    return Problem(_random_matrices(4, 30, 40, 0), _labels(30))


def _low_rank() -> Problem:
    """The hulls overlap in some of the spaces."""
    return Problem(_random_matrices(5, 40, 2, 1), _labels(40))


def _duplicated() -> Problem:
    K = _random_matrices(3, 30, 20, 2)
    return Problem(K[[0, 1, 0, 2, 0]], _labels(30))


def _zero() -> Problem:
    K = _random_matrices(3, 30, 20, 3)
    K[1] = 0.0
    return Problem(K, _labels(30))


def _constant() -> Problem:
    K = _random_matrices(3, 30, 20, 4)
    K[2] = 1.0
    return Problem(K, _labels(30))


def _rank_one() -> Problem:
    X = np.random.default_rng(5).normal(size=(30, 40)) + 0.5 * _labels(30)[:, None]
    return Problem(np.einsum("ik,jk->kij", X, X), _labels(30))


def _badly_scaled() -> Problem:
    return Problem(_random_matrices(3, 30, 20, 6) * np.array([1e-6, 1.0, 1e6])[:, None, None], _labels(30))


def _breast_cancer() -> Problem:
    X, labels = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:120]
    return Problem(bind(kernels.homogeneous_polynomials(10), X).matrices(), np.where(labels[:120] == 1, 1.0, -1.0))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "random": cache(_random),
    "low-rank": cache(_low_rank),
    "duplicated": cache(_duplicated),
    "zero": cache(_zero),
    "constant": cache(_constant),
    "rank-one": cache(_rank_one),
    "badly-scaled": cache(_badly_scaled),
    "breast-cancer": cache(_breast_cancer),
}


@cache
def optimum(name: str, lam: float) -> ref.Hulls:
    """The conic solution for the sum of a problem's kernels."""
    problem = PROBLEMS[name]()
    return ref.hulls(problem.K.sum(axis=0), problem.y, lam)


# -- kernels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelCase:
    """A kernel, its formula, and training and new samples for it."""

    kernel: Kernel
    truth: ref.Truth
    samples: tuple[Any, Any] = samples()


def _case(kernel: Kernel, function: ref.Function) -> KernelCase:
    return KernelCase(kernel, ref.stack(function))


def _shares() -> tuple[Array, Array]:
    """Samples with no entry below 0, of which a share of bits makes sense."""
    X, new = samples()
    return np.abs(X), np.abs(new)


def _bytes() -> tuple[Array, Array]:
    """Fingerprints of 72 bits, one of them without any, as bytes."""
    bits = np.random.default_rng(5).random((12, 72)) < 0.3
    bits[3] = False
    X = np.packbits(bits, axis=1).astype(float)
    return X[:8], X[8:]


_WORDS = (["abba", "baba", "", "ab", "abcabc", "cab", "abab", "bbbb"], ["cabba", "b", "aab"])
_LETTERS = "abc"
_AUTOMATON = (  # words a b* c?, their b of any weight, and at half weight all words of length 2
    [(0, "a", 1, 1.0), (1, "b", 1, 0.5), (1, "c", 2, 2.0), (3, "", 4, 0.5), (4, "", 5, 1.0)],
    (1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0, 0.0, 1.0),
)
_TREES = (
    [
        "(S (A x) (B y))",
        "(S (A x) (B (A x) (B y)))",
        "",
        "x",
        "(S (A x y) (B (C z)))",
        "(A x)",
        "(S (A x) (B y) (B y))",
        "(S (A x) (B y))",
    ],
    ["(T (S (A x) (B y)) (S (A z) (B y)))", "(B y)", "(C)"],
)
_BASKETS = (["tea, milk", "milk,tea,milk", "", "bread", "tea", "a b, c", "milk, bread, eggs", " , "], ["eggs", "", "x"])
_BAGS = (
    ["0 1; 2 0.5", "1 1", "", "0 1", "-1 2e-1; 0 0; 0 0", "3 3;", "1 1; 1 1", "0.5 0.5"],
    ["0 0", "", "1 0; 0 1; 1 1"],
)
_SETS = (
    [set("abc"), set("ab"), set("cd"), set("abcd"), set("e"), set("ae"), set("bde"), set("abc")],
    [set("ad"), set("bce"), set("x")],
)
_TEXTS = (
    ["a red car", "red red bus", "", "blue sky", "a blue car", "sky", "the bus and the car", "a red car"],
    ["a red sky", "rain", ""],
)
_MEANS, _DEVIATIONS = (0.5, -0.25, 0.0, 2.0), (2.0, 0.5, 1.0, 4.0)
_STANDARDIZE = kernels.Standardize(_MEANS, _DEVIATIONS)


def _standardized(k: ref.Function) -> ref.Function:
    def of(x: Array) -> Array:
        return (np.asarray(x) - np.array(_MEANS)) / np.array(_DEVIATIONS)

    return lambda x, z: k(of(x), of(z))


_MONOMIALS = MonomialSum(2, Draw(max_degree=2, n_monomials=40, grouping="degree", seed=0))


_SUM = RBF(0.4) + Linear()
_SUM_TRUTH = ref.plus(ref.rbf(0.4), ref.linear())
_SERIES = ref.plus(ref.scaled(ref.homogeneous(0), 0.5), ref.scaled(ref.homogeneous(2), 2.0))
_POLYNOMIAL_SCALE = ref.polynomial(3, 0.5, 1.0 / (4 * samples()[0].var()))

KERNELS: dict[str, KernelCase] = {
    "linear": _case(Linear(), ref.linear()),
    "polynomial": _case(Polynomial(3, 0.5, 0.7), ref.polynomial(3, 0.5, 0.7)),
    "polynomial-0": _case(Polynomial(0), ref.polynomial(0)),
    "polynomial-scale": _case(Polynomial(3, 0.5, "scale"), _POLYNOMIAL_SCALE),
    "polynomial-scale-normalized": _case(Polynomial(3, 0.5, "scale").normalized(), ref.cosine(_POLYNOMIAL_SCALE)),
    "sum-scale-normalized": _case(
        (Polynomial(3, 0.5, "scale") + Linear()).normalized(), ref.cosine(ref.plus(_POLYNOMIAL_SCALE, ref.linear()))
    ),
    "homogeneous-0": _case(HomogeneousPolynomial(0), ref.homogeneous(0)),
    "homogeneous-1": _case(HomogeneousPolynomial(1), ref.homogeneous(1)),
    "homogeneous-3": _case(HomogeneousPolynomial(3), ref.homogeneous(3)),
    "rbf": _case(RBF(0.4), ref.rbf(0.4)),
    "laplacian": _case(Laplacian(0.4), ref.laplacian(0.4)),
    "rough": _case(Rough(), ref.of_distance(lambda r: np.exp(-(r**1.5)))),
    "matern-1/2": _case(kernels.Matern(0.4, nu=0.5), ref.of_distance(lambda r: np.exp(-np.sqrt(0.4) * r))),
    "matern-3/2": _case(
        kernels.Matern(0.4), ref.of_distance(lambda r: (1 + np.sqrt(1.2) * r) * np.exp(-np.sqrt(1.2) * r))
    ),
    "matern-5/2": _case(
        kernels.Matern(0.4, nu=2.5),
        ref.of_distance(lambda r: (1 + np.sqrt(2.0) * r + 2.0 * r * r / 3.0) * np.exp(-np.sqrt(2.0) * r)),
    ),
    "rational-quadratic": _case(
        kernels.RationalQuadratic(0.4, alpha=0.7), ref.of_distance(lambda r: (1 + 0.4 * r * r / 0.7) ** -0.7)
    ),
    "exponential-power": _case(
        kernels.ExponentialPower(0.4, power=1.3), ref.of_distance(lambda r: np.exp(-((np.sqrt(0.4) * r) ** 1.3)))
    ),
    "anisotropic": _case(
        kernels.Anisotropic(RBF(0.4), (2.0, 0.0, 0.5, 1.0)),
        ref.stretched(ref.rbf(0.4), np.sqrt([2.0, 0.0, 0.5, 1.0])),
    ),
    "anisotropic-laplacian": _case(
        kernels.Anisotropic(Laplacian(0.4), (2.0, 0.0, 0.5, 1.0)),
        ref.stretched(ref.laplacian(0.4), [2.0, 0.0, 0.5, 1.0]),
    ),
    "mahalanobis": _case(
        kernels.Mahalanobis(RBF(0.4), ((1.0, -1.0, 0.0, 0.5), (0.0, 2.0, 0.3, 0.0))),
        ref.mapped(ref.rbf(0.4), [[1.0, -1.0, 0.0, 0.5], [0.0, 2.0, 0.3, 0.0]]),
    ),
    "hamming": _case(kernels.Hamming(), ref.hamming()),
    "tanimoto": KernelCase(kernels.Tanimoto(), ref.stack(ref.tanimoto()), _shares()),
    "tanimoto-packed": KernelCase(kernels.Tanimoto(packed=True), ref.stack(ref.tanimoto_of_bytes()), _bytes()),
    "external": _case(kernels.external(linear_kernel), ref.linear()),
    "external-diag": _case(kernels.external(DotProduct(0.5)), ref.polynomial(1, 0.25, 1.0)),
    "external-objects": KernelCase(kernels.external(common, pairwise=True), ref.stack(common), _SETS),
    "external-estimator": KernelCase(kernels.external(Commons(2.0)), ref.stack(ref.scaled(common, 2.0)), _SETS),
    "external-normalized": KernelCase(
        kernels.external(Commons(2.0)).normalized(), ref.stack(ref.cosine(common)), _SETS
    ),
    "external-clip": KernelCase(
        kernels.external(furthest, pairwise=True, psd="clip"), ref.by_similarities(furthest, "clip"), _SETS
    ),
    "external-flip": KernelCase(
        kernels.external(furthest, pairwise=True, psd="flip"), ref.by_similarities(furthest, "flip"), _SETS
    ),
    "external-square": KernelCase(
        kernels.external(share_of_first, pairwise=True, psd="square"),
        ref.by_similarities(share_of_first, "square"),
        _SETS,
    ),
    "n-grams": KernelCase(kernels.NGrams(), ref.stack(ref.tfidf(_TEXTS[0], (1, 2))), _TEXTS),
    "encoded": _case(kernels.Encoded(RBF(0.4), _STANDARDIZE), _standardized(ref.rbf(0.4))),
    "spectrum": KernelCase(kernels.Spectrum(2), ref.stack(ref.spectrum(2)), _WORDS),
    "gapped": KernelCase(kernels.GappedSubsequences(2, 0.6), ref.stack(ref.gapped(2, 0.6)), _WORDS),
    "gapped-normalized": KernelCase(
        kernels.GappedSubsequences(3, 1.0).normalized(), ref.stack(ref.cosine(ref.gapped(3, 1.0))), _WORDS
    ),
    "mismatches": KernelCase(
        kernels.Mismatches(2, 1, alphabet=_LETTERS), ref.stack(ref.mismatches(2, 1, _LETTERS)), _WORDS
    ),
    "rational": KernelCase(kernels.Rational(*_AUTOMATON), ref.stack(ref.rational(*_AUTOMATON)), _WORDS),
    "subtrees": KernelCase(kernels.Subtrees(0.7), ref.stack(ref.subtrees(0.7, False)), _TREES),
    "parts-of-trees": KernelCase(kernels.Subtrees(0.7, partial=True), ref.stack(ref.subtrees(0.7, True)), _TREES),
    "items": KernelCase(kernels.Items(","), ref.stack(ref.items(",")), _BASKETS),
    "items-jaccard": KernelCase(kernels.Items(",", "jaccard"), ref.stack(ref.items(",", True)), _BASKETS),
    "vector-sets": KernelCase(kernels.VectorSets(RBF(0.4)), ref.stack(ref.vector_sets(ref.rbf(0.4))), _BAGS),
    "monomials": _case(_MONOMIALS, ref.monomials(*_monomials(4, _MONOMIALS.draw)[2])),
    "sum": _case(_SUM, _SUM_TRUTH),
    "product": _case(RBF(0.4) * Polynomial(2), ref.times(ref.rbf(0.4), ref.polynomial(2))),
    "sum-of-products": _case(
        RBF(0.4) * Linear() + Linear() * Linear(),
        ref.plus(ref.times(ref.rbf(0.4), ref.linear()), ref.times(ref.linear(), ref.linear())),
    ),
    "product-of-sums": _case(_SUM * _SUM, ref.times(_SUM_TRUTH, _SUM_TRUTH)),
    "power": _case(RBF(0.4) ** 3, ref.to_the(ref.rbf(0.4), 3)),
    "power-of-sum": _case(_SUM**2, ref.to_the(_SUM_TRUTH, 2)),
    "power-of-power": _case((Linear() ** 2) ** 2, ref.homogeneous(4)),
    "power-0": _case(Linear() ** 0, ref.homogeneous(0)),
    "series": _case(kernels.PowerSeries(Linear(), (0.5, 0.0, 2.0)), _SERIES),
    "series-of-one-term": _case(
        kernels.PowerSeries(Linear().normalized(), (0.0, 0.0, 3.0)),
        ref.scaled(ref.to_the(ref.cosine(ref.linear()), 2), 3.0),
    ),
    "series-normalized": _case(kernels.PowerSeries(Linear(), (0.5, 0.0, 2.0)).normalized(), ref.cosine(_SERIES)),
    "series-of-cosines": _case(
        kernels.mean_polynomial(2),
        ref.plus(*(ref.scaled(ref.to_the(ref.cosine(ref.linear()), s), 1 / 3) for s in range(3))),
    ),
    "anova-0": _case(kernels.ANOVA(0), ref.homogeneous(0)),
    "anova-1": _case(kernels.ANOVA(1), ref.linear()),
    "anova-3": _case(kernels.ANOVA(3), _subset_products(ref.linear(), 3)),
    "anova-5": _case(kernels.ANOVA(5), ref.scaled(ref.linear(), 0.0)),
    "anova-rbf": _case(kernels.ANOVA(2, RBF(0.4)), _subset_products(ref.rbf(0.4), 2)),
    "anova-on": _case(kernels.ANOVA(2).on([0, 3, 1]), ref.on(_subset_products(ref.linear(), 2), [0, 3, 1])),
    "anova-normalized": _case(kernels.ANOVA(2).normalized(), ref.cosine(_subset_products(ref.linear(), 2))),
    "scaled": _case(2.5 * RBF(0.4), ref.scaled(ref.rbf(0.4), 2.5)),
    "scaled-sum": _case(
        0.5 * _SUM + 3 * Laplacian(0.2), ref.plus(ref.scaled(_SUM_TRUTH, 0.5), ref.scaled(ref.laplacian(0.2), 3))
    ),
    "scaled-0": _case(0.0 * RBF(0.4), ref.scaled(ref.rbf(0.4), 0.0)),
    "on-one": _case(RBF(0.4).on(2), ref.on(ref.rbf(0.4), [2])),
    "on-last": _case(RBF(0.4).on(-1), ref.on(ref.rbf(0.4), [3])),
    "on-several": _case(Polynomial(2).on([3, 1]), ref.on(ref.polynomial(2), [3, 1])),
    "on-on": _case(Linear().on([1]).on([3, 0]), ref.on(ref.on(ref.linear(), [1]), [3, 0])),
    "on-sum": _case(_SUM.on([0, 2]), ref.on(_SUM_TRUTH, [0, 2])),
    "normalized": _case(Polynomial(2).normalized(), ref.cosine(ref.polynomial(2))),
    "normalized-normalized": _case(RBF("scale").normalized().normalized(), ref.rbf(1.0 / (4 * samples()[0].var()))),
    "normalized-linear": _case(Linear().normalized(), ref.cosine(ref.linear())),
    "normalized-on": _case(Linear().on([0, 1]).normalized(), ref.cosine(ref.on(ref.linear(), [0, 1]))),
    "on-normalized": _case(Linear().normalized().on([0, 1]), ref.on(ref.cosine(ref.linear()), [0, 1])),
    "normalized-sum": _case(_SUM.normalized(), ref.cosine(_SUM_TRUTH)),
    "power-normalized": _case(Linear().normalized() ** 3, ref.to_the(ref.cosine(ref.linear()), 3)),
    "centered": KernelCase(Polynomial(2).centered(), ref.centred(ref.stack(ref.polynomial(2)))),
    "centered-on": KernelCase(RBF(0.4).on([0, 1]).centered(), ref.centred(ref.stack(ref.on(ref.rbf(0.4), [0, 1])))),
    "on-centered": KernelCase(RBF(0.4).centered().on([0, 1]), ref.centred(ref.stack(ref.on(ref.rbf(0.4), [0, 1])))),
    "scaled-centered": KernelCase(
        3.0 * RBF(0.4).centered(), ref.multiplied(ref.centred(ref.stack(ref.rbf(0.4))), [3.0])
    ),
    "centered-sum": KernelCase(_SUM.centered(), ref.centred(ref.stack(_SUM_TRUTH))),
    "centered-normalized": KernelCase(
        Linear().normalized().centered(), ref.centred(ref.normalised(ref.stack(ref.linear())))
    ),
    "normalized-centered": KernelCase(
        Polynomial(2).centered().normalized(), ref.normalised(ref.centred(ref.stack(ref.polynomial(2))))
    ),
    "nested": KernelCase(
        (2.0 * RBF(0.4).centered().normalized().on([0, 1, 3])).centered(),
        ref.multiplied(ref.centred(ref.normalised(ref.centred(ref.stack(ref.on(ref.rbf(0.4), [0, 1, 3]))))), [2.0]),
    ),
}
