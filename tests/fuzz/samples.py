"""What a fuzzed problem is made of: samples, kernels and a target, from a few drawn numbers.

A description is a small value that prints as what it is, so that a failure can be met again. Matrices given as
precomputed kernels are products of features of a few binary digits: exact in the precision given, and positive
semi-definite exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz import zoo_kernels as zoo
from fuzz.wide import Array, Number, wide
from multikernel import kernels

_NEW = 4  # new samples to predict


def log_uniform(low: float, high: float) -> st.SearchStrategy[float]:
    """Powers of ten between 10^low and 10^high."""
    return st.floats(low, high, width=32).map(lambda e: float(f"{10.0**e:.3g}"))


# -- samples and kernels -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Samples (n, p), their size and their peculiarities."""

    seed: int
    n: int
    p: int
    size: float = 1.0
    shift: float = 0.0  # of all features, in units of their size
    repeated: bool = False  # every third sample is its neighbour
    constant: bool = False  # the first feature is zero for all
    single: bool = False  # single precision

    def draw(self) -> tuple[Array, Array]:
        """Training and new samples."""
        rng = np.random.default_rng(self.seed)
        X = self.size * (rng.normal(size=(self.n + _NEW, self.p)) + self.shift)
        if self.repeated:
            X[2 : self.n : 3] = X[1 : self.n - 1 : 3]
        if self.constant:
            X[:, 0] = 0.0
        X = X.astype(np.float32 if self.single else np.float64)
        return X[: self.n], X[self.n :]


@dataclass(frozen=True)
class Given:
    """What ``fit`` and ``predict`` are given, and the true kernel matrices (m, n, n), (m, new, n)."""

    kernels: Any
    X: Any
    new: Any
    K: Array
    K_new: Array


@dataclass(frozen=True)
class Samples:
    """Kernels of samples, each by its name and its parameter."""

    sample: Sample
    each: tuple[tuple[str, float], ...]

    @property
    def count(self) -> int:
        return len(self.each)

    def make(self) -> Given:
        X, new = self.sample.draw()
        entries = [_entry(name, number, self.sample) for name, number in self.each]
        return _given([entry.kernel for entry in entries], entries, X, new)


@dataclass(frozen=True)
class Features:
    """One linear kernel for each feature."""

    sample: Sample

    @property
    def count(self) -> int:
        return self.sample.p

    def make(self) -> Given:
        X, new = self.sample.draw()
        return _given(kernels.linear_features(), [zoo.linear().on([j]) for j in range(self.sample.p)], X, new)


@dataclass(frozen=True)
class Powers:
    """Homogeneous polynomials of degrees 0 to 3 or more, normalised or not."""

    sample: Sample
    degree: int
    normalize: bool

    @property
    def count(self) -> int:
        return self.degree + 1

    def make(self) -> Given:
        X, new = self.sample.draw()
        entries = [zoo.homogeneous(d) for d in range(self.degree + 1)]
        entries = [entry.normalized() for entry in entries] if self.normalize else entries
        return _given(kernels.homogeneous_polynomials(self.degree, normalize=self.normalize), entries, X, new)


@dataclass(frozen=True)
class Matrices:
    """Precomputed matrices F_k F_k' of few binary digits: their ranks and binary exponents; 0 is the zero matrix."""

    seed: int
    n: int
    each: tuple[tuple[int, int], ...]
    single: bool = False
    twice: bool = False  # the first matrix comes again at the end

    @property
    def count(self) -> int:
        return len(self.each) + self.twice

    def make(self) -> Given:
        rng = np.random.default_rng(self.seed)
        most = 8 if self.single else 1 << 12
        stack = []
        for rank, exponent in self.each:
            F = rng.integers(-most, most + 1, size=(self.n + _NEW, rank)).astype(float) / most
            stack.append(F @ F.T * 2.0**exponent)
        stack += stack[:1] if self.twice else []
        K = np.array(stack).astype(np.float32 if self.single else np.float64)
        own, new = K[:, : self.n, : self.n], K[:, self.n :, : self.n]
        return Given("precomputed", own, new, wide(own), wide(new))


Kind = Samples | Features | Powers | Matrices


def _given(family: Any, entries: list[zoo.Entry], X: Array, new: Array) -> Given:
    return Given(family, X, new, zoo.stack(entries, X, X, X), zoo.stack(entries, new, X, X))


def _entry(name: str, number: float, sample: Sample) -> zoo.Entry:
    """A kernel of the samples; ``number`` is its width in units of the samples' size, or a factor."""
    per_square = number / (sample.size**2 * sample.p)
    makers: dict[str, Callable[[], zoo.Entry]] = {
        "linear": lambda: zoo.linear().scaled(number),
        "constant": lambda: zoo.homogeneous(0).scaled(number),
        "zero": lambda: zoo.linear().on([0]) if sample.constant else zoo.linear().scaled(0.0),
        "rbf": lambda: zoo.rbf(float(per_square)),
        "rbf of one": lambda: zoo.rbf(float(per_square)).on([sample.p - 1]),
        "laplacian": lambda: zoo.laplacian(float(number / (sample.size * sample.p))),
        "polynomial": lambda: zoo.polynomial(2, 1.0, float(per_square)),
        "cubic": lambda: zoo.polynomial(3, 0.5, 1.0).scaled(number),
        "normalized": lambda: zoo.polynomial(2, 1.0, float(per_square)).normalized(),
        "centered": lambda: zoo.rbf(float(per_square)).centered(),
        "sum": lambda: zoo.plus(zoo.rbf(float(per_square)), zoo.linear().on([0])),
        "product": lambda: zoo.times(zoo.rbf(float(per_square)), zoo.polynomial(1, 1.0, float(per_square))),
    }
    return makers[name]()


