"""How a fit goes, for classes and for numbers.

read        X becomes a table of columns, checked
prepare     columns are typed, and become numbers that kernels take
search      candidates learn on some samples; what they predict of held-out ones makes the blend
train       the candidates with a weight are trained on all samples
explain     what was done, in sentences and a table
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from multikernel._parameters import Positive, Seed, Threads, Verbosity
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import on_threads
from multikernel.auto.candidates import Candidate, candidates
from multikernel.auto.choice import Blend
from multikernel.auto.explanation import Explanation, Row, row_of, warnings_about
from multikernel.auto.limits import Limits, some
from multikernel.auto.preparation import Preparation
from multikernel.auto.samples import Samples
from multikernel.auto.search import Answer, Member, Tried, tried
from multikernel.auto.table import Table, check_names, is_frame, is_table, is_views, read
from multikernel.auto.task import Task
from multikernel.banks.threads import one_blas_thread


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelEstimator(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share."""

    time_budget: Positive | None = None
    memory: Positive | None = None
    random_state: Seed = None
    n_jobs: Threads = None
    verbose: Verbosity = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- what an estimator says ----------------------------------------------------------------------------------------

    @abstractmethod
    def _scores(self, values: Array) -> Array:
        """A member's values (n, t) as what is blended (n, k)."""

    @abstractmethod
    def _losses(self, scores: Array, rows: Array) -> Array:
        """The loss of each of some training samples, by scores of them: shape (rows,)."""

    @abstractmethod
    def _constant(self, Y: Array, labels: Array, weight: Array | None) -> Blend:
        """The blend of no candidates."""

    @property
    @abstractmethod
    def _measure(self) -> str:
        """What the mean of these losses is called."""

    # -- fitting -------------------------------------------------------------------------------------------------------

    def _answer(
        self,
        X: Table,
        Y: Array,
        labels: Array,
        weight: Array | None,
        blend: Callable[[Array, Array, Array | None], Blend],
    ) -> None:
        """Everything that follows the check of the target.

        Parameters
        ----------
        X : the table of samples
        Y : array (n, t), targets of about spread 1
        labels : int array (n,), classes, or zeros
        weight : array (n,) >= 0, or None
        blend : of predictions (M, n, k) of held-out samples, their rows and their weights
        """
        start, seed = perf_counter(), int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.preparation_ = Preparation.of(X)
        samples, rows = self.preparation_.samples(X), np.arange(X.n)
        if weight is not None:
            rows = np.flatnonzero(weight > 0)
            weight = weight / weight[rows].mean()
        limits = Limits.of(candidates(samples), len(rows), samples.plain.shape[1], self.time_budget, self.memory)
        choice = rows[some(labels[rows], limits.choice, seed)]
        training = rows[some(labels[rows], limits.training, seed)]
        whole = Task.of(Y, weight, labels, seed)
        varied = bool((Y[rows] != Y[rows[0]]).any())
        task, few = whole.of_rows(choice), samples.of(choice)

        def attempt(candidate: Candidate) -> Tried | None:
            late = self.time_budget is not None and perf_counter() - start > self.time_budget
            found = None if late and candidate is not limits.candidates[0] else tried(candidate, few, task)
            if found is not None and self.verbose:
                print(f"[{type(self).__name__}] {found.name}: {found.said}, {found.seconds:.2f} s", flush=True)
            return found

        with one_blas_thread(len(choice)):
            attempts = [partial(attempt, candidate) for candidate in limits.candidates if varied]
            found = [each for each in on_threads(attempts, self.n_jobs) if each is not None]
        predicted = np.stack([self._scores(each.predicted) for each in found]) if found else None
        mixed = blend(predicted, choice, task.weight) if predicted is not None else self._constant(Y, labels, weight)
        with one_blas_thread(len(training)):
            members = [Member.of(found[m], samples.of(training), whole.of_rows(training)) for m in mixed.used]
        self.answer_ = Answer(samples.of(training).without_given(), tuple(members), mixed)
        self._explain(found, predicted, samples, Y, choice, training)

    def _explain(
        self, found: list[Tried], predicted: Array | None, samples: Samples, Y: Array, choice: Array, training: Array
    ) -> None:
        """``explanation_`` and ``candidates_``."""
        blend, rows = self.answer_.blend, []
        if predicted is not None:
            shares = blend.weights / (float(blend.weights.sum()) or 1.0)
            together = np.tensordot(blend.weights, predicted, 1) + blend.bias
            losses = self._losses(together, choice)
            rows = [
                row_of(each.name, self._losses(own, choice), float(share), each.seconds, each.said)
                for each, own, share in zip(found, predicted, shares, strict=True)
            ]
            rows.append(row_of("their blend", losses, 1.0, sum(each.seconds for each in found), "what predicts"))
        self.candidates_ = [asdict(row) for row in rows]
        n = len(Y)
        said = list(self._chosen(rows))
        if len(choice) < n:
            said.append(f"Kernels were chosen on {len(choice)} of {n} samples, to save time.")
        if len(training) < n:
            said.append(f"The answer was trained on {len(training)} of {n} samples, to save time and memory.")
        self.explanation_ = Explanation(
            (f"{n} samples.", *self.preparation_.sentences()),
            tuple(said),
            tuple(warnings_about(samples, Y)),
            self._measure,
            tuple(rows),
        )

    def _chosen(self, rows: list[Row]) -> list[str]:
        if not rows:
            return ["There is nothing to learn from, or only one value to learn: the answer is a constant."]
        single = min(rows[:-1], key=lambda row: row.error)
        used = sum(row.weight > 0 for row in rows[:-1])
        return [
            "Candidates learned their kernels and ridges on five folds; the errors above are those on five others.",
            f"The best of them alone is {single.candidate!r} ({single.error:.4g}); the blend of {used} has "
            f"{rows[-1].error:.4g}, and its weights were chosen on the same folds.",
            "The blend was trained on all samples." if used > 1 else "It was trained on all samples.",
        ]

    def explain(self) -> str:
        """What was tried, what was chosen and why, in sentences and a table."""
        check_is_fitted(self)
        return str(self.explanation_)

    # -- samples -------------------------------------------------------------------------------------------------------

    def _table(self, X: Any, reset: bool) -> Table:
        """Samples as a table, checked."""
        if not is_table(X) and not sparse.issparse(X):
            X = np.asarray(X)
            X = X.astype(object) if X.dtype.kind in "US" else X
        if not is_views(X):
            if is_frame(X):
                check_names(X)
            if is_table(X):
                validate_data(self, X, reset=reset, skip_check_array=True)
            else:
                checks = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan", "dtype": None}
                X = validate_data(self, X, reset=reset, ensure_min_samples=2 if reset else 1, **checks)
        table = read(X) if reset else self.preparation_.read(X)
        least = 2 if reset else 1
        if table.n < least:
            raise ValueError(f"{type(self).__name__} needs samples, at least {least}, got n_samples = {table.n}")
        return table

    def _values(self, X: Any) -> Array:
        """The blend at samples: shape (len(X), k)."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        for sentence in self.preparation_.unknown(table):
            warn_user(f"{type(self).__name__}: {sentence}; they count as none of the known ones")
        return self.answer_(self.preparation_.samples(table), self._scores)
