"""What all estimators share: how a fit goes, what it leaves behind, and what the model tells of itself.

fit                   checks parameters, X becomes a bank, y a target
fit_bank              the target becomes tasks (one, or one for each class or pair), which are solved and published
_solve_all            which tasks run together
_learn                one task: the problem, and the procedure that solves it

Where matrices are stored in single precision, all tasks are solved with these first, and then again from the solutions
found, with every entry evaluated in double precision. Mostly this only certifies them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from multikernel._folds import UNDECIDED, Resampling, numbered
from multikernel._parameters import Positive, check_parameters
from multikernel._typing import Array
from multikernel._warnings import warn_user
from multikernel._workers import limited, on_threads, seconds_left, time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.checks import check_values
from multikernel.banks.views import check_samples_rows
from multikernel.certificate import worst
from multikernel.combinations import Combination, Linear
from multikernel.estimators.advice import advise_on_constant, advise_on_sizes
from multikernel.estimators.chosen import chosen
from multikernel.estimators.convergence import not_converged
from multikernel.estimators.feature_predictor import predictor_of
from multikernel.estimators.forecasting import Forecasting
from multikernel.estimators.parameters import AUTO, checked_weights
from multikernel.estimators.predictor import Predictor
from multikernel.estimators.progress import Reporter
from multikernel.estimators.protocol import Fitted, Learned, Learner, Task
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.observer import Observer
from multikernel.persistence.checkpoint import UNKEPT, Checkpoint
from multikernel.streams import Source
from multikernel.streams.dask import as_source

_CHOICE = 0.3  # of the time at most, for parameters given as "auto"
_FIRST_PART = 0.5  # of the time, for kernels as they are stored, where passes over the kernels themselves follow


@dataclass(eq=False, repr=False, kw_only=True)
class KernelEstimator(Forecasting):
    """An estimator that learns weights of kernels and a predictor on their combination."""

    time_budget: Positive | None = None
    _shapes_bank: ClassVar[tuple[str, ...]] = ("kernels",)  # the parameters that the training bank depends on
    _size_matters: ClassVar[bool] = True  # whether a kernel counts more where it is multiplied by a number
    few_passes: ClassVar[bool] = False  # whether a fit reads every kernel a few times only: a copy of a part costs more
    _own_folds: ClassVar[bool] = False  # whether learning itself holds samples out, in as many folds as ``cv`` says

    # -- what an estimator says ----------------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed.

        The annotations of the fields say what they may be. A class whose parameters depend on each other checks these
        as well, after its parent's ``check_parameters``.

        Raises
        ------
        ValueError : with a sentence that names the parameter and its value
        """
        check_parameters(self)

    @abstractmethod
    def _tasks(self, target: Array, sample_weight: Array | None) -> list[Task]:
        """The problems to solve for a checked target."""

    @abstractmethod
    def _learn(self, bank: KernelBank, task: Task, warm: Fitted | None, observe: Observer) -> Learned:
        """Solve one task on the bank of its samples."""

    def _task_learner(self, bank: KernelBank, target: Array) -> Learner:
        """How a model of this class solves a task of this target."""
        return type(self)._learn

    def _complete(
        self,
        bank: KernelBank,
        target: Array,
        fitted: list[Fitted],
        sample_weight: Array | None,
        learn: Learner,
        checkpoint: Checkpoint,
        resampling: Resampling,
    ) -> None:
        """What a published model learns beside its problems, from what ``fit_bank`` was given and found."""

    def _combination(self) -> Combination:
        """How the weights make a kernel."""
        return Linear()

    def _kernel_weights(self, fitted: Fitted) -> Array:
        """The weights of the kernels in the predictor: those learned, unless the estimator scales the kernels first."""
        return fitted.weights.values

    # -- fitting -------------------------------------------------------------------------------------------------------

    @unchanged_unless_done
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """What every ``fit`` does."""
        self.check_parameters()
        check_samples_rows(X, y=y, sample_weight=sample_weight, groups=groups)
        X, y = as_source(X, y, sample_weight)
        with limited(self.time_budget):
            if isinstance(X, Source):
                return self._fit_source(X, y, groups)
            self._begin(y)
            kept = self._checkpoint(X, y, sample_weight, groups)
            self._weight_bound = sample_weight
            bank, target = self._bound_aloud(X, y)
            self._weight_bound = None
            weight = checked_weights(sample_weight, bank.shape[0])
            bank = bank if weight is None else self._weighed(bank, weight)
            held_out = self.resampling(groups, target)
            self.fit_bank(bank, target, sample_weight=weight, checkpoint=kept, resampling=held_out)
        return self

    def resampling(self, groups: Any, target: Array) -> Resampling:
        """How samples are held out where a parameter is "auto", probabilities are told, or learning asks for it.

        Parameters
        ----------
        groups : array (n,), the group of each sample, or None
        target : array (n,) or (n, t)

        Raises
        ------
        ValueError : for groups that are not n values, and where they or ``cv`` allow no folds
        """
        name, cv = type(self).__name__, getattr(self, "cv", None)
        numbered(name, groups, len(target))
        if not (self._own_folds or self._is_searched() or getattr(self, "probability", None) is not None):
            return UNDECIDED
        return Resampling.of(name, None if self._own_folds and isinstance(cv, Integral) else cv, groups, target)

    def _is_searched(self) -> bool:
        """Whether a parameter is "auto"."""
        return any(AUTO.accepts(getattr(self, name)) for name in self._regularises())

    def tasks(self, target: Array, sample_weight: Array | None, resampling: Resampling) -> list[Task]:
        """The problems to solve, each of which knows how its samples are held out."""
        tasks = self._tasks(target, sample_weight)
        if not resampling.decided:
            return tasks
        return [replace(task, resampling=resampling.among(task.rows)) for task in tasks]

    def _checkpoint(self, *given: Any) -> Checkpoint:
        """Where the problems of a fit to what was given are kept, for an estimator that has several."""
        return UNKEPT

    def _weighed(self, bank: KernelBank, sample_weight: Array) -> KernelBank:
        """The training bank, which may follow the weights of the samples."""
        return bank

    def _begin(self, y: Any) -> None:
        """Forget what an earlier fit left; ValueError where a target that is needed is not there."""
        if y is None and self.__sklearn_tags__().target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")

    def _fit_source(self, source: Source, y: Any, groups: Any = None) -> Self:
        """Fit to rows that are read in chunks."""
        raise ValueError(
            f"{type(self).__name__} does not learn from a source in chunks, which takes squared losses on approximate "
            "kernels: use RLS2, MultipleKernelRidgeCV, PolynomialMKL of degree 1 or AverageMKLRegressor with "
            "approximation='nystroem', or read the rows into an array"
        )

    def fit_bank(
        self,
        bank: KernelBank,
        target: Array,
        warm: Sequence[Fitted] = (),
        sample_weight: Array | None = None,
        learn: Learner | None = None,
        exact: bool = True,
        checkpoint: Checkpoint = UNKEPT,
        resampling: Resampling | None = None,
    ) -> list[Fitted]:
        """Fit on a bank that is bound already, for paths and searches.

        Parameters
        ----------
        bank : square KernelBank of n samples
        target : array (n,) or (n, t), as ``bind`` returns it
        warm : what an earlier fit on these samples returned, to start from
        sample_weight : array (n,) >= 0
        learn : how a model solves one task; by default what the estimator says
        exact : whether the solutions are certified for kernels in double precision, where they are stored in single
        checkpoint : where problems that are solved are kept
        resampling : how samples are held out; by default as the parameter ``cv`` says, without groups

        Returns
        -------
        list of Fitted, one for each problem
        """
        resampling = self.resampling(None, target) if resampling is None else resampling
        tasks = self.tasks(target, sample_weight, resampling)
        self._check_fits(bank, tasks)
        starts = warm if len(warm) == len(tasks) else [None] * len(tasks)
        with limited(self.time_budget):
            learn = learn or self._task_learner(bank, target)
            try:
                with limited(_CHOICE * seconds_left()):
                    model = chosen(self, learn, bank, target, sample_weight, checkpoint, resampling)
                unrounded = bank.unrounded() if exact else bank
                with limited(None if unrounded is bank else _FIRST_PART * seconds_left()):
                    fitted = self._solved(bank, tasks, starts, partial(learn, model), checkpoint)
                if unrounded is not bank:  # the certificate has to hold for the kernels, not for what is stored of them
                    again = self._solved(unrounded, tasks, fitted, partial(learn, model), checkpoint.under("exact"))
                    fitted = [new.after(old) for new, old in zip(again, fitted, strict=True)]
            except (ValueError, ArithmeticError) as error:
                check_values(bank, getattr(self, "kernel_names_", ()))  # says which kernel is the cause, where one is
                if isinstance(error, OverflowError) or "infs or NaNs" in str(error):  # the words of SciPy
                    raise ValueError(
                        f"{type(self).__name__}: numbers overflowed; scale the target and the kernels to values of "
                        "about 1"
                    ) from None
                raise
            fitted = [replace(each, numbers=model._numbers()) for each in fitted]
            self.publish(bank, fitted, single=self._is_single(tasks, target))
            self._complete(bank, target, fitted, sample_weight, learn, checkpoint, resampling)
        advise_on_constant(type(self).__name__, self.dual_coef_, target, model._numbers())
        self._advise_on_sizes(bank)
        return fitted

    def _advise_on_sizes(self, bank: KernelBank) -> None:
        """Warn of kernels of very different size, unless they are the estimator's own for the user's samples.

        A model that did not bind the kernels itself, that of a fold for instance, has no names for them and is silent.
        """
        names = getattr(self, "base_kernel_names_", getattr(self, "kernel_names_", None))
        if self._size_matters and names is not None and (self.kernels is not None or self._samples_bound is None):
            advise_on_sizes(type(self).__name__, bank, names)

    def _solved(
        self,
        bank: KernelBank,
        tasks: Sequence[Task],
        starts: Sequence[Fitted | None],
        learn: Callable[..., Learned],
        checkpoint: Checkpoint,
    ) -> list[Fitted]:
        """Every task; of tasks that wait for each other, each leaves the later ones their part of the time."""
        reporter, count, whole_time = Reporter.of(self, len(tasks)), len(tasks), seconds_left()
        alike = self._at_once(count) or not np.isfinite(whole_time)
        names = [f"problem {number + 1}" for number in range(count)]
        checkpoint.expect(names)

        def solved(number: int, whole: KernelBank) -> Fitted:
            """The task with this number, on the bank that it shares with the others."""
            task, start = tasks[number], starts[number]
            start = start if start is not None and np.array_equal(start.rows, task.rows) else None
            later = 0.0 if alike else whole_time * (count - number - 1) / count
            with limited(seconds_left() - later):
                own, observe = task.bank(whole), reporter.observer(number)
                if checkpoint.folder is None:
                    found = learn(own, task, start, observe)
                else:
                    found = checkpoint.part(names[number], partial(learn, own, task, start, observe))
                return Fitted(task.rows, *found, sample_weight=task.sample_weight)

        return self._solve_all(bank, [partial(solved, number) for number in range(count)])

    def _at_once(self, count: int) -> bool:
        """Whether so many tasks are solved at the same time."""
        return getattr(self, "n_jobs", None) not in (None, 1)

    def _solve_all(self, bank: KernelBank, tasks: Sequence[Callable[[KernelBank], Fitted]]) -> list[Fitted]:
        """Every task, on threads."""
        return on_threads([partial(task, bank) for task in tasks], getattr(self, "n_jobs", None))

    def _is_single(self, tasks: Sequence[Task], target: Array) -> bool:
        """Whether fitted attributes are those of one problem, not a row for each of several."""
        return len(tasks) == 1

    # -- after fitting -------------------------------------------------------------------------------------------------

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Set the fitted attributes; one problem gives vectors and numbers, several give a row each.

        One problem with t targets that share the weights gives one vector of weights, and a row of coefficients and an
        intercept for each target.
        """
        whole = [f.over_all(bank.shape[1]) for f in fitted]
        coef = np.concatenate([np.atleast_2d(f.solution.coef.T) for f in whole])
        intercept = np.concatenate([np.atleast_1d(f.solution.intercept) for f in whole])
        weights = np.stack([f.weights.values for f in whole])
        vector = single and whole[0].solution.coef.ndim == 1
        self.weights_ = weights[0] if single else weights
        self.dual_coef_ = coef[0] if vector else coef
        self.intercept_ = float(intercept[0]) if vector else intercept
        self.n_iter_ = max(1, *(f.weights.n_iter + f.solution.n_iter for f in whole))
        self._publish_certificate(whole, single)
        self.history_ = [f.weights.history or f.solution.history for f in whole]
        for name, value in fitted[0].numbers.items():
            setattr(self, f"{name}_", value)
        in_predictor = np.stack([self._kernel_weights(f) for f in whole])
        finite = all(np.isfinite(found).all() for found in (coef, intercept, weights, in_predictor))
        if not (finite and self.converged_):
            check_values(bank, getattr(self, "kernel_names_", ()))
        if not finite:
            raise ValueError(
                f"{type(self).__name__}: weights or coefficients are NaN or infinite, since numbers overflowed; scale "
                "the target and the kernels to values of about 1"
            )
        self.predictor_: Predictor = predictor_of(bank, coef, intercept, in_predictor, self._combination())
        if not self.converged_ and not all(f.weights.rule_met for f in whole):
            budget = self.time_budget if time_is_up() else None
            reached = worst(f.certificate for f in whole)
            warn_user(not_converged(type(self).__name__, reached, self.n_iter_, budget), ConvergenceWarning)

    def _publish_certificate(self, fitted: Sequence[Fitted], single: bool) -> None:
        """The value of each problem, a bound of its optimum where one is known, and whether all certificates are small.

        ``duality_gap_`` is the largest of the certificates, or ``stationarity_`` where no bound of an optimum is known.
        """
        for name in {"duality_gap_", "stationarity_", "objective_bound_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        objectives, bounds = [f.weights.objective for f in fitted], [f.weights.bound for f in fitted]
        self.objective_: Any = objectives[0] if single else np.array(objectives)
        if None not in bounds:
            self.objective_bound_: Any = bounds[0] if single else np.array(bounds)
        certificate, tol = worst(f.certificate for f in fitted), getattr(self, "tol", None)
        setattr(self, f"{certificate.kind.replace(' ', '_')}_", certificate.value)
        self.converged_ = all(f.converged(tol) for f in fitted)
