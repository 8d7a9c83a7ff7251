"""The steps of a fit, for classes and for numbers.

_read               X becomes a table of columns, checked
_problem            columns are typed and become numbers for kernels, with a target, weights and folds
search_and_train    candidates learn on some samples and are blended by their predictions of held-out ones; those with a
                    weight are trained on all samples (``answering.py``)
explanation_of      sentences and a table about what was done (``explanation.py``)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from multikernel._folds import Resampling
from multikernel._memory import check_memory
from multikernel._parameters import Positive, Seed, Threads, Verbosity, check_parameters
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel._workers import limited
from multikernel.auto.all_rows import AllRows
from multikernel.auto.answering import Allowance, search_and_train
from multikernel.auto.explanation import advice_on_groups, explanation_of
from multikernel.auto.from_source import fit_source
from multikernel.auto.goal import Goal, TargetColumns
from multikernel.auto.preparation import Preparation
from multikernel.auto.repeats import repeated_identifiers
from multikernel.auto.search import FitProblem
from multikernel.auto.table import GivenTable, as_table, is_of_texts, is_table, is_views, read
from multikernel.auto.task import RidgeTask
from multikernel.certificate import Certificate
from multikernel.estimators.checks import check_predicted
from multikernel.estimators.learned_kernel import LearnedKernel
from multikernel.estimators.parameters import CrossValidation, drawn_seed
from multikernel.estimators.progress import pace as progress_of
from multikernel.sources.rows import aligned
from multikernel.streams import Source
from multikernel.streams.dask import as_source
from multikernel.tables.cells import check_names, column_names, is_frame
from multikernel.tables.columns import ColumnTypes


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelEstimator(LearnedKernel, BaseEstimator):  # type: ignore[misc]
    """The common base of the classifier and the regressor."""

    types: ColumnTypes = None
    time_budget: Positive | None = None
    memory: Positive | None = None
    random_state: Seed = None
    n_jobs: Threads = None
    verbose: Verbosity = 0
    cv: CrossValidation | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting -------------------------------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        """Fit with the arguments of ``fit``."""
        X, y = as_source(X, y, sample_weight)
        if isinstance(X, Source):
            fit_source(self, X, y, groups)
            return self
        y, sample_weight, groups = aligned(X, y=y, sample_weight=sample_weight, groups=groups)
        table = self._read(X, y)
        goal, weight = self._goal(y, sample_weight, table.n)
        self._answer(table, goal, weight, groups)
        return self

    @abstractmethod
    def _check_target(self, y: Any) -> None:
        """ValueError for targets of another kind."""

    @abstractmethod
    def _goal(self, y: Any, sample_weight: Any, n: int, classes: Array | None = None) -> tuple[Goal, Array | None]:
        """What is to be learned, and the weights of the losses.

        Parameters
        ----------
        y, sample_weight : as in ``fit``
        n : int, samples
        classes : the labels of these and of other samples, in order; None where there are no others
        """

    @abstractmethod
    def _columns_of_target(self) -> TargetColumns:
        """The map from targets of other samples to the columns that machines learn, after ``_goal``."""

    def _read(self, X: Any, y: Any) -> GivenTable:
        """The samples as a table, after checks of parameters, samples and targets.

        Parameters
        ----------
        X, y : as in ``fit``, their rows in one order
        """
        check_parameters(self)
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        self._check_target(y)
        return self._table(X, reset=True)

    def _answer(
        self,
        table: GivenTable,
        goal: Goal,
        weight: Array | None,
        groups: Any = None,
        all_rows_for: Callable[[Preparation], tuple[AllRows, int]] | None = None,
    ) -> None:
        """Everything after the checks.

        Parameters
        ----------
        table : the samples
        goal : the target
        weight : array (n,) >= 0, or None
        groups : array (n,), or None
        all_rows_for : for samples drawn from a source: (preparation) -> all of its rows, and their number
        """
        with limited(self.time_budget):
            self.preparation_ = Preparation.of(table, self.types)
            problem = self._problem(table, goal, weight, groups)
            if all_rows_for is not None:
                everything, total = all_rows_for(self.preparation_)
                problem = replace(problem, all_rows=everything, total=total)
            name = type(self).__name__
            allowance = Allowance(name, self.time_budget, self.memory, self.n_jobs, bool(self.verbose))
            searched, self.answer_ = search_and_train(problem, allowance)
        if not self.converged_:
            warn_user(
                f"{type(self).__name__}: other weights of the candidates may lower the value that they minimise by the "
                f"part {searched.blend.gap:.2g} of it; bring the target's rare classes or extreme values to a usual "
                "size",
                ConvergenceWarning,
            )
        self.n_samples_ = problem.total
        self.explanation_ = explanation_of(problem, searched, table.n, self.preparation_.sentences())
        self.candidates_ = [asdict(row) for row in self.explanation_.rows]

    def _problem(self, table: GivenTable, goal: Goal, weight: Array | None, groups: Any) -> FitProblem:
        """The prepared samples with their targets, weights and folds; warnings advise on groups."""
        seed = drawn_seed(self.random_state)
        # a splitter that shuffles gives different folds the second time
        first, second = (Resampling.of(type(self).__name__, self.cv, groups, goal.strata) for _ in range(2))
        samples = self.preparation_.samples(table)
        rows = np.arange(table.n)
        if weight is not None:
            rows = np.flatnonzero(weight > 0)
            weight = weight / weight[rows].mean()
        if first.groups is None and not first.given:
            identifiers = repeated_identifiers(self.preparation_.columns, table)
            for advice in advice_on_groups(samples, goal.targets, identifiers):
                warn_user(f"{type(self).__name__}: {advice}", PredictionWarning)
        task = RidgeTask.of(goal.targets, weight, goal.strata, seed, (first, second))
        passing = partial(progress_of, self)
        return FitProblem(samples, goal, task, rows, first.groups, seed, None, len(rows), self._log, passing)

    def _log(self, line: str) -> None:
        """Print a line where ``verbose`` asks for them."""
        if self.verbose:
            print(f"[{type(self).__name__}] {line}", flush=True)

    # -- after fitting -------------------------------------------------------------------------------------------------

    def explain(self) -> str:
        """What was tried, what was chosen and why, in sentences and a table."""
        check_is_fitted(self)
        return str(self.explanation_)

    def contributions(self, X: Any) -> Array:
        """What each kernel of ``kernel_names_`` adds to each decision value or prediction, which is the sum with
        ``intercept_``.

        Parameters
        ----------
        X : samples like those of ``fit``

        Returns
        -------
        array (len(X), m) for two classes or one target, else (len(X), m, classes or targets)
        """
        check_is_fitted(self)
        return self._as_output(self.answer_.parts(self.preparation_.samples(self._table(X, reset=False))))

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel between samples: the kernels of ``kernel_names_``, each divided by its mean self-value on
        the training sample, added by ``weights_``.

        Parameters
        ----------
        X : samples like those of ``fit``
        Z : samples like X; X itself by default

        Returns
        -------
        array (len(X), len(Z))

        Raises
        ------
        ValueError : for a model of views that are kernel matrices, where X and Z are not parts of the same ``views``
        MemoryError : where the matrix is larger than the memory
        """
        check_is_fitted(self)
        rows = self.preparation_.samples(self._table(X, reset=False))
        if Z is None:
            against = rows
        else:
            against = self.preparation_.samples(self._table(Z, reset=False))
        if self.preparation_.given:
            try:
                rows = replace(rows, given=self.preparation_.between(X, X if Z is None else Z))
            except ValueError as error:
                raise ValueError(f"{type(self).__name__}: {error}") from None
            against = replace(against, rows=np.arange(len(against)))
        n = len(rows)
        c = len(against)
        check_memory(float(n) * c, f"the learned kernel of {n} and {c} samples", "take fewer of them at a time")
        K = self.answer_.kernel(rows, against)
        if Z is None:
            return 0.5 * (K + K.T)
        return K

    @property
    def kernel_names_(self) -> Array:
        """The candidates with a weight in the answer, array (m,)."""
        check_is_fitted(self)
        names = [row["candidate"] for row in self.candidates_]
        return np.array([names[m] for m in self.answer_.blend.used], dtype=object)

    @property
    def weights_(self) -> Array:
        """The share of each of ``kernel_names_`` in the answer, array (m,) of sum 1; empty for a constant answer."""
        check_is_fitted(self)
        return self.answer_.blend.shares

    @property
    def objective_(self) -> float:
        """The value of the blend's problem."""
        check_is_fitted(self)
        return self.answer_.blend.objective

    @property
    def objective_bound_(self) -> float:
        """A lower bound of the optimum of the blend's problem."""
        return self.objective_ * (1.0 - self.duality_gap_)

    @property
    def certificate_(self) -> Certificate:
        """The duality gap of the blend's problem, relative to its value."""
        check_is_fitted(self)
        return Certificate("duality gap", self.answer_.blend.gap)

    @property
    def duality_gap_(self) -> float:
        """No other blend of the candidates has an objective that is smaller by more than this part of it."""
        return self.certificate_.value

    @property
    def converged_(self) -> bool:
        """Whether that gap is at most 1e-4, the default ``tol`` of the certified estimators."""
        return self.certificate_.reached(1e-4)

    def problem_names(self) -> list[str]:
        """The name of the one problem that has weights."""
        return ["blend"]

    def _is_given(self, X: Any) -> bool:
        """Whether X consists of kernel matrices and not of samples: never for ``kernel_matrix``."""
        return False

    @abstractmethod
    def _as_output(self, contributions: Array) -> Array:
        """Parts of the blend, shape (..., k), as parts of decision values or predictions."""

    # -- samples, of training and new ----------------------------------------------------------------------------------

    def _table(self, X: Any, reset: bool) -> GivenTable:
        """Samples as a table, checked."""
        texts = is_of_texts(X)
        X = as_table(X, new_samples=not reset and bool(self.preparation_.given))
        if not is_views(X):
            if is_frame(X):
                check_names(X)
            if not reset and is_frame(X) and self._has_what_is_needed(X):
                pass  # columns are matched by their names, in any order
            elif is_table(X):
                validate_data(self, X, reset=reset, skip_check_array=True)
            else:
                checks = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan", "dtype": None}
                X = validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1, **checks)
        table = read(X) if reset else self.preparation_.read(X)
        if not (table.columns or table.sparse or table.given):
            raise ValueError(f"{type(self).__name__}: X has no columns, so that there is nothing to learn from")
        fewest = 2 if reset else 1
        if table.n < fewest:
            raise ValueError(f"{type(self).__name__} needs samples, at least {fewest}, got n_samples = {table.n}")
        if texts:
            return replace(table, types=dict.fromkeys(table.columns, "text"))
        return table

    def _has_what_is_needed(self, X: Any) -> bool:
        """Whether a frame has all columns that predictions need, and no columns that training had not."""
        names = set(column_names(X))
        training_names = set(getattr(self, "feature_names_in_", ()))
        return set(self.preparation_.needed) <= names <= training_names

    def _values(self, X: Any) -> Array:
        """The blend at samples: shape (len(X), k)."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported below
            values = self.answer_(self.preparation_.samples(table))
        return check_predicted(values, type(self).__name__)