NAMES = [
    *["linear", "constant", "zero", "rbf", "rbf", "rbf of one", "laplacian", "polynomial", "cubic"],
    *["normalized", "centered", "sum", "product"],
]


@st.composite
def samples(draw: Any, most: int = 40, features: int = 6) -> Sample:
    """Samples of every size and with every peculiarity."""
    return Sample(
        seed=draw(st.integers(0, 10**6)),
        n=draw(st.integers(6, most)),
        p=draw(st.integers(1, features)),
        size=draw(st.sampled_from([1.0, 1.0, 1.0, 1e-3, 30.0, 1e3])),
        shift=draw(st.sampled_from([0.0, 0.0, 0.0, 3.0, 100.0])),
        repeated=draw(st.integers(0, 3)) == 0,
        constant=draw(st.integers(0, 5)) == 0,
        single=draw(st.integers(0, 4)) == 0,
    )


@st.composite
def kinds(draw: Any, most: int = 40, kernels: int = 6) -> Kind:
    """Kernels of any kind, a few."""
    kind = draw(st.sampled_from(["samples", "samples", "matrices", "matrices", "features", "powers"]))
    if kind == "matrices":
        return draw(matrices(most, kernels))
    sample = draw(samples(most, kernels))
    if kind == "features":
        return Features(sample)
    if kind == "powers":
        return Powers(sample, draw(st.integers(1, kernels - 1)), draw(st.booleans()))
    each = st.tuples(st.sampled_from(NAMES), log_uniform(-2, 2))
    return Samples(sample, tuple(draw(st.lists(each, min_size=1, max_size=kernels))))


@st.composite
def matrices(draw: Any, most: int = 40, kernels: int = 6) -> Matrices:
    """Precomputed matrices of every rank and size."""
    level = draw(st.sampled_from([0, 0, 0, -40, -20, 20, 40]))
    each = st.tuples(st.sampled_from([0, 1, 1, 2, 5, 50]), st.integers(level - 4, level + 4))
    return Matrices(
        seed=draw(st.integers(0, 10**6)),
        n=draw(st.integers(6, most)),
        each=tuple(draw(st.lists(each, min_size=1, max_size=kernels))),
        single=draw(st.integers(0, 3)) == 0,
        twice=draw(st.booleans()),
    )


# -- targets -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """Labels or values for samples of known kernels."""

    kind: str
    seed: int
    scale: float = 1.0
    shift: float = 0.0

    def labels(self, given: Given, classes: int = 2) -> Array:
        """-1 and +1, both there; for more classes their numbers from 0 on, some of which may have one sample."""
        if classes == 2:
            return self._signs(given)
        y = np.where(self._signs(given) > 0, np.random.default_rng(self.seed).integers(1, classes, given.K.shape[1]), 0)
        y[:classes] = np.arange(classes)
        return y

    def _signs(self, given: Given) -> Array:
        rng, n = np.random.default_rng(self.seed), given.K.shape[1]
        score = self._function(given, rng)
        match self.kind:
            case "unbalanced":
                y = np.where(np.arange(n) == rng.integers(n), 1, -1)
            case "explained":
                y = np.where(score > np.median(score), 1, -1)
            case "noisy":
                y = np.where(score + rng.normal(size=n) > 0, 1, -1)
            case _:
                y = rng.choice([-1, 1], size=n)
        y[0] = 1
        if (y > 0).all():
            y[1] = -1
        return y

    def values(self, given: Given) -> Array:
        rng, n = np.random.default_rng(self.seed), given.K.shape[1]
        score = self._function(given, rng)
        match self.kind:
            case "constant":
                y = np.zeros(n)
            case "explained":
                y = score
            case "noisy":
                y = score + 0.3 * rng.normal(size=n)
            case "outliers":
                y = score + 1e3 * (rng.random(n) < 0.1) * rng.normal(size=n)
            case _:
                y = rng.normal(size=n)
        return self.scale * (y + self.shift)

    def _function(self, given: Given, rng: np.random.Generator) -> Array:
        """A function in the space of one kernel, of size one."""
        f = given.K[rng.integers(len(given.K))] @ wide(rng.normal(size=given.K.shape[1]))
        peak = np.abs(f).max()
        return (f / peak if peak > 0 else f * 0).astype(float)


def label_targets() -> st.SearchStrategy[Target]:
    kind = st.sampled_from(["random", "noisy", "noisy", "explained", "unbalanced"])
    return st.builds(Target, kind, st.integers(0, 10**6))


def value_targets() -> st.SearchStrategy[Target]:
    kind = st.sampled_from(["random", "noisy", "noisy", "explained", "constant", "outliers"])
    scale = st.sampled_from([1.0, 1.0, 1e-6, 1e-2, 1e3, 1e6])
    return st.builds(Target, kind, st.integers(0, 10**6), scale, st.sampled_from([0.0, 0.0, 10.0, 1e4]))


def as_numbers(x: Any) -> Array:
    """A published attribute in wide arithmetic."""
    return np.asarray(x, dtype=Number)
