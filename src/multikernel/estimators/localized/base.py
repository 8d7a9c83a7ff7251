"""What the classifier and the regressor of localised kernel learning share: groups, and kernels of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from multikernel._memory import check_memory
from multikernel._parameters import Count, NonNegative, Seed
from multikernel._rules import Number
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.indexed import IndexedBank
from multikernel.banks.localized import LocalizedBank
from multikernel.banks.memberships import Memberships, NearestCentre, OfFunction, as_memberships, evaluated
from multikernel.banks.views import BankRows
from multikernel.domains import Domain, NormBall, Product
from multikernel.estimators.chosen import Samples, with_numbers
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.support.base import SupportEstimator
from multikernel.observer import Observer
from multikernel.optimizers import BlockNorm, Optimizer, ProjectedGradient
from multikernel.problem import Problem
from multikernel.procedures import outcome
from multikernel.procedures.kernel_k_means import kernel_k_means, shares_of


@dataclass(eq=False, repr=False, kw_only=True)
class LocalizedMKL(SupportEstimator):
    """Kernels of each group of samples, with weights of p-norm at most one in each group."""

    n_clusters: Count = 2
    memberships: Any = None
    temperature: NonNegative = 0.0
    p: Annotated[float, Number(least=1, why="below 1 the problem is not convex")] = 2.0
    random_state: Seed = None
    _shapes_bank: ClassVar[tuple[str, ...]] = (
        *SupportEstimator._shapes_bank,
        *("n_clusters", "memberships", "temperature", "random_state"),
    )
    _sizes: ClassVar[tuple[int, int]] = (1, 1)  # groups and kernels of the bank at hand, where a copy knows them

    def check_parameters(self) -> None:
        super().check_parameters()
        given = self.memberships
        if given is not None and not _is_rule(given) and np.ndim(given) == 0:
            raise ValueError(
                f"{type(self).__name__}: memberships must be an array, a function of the samples or a clustering with "
                f"fit and predict, got {given!r}"
            )

    # -- groups --------------------------------------------------------------------------------------------------------

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        bank, target = super()._bind(X, y, **checks)
        return self._grouped(bank, self.kernel_names_), target

    def _weighed(self, bank: KernelBank, sample_weight: Array) -> KernelBank:
        """The groups that the weights of the samples make: a sample of weight 2 is like two samples."""
        assert isinstance(bank, LocalizedBank)
        names = [str(name).removeprefix(_name_of(0, "")) for name in self.kernel_names_[: len(bank.whole)]]
        return self._grouped(bank.whole, names, sample_weight)

    def _grouped(self, bank: KernelBank, names: Sequence[Any], weight: Array | None = None) -> LocalizedBank:
        """The kernels of all groups; what is told of them is published."""
        try:
            h, rule = self._groups_of(bank, np.ones(bank.shape[0]) if weight is None else weight)
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: {error}") from None
        self.n_clusters_ = h.shape[1]
        self.memberships_ = h
        self.kernel_names_ = np.array([_name_of(j, name) for j in range(h.shape[1]) for name in names], dtype=object)
        return LocalizedBank.of(bank, h, rule)

    def _advise_on_sizes(self, bank: KernelBank) -> None:
        """Of the kernels that the user gave: those of a small group are small, as they should be."""
        super()._advise_on_sizes(bank.whole if isinstance(bank, LocalizedBank) else bank)

    def _groups_of(self, bank: KernelBank, weight: Array) -> tuple[Array, Memberships]:
        """Memberships of the training samples, and the rule for others."""
        given, n = self.memberships, bank.shape[0]
        if given is not None and _is_rule(given):
            samples = self._samples_bound
            if samples is None:
                raise ValueError(
                    "memberships by a function or a clustering need samples, and there are kernel matrices only: leave "
                    "memberships out, or give them as an array"
                )
            rule = clone(given).fit(samples) if hasattr(given, "predict") else given
            h = as_memberships(evaluated(rule, samples), n)
            return h, OfFunction(rule, h.shape[1])
        sizes = np.average(bank.diagonal(), axis=1, weights=weight)
        weights = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0.0) / len(sizes)
        if given is not None:
            return (h := as_memberships(given, n)), self._nearest(bank, weights, h * weight[:, None])
        check_memory(float(n) * n, f"the matrix that {n} samples are clustered by", "give memberships as a function")
        generator = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        count = min(int(self.n_clusters), int(np.count_nonzero(weight)))
        labels = kernel_k_means(bank.combine(weights).dense(), count, generator, weight=weight)
        nearest = self._nearest(bank, weights, np.eye(count)[labels] * weight[:, None])
        return nearest.near(bank), nearest

    def _nearest(self, bank: KernelBank, weights: Array, h: Array) -> NearestCentre:
        """New samples belong to the groups whose centres are near."""
        shares = shares_of(h)
        inner = bank.combine(weights).multiply(np.ascontiguousarray(shares))
        return NearestCentre(bank.reference(), weights, shares, (shares * inner).sum(axis=0), self.temperature)

    def _against(self, Z: Any) -> KernelBank:
        bank, rule = super()._against(Z), self._rule
        h = np.ascontiguousarray(rule.of(Z).T)
        return LocalizedBank(bank, h[:, : bank.shape[0]], h, rule, np.arange(len(h) * len(bank)))

    def banks(self, X: Any, width: int = 1) -> Iterator[KernelBank]:
        if isinstance(X, BankRows):
            X = X.bank.block(X.rows, slice(None) if self._rows is None else self._rows)
        if isinstance(X, KernelBank) and not isinstance(X, LocalizedBank):
            X = self._localised(X)
        yield from super().banks(X, width)

    def _localised(self, bank: KernelBank) -> LocalizedBank:
        """The kernels of the groups of new samples whose kernels with the training samples are given."""
        rule, h = self._rule, np.ascontiguousarray(self.memberships_.T)
        if not isinstance(rule, NearestCentre):
            raise ValueError(f"{type(self).__name__}: memberships by a function need samples, not kernel matrices")
        m = len(rule.weights)
        if bank.shape[1] != h.shape[1] or len(bank) != m:
            raise ValueError(
                f"a bank of new samples must hold {m} kernels against the {h.shape[1]} training samples, "
                f"got {len(bank)} kernels against {bank.shape[1]}"
            )
        left = np.ascontiguousarray(rule.near(bank).T)
        return LocalizedBank(bank, left, h, rule, np.arange(len(h) * len(bank)))

    @property
    def _rule(self) -> Memberships:
        predictor: Any = self.predictor_
        rule: Memberships = predictor.reference.rule
        return rule

    # -- the problem ---------------------------------------------------------------------------------------------------

    def _domain(self) -> Domain:
        return Product.copies(NormBall(norm=self.p), *self._sizes)

    def _on(self, bank: KernelBank) -> Any:
        """A copy that knows how many groups and kernels a bank has."""
        groups = _groups(bank)
        return with_numbers(self, _sizes=(groups, len(bank) // groups))

    def _candidates(self, name: str, whole: Samples) -> Array:
        return super(LocalizedMKL, self._on(whole.bank))._candidates(name, whole)

    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        return super(LocalizedMKL, self._on(bank))._learn(bank, task, warm, observe)

    def _optimizers(self) -> Mapping[str, type[Optimizer]]:
        return {"block_norm": BlockNorm, "projected_gradient": ProjectedGradient}

    def _solve(self, problem: Problem, start: Array | None, warm: Array | None, observe: Observer) -> Learned:
        name = "block_norm" if self.solver == "auto" else self.solver
        optimizer = self._optimizers()[name](tol=self.tol, max_iter=self.max_iter)
        own = None if warm is None else np.atleast_2d(warm)[0]
        return outcome(optimizer.minimise(problem, start, own, observe))

    # -- what it tells -------------------------------------------------------------------------------------------------

    @property
    def cluster_weights_(self) -> Array:
        """The weights by group: shape (groups, m), or (problems, groups, m)."""
        check_is_fitted(self)
        predictor: Any = self.predictor_
        return self.weights_.reshape(*self.weights_.shape[:-1], _groups(predictor.reference), -1)

    def membership(self, X: Any) -> Array:
        """How much samples belong to each group, shape (len(X), groups).

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        check_is_fitted(self)
        return self._rule.of(X if self._is_given(X) else self._samples(X))


def _name_of(group: int, kernel: Any) -> str:
    """What a kernel of a group is called."""
    return f"group {group}: {kernel}"


def _groups(bank: Any) -> int:
    """How many groups the kernels of a bank are of, which others may be around."""
    while not isinstance(bank, LocalizedBank):
        bank = bank.parent if isinstance(bank, IndexedBank) else bank.bank
    return len(bank.left)


def _is_rule(given: Any) -> bool:
    """Whether memberships are told by a function of the samples, or by a clustering that is to be fitted."""
    return callable(given) or hasattr(given, "predict")
