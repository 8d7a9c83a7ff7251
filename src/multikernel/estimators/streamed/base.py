"""Estimators with squared losses on approximate kernels: what they learn follows from sums over the samples.

The features of the kernels are settled by the first samples that a model sees: kernels learn their widths and scales
from these, and landmarks are chosen among them. Each further row adds to the sums, and costs no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from multikernel._arrays import host
from multikernel._rules import shown
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, warn_user
from multikernel._workers import limited
from multikernel.banks import KernelBank
from multikernel.banks.low_rank import LowRankBank
from multikernel.estimators.approximated import ApproximateEstimator
from multikernel.estimators.parameters import AUTO
from multikernel.estimators.posterior import Posterior
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.ridge_model import RidgeModel
from multikernel.estimators.streamed import checkpoint, solving
from multikernel.estimators.streamed.given import beyond, given, sampled
from multikernel.estimators.streamed.parts import parts
from multikernel.estimators.streamed.progress import pace
from multikernel.estimators.streamed.rows import Pass, absent_cell, earlier, first_absent, less, merged, over
from multikernel.estimators.streamed.state import Sample, State
from multikernel.estimators.unchanged import unchanged_unless_done
from multikernel.observer import Observer
from multikernel.persistence.digest import digest
from multikernel.statistics import Moments
from multikernel.streams import Chunk, Source, survey

_SAMPLE = 2000  # rows that settle the features, at least
_TIMES = 4  # or so many times the rank
_SETTLED = frozenset({"kernels", "approximation", "rank", "cv", "class_weight"})  # what features and sums depend on
_MATRICES = 7  # of all features against each other that a fit holds beside the sums, at most
_BESIDE = 8e7  # bytes of what is read, of its features, and of what libraries take


def _approximates(model: Any) -> bool:
    if model.approximation is None:
        raise AttributeError(
            f"{type(model).__name__} learns chunk by chunk on approximate kernels: give approximation='nystroem'"
        )
    return True


class StreamedEstimator(ApproximateEstimator, RidgeModel):
    """An estimator that can learn from sums over samples."""

    _state: State | None = None  # the sums of a model that learns from them
    _solved_last: Sequence[Fitted] = ()

    # -- what a subclass says ------------------------------------------------------------------------------------------

    def _learn_sums(
        self,
        bank: KernelBank,
        task: Task,
        held: tuple[Moments, ...],
        sample: tuple[LowRankBank, Task, Array],
        warm: Fitted | None,
        observe: Observer,
    ) -> Learned:
        """Solve one problem.

        Parameters
        ----------
        bank : LowRankBank of few samples that have the sums of all
        task : their targets, less the means
        held : the sums of each fold over all samples
        sample : the bank, the task and the folds of some of the first rows
        warm : the solution for similar sums
        observe : told of each step
        """
        return self._learn(bank, task, _without_variables(warm), observe)

    def _folds_of_rows(self) -> int:
        """How many sums are kept, of rows that are held out together."""
        return 1

    def _kept_factors(self, q: int) -> float:
        """Bytes of factors of order q that steps keep, at most."""
        return 0.0

    def _check_sums(self) -> None:
        """ValueError where the problem does not follow from sums."""
        name = type(self).__name__
        if self.approximation is None:
            raise ValueError(
                f"{name} learns chunk by chunk on approximate kernels: give approximation='nystroem', and a rank"
            )
        cv = getattr(self, "cv", None)
        if cv is not None and not isinstance(cv, Integral):
            raise ValueError(
                f"{name} learns from sums over the rows, which are held out by what they hold: give cv as a number of "
                f"folds, got {shown(cv)}"
            )
        refused = {
            "probability": "probabilities are calibrated on held-out rows, which are not kept: leave probability out",
            "class_weight": "weights of classes that are 'balanced' need all rows: give a dict of weights",
            "multiclass": "pairs of classes have sums of their own: use multiclass='ovr' or 'shared'",
        }
        for parameter, why in refused.items():
            value = getattr(self, parameter, None)
            taken = value in (None, "ovr", "shared") or (parameter == "class_weight" and isinstance(value, dict))
            if not taken:
                raise ValueError(f"{name} learns from sums over the rows, and {why}")

    # -- chunk after chunk ---------------------------------------------------------------------------------------------

    @available_if(_approximates)  # type: ignore[untyped-decorator]
    @unchanged_unless_done
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None) -> Self:
        """Learn from further samples, beside all that were given before.

        The first samples settle the features: they should be at least four times as many as ``rank``, and like those
        that follow. The model is then the one of all samples so far, on these features. Where the first call has fewer
        samples than ``rank``, a warning says so: widths and landmarks of a few samples serve those that follow badly.

        Parameters that the first call settles cannot be changed afterwards: ``kernels``, ``approximation``, ``rank``,
        ``cv``, ``class_weight``, and numbers that are "auto", or are to be. Others, such as ``alpha`` as a number, may
        be, and the next call then solves the problem of all samples so far with their new values; ``random_state``
        draws landmarks at the first call only.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings
        y : their targets, as ``fit`` takes them
        sample_weight : array (n,) >= 0, what the squared loss of each sample is multiplied with
        classes : of a classifier, all labels that will come, at the first call; by default those of its y. Later calls
            may repeat them.

        Raises
        ------
        ValueError : where samples, targets, weights or labels do not fit those before, a sample is too large for sums,
            or a parameter was changed that the first call settled; the model is then what it was before the call
        """
        self.check_parameters()
        self._check_sums()
        chunk = given(X, y, sample_weight)
        with limited(self.time_budget):
            state = self._state
            self._check_classes(state, classes)
            if state is None:
                self._warn_of_few(len(chunk))
                state = self._begun(sampled(chunk, self._sample_size), classes)
            self._check_settled(state)
            sums = self._pass(state).of(chunk)
            known = merged(state.sums, sums) if state.sums else sums
            if sum(each.count for each in known) <= 0.0:
                raise ValueError(f"{type(self).__name__}: every sample has weight 0; give some of them a weight")
            self._learn_state(replace(state, sums=known, rows=state.rows + len(chunk)))
        return self

    @available_if(_approximates)  # type: ignore[untyped-decorator]
    @unchanged_unless_done
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take samples off again, which ``fit`` from a source or ``partial_fit`` was given with the same weights.

        The model keeps sums over the samples, and no sample. So samples that were never given are refused only where no
        samples could have the sums that are left; others go unnoticed, and the model is then one of no samples that
        were given. Keep what was given where that may happen.

        Parameters
        ----------
        X, y, sample_weight : as in ``partial_fit``

        Raises
        ------
        ValueError : where no sample would be left, the samples cannot be among those that were given, or a parameter
            was changed that the first samples settled; the model is then what it was before the call
        """
        check_is_fitted(self)
        if self._state is None:
            raise ValueError(
                f"{type(self).__name__}: samples are taken off a model that learned by partial_fit or from a source; "
                "this one keeps no sums"
            )
        self._check_settled(self._state)
        chunk = given(X, y, sample_weight)
        left = self._state.rows - len(chunk)
        sums = less(self._state.sums, self._pass(self._state).of(chunk))
        if left < 2 or sum(each.count for each in sums) <= 0.0:
            raise ValueError(f"{type(self).__name__}: {len(chunk)} of {self._state.rows} samples cannot be taken off")
        if any(beyond(each, before) for each, before in zip(sums, self._state.sums, strict=True)):
            raise ValueError(f"{type(self).__name__}: these {len(chunk)} samples are not among those that were given")
        with limited(self.time_budget):
            self._learn_state(replace(self._state, sums=sums, rows=left))
        return self

    # -- from a source -------------------------------------------------------------------------------------------------

    def _fit_source(self, source: Source, y: Any = None, groups: Any = None) -> Self:
        """Two passes over the rows: a look at them, and the sums."""
        if groups is not None:
            raise ValueError(
                f"{type(self).__name__}: groups of rows that are read in chunks are not held out together: read the "
                "rows into an array, or leave groups out"
            )
        if y is not None:
            raise ValueError(f"{type(self).__name__}: a source holds its target: name it where the source is made")
        self._check_sums()
        self._state, self._solved_last = None, ()
        seen = survey(source, self._sample_size, seed=self._random_seed())
        if is_classifier(self) and seen.classes is None and seen.sample.y is not None:
            raise ValueError(f"{type(self).__name__}: the target has more than 10,000 values, which are no classes")
        if seen.sample.y is None:
            raise ValueError(f"{type(self).__name__}: the source has no target; name it where the source is made")
        try:
            state = self._begun(seen.sample, seen.classes)
        except ValueError as error:
            if seen.sample.first_absent() is None:
                raise
            raise absent_cell(source.over(first_absent, earlier)) from error
        self._check_budget(state, source.budget)
        sums = self._summed(self._pass(state), source, seen.rows, seen.sample)
        self._learn_state(replace(state, sums=sums, rows=seen.rows))
        if source.checkpoint is not None:
            Path(source.checkpoint).unlink(missing_ok=True)
        return self

    def _summed(self, rows: Pass, source: Source, known: int, sample: Chunk) -> tuple[Moments, ...]:
        """The sums over all rows, from a checkpoint on where there is one."""
        if source.together:
            return source.over(partial(over, rows), merged)
        done, sums, path = 0, rows.nothing(), None
        key, probe = "", np.zeros(0)
        if source.checkpoint is not None:
            path, key, probe = Path(source.checkpoint), checkpoint.key_of(self, source), checkpoint.probe(rows, sample)
            done, sums = checkpoint.read(path, key, probe, rows)
        told, written = pace(self, known, done), done
        for chunk in source.chunks(done):
            rows.add(sums, chunk)
            done += len(chunk)
            told(done)
            if path is not None and done - written >= source.every:
                checkpoint.write(path, key, probe, done, sums)
                written = done
        return tuple(each.moments() for each in sums)

    def _check_budget(self, state: State, budget: float) -> None:
        """MemoryError where the sums alone would take more than the budget."""
        q, m = int(state.bank.n_features), len(state.bank)
        matrices = _MATRICES + self._folds_of_rows()
        beside = _BESIDE + self._kept_factors(q)
        needed = 8.0 * q * q * matrices + 8.0 * q * len(state.sample.Y) + beside
        if needed > budget:
            most = int(np.sqrt(max(budget - beside, 0.0) / (8.0 * matrices)) / m * 0.9)
            raise MemoryError(
                f"{type(self).__name__}: sums over {q} features of {m} kernels, and a fit to them, take up to "
                f"{needed / 1e9:.3g} GB, and the source is given {budget / 1e9:.3g} GB: give it "
                f"memory='{np.ceil(needed / 1e8) / 10:.1f}GB', or take rank={max(most, 1)} or fewer kernels"
            )

    # -- both ----------------------------------------------------------------------------------------------------------

    @property
    def _sample_size(self) -> int:
        return max(_SAMPLE, _TIMES * int(self.rank))

    def _warn_of_few(self, first: int) -> None:
        """Warn where the samples that settle the features are fewer than the features are to be."""
        if first < int(self.rank):
            warn_user(
                f"{type(self).__name__}: the first {first} samples settle widths, scales and landmarks of the kernels, "
                f"and rank={self.rank} asks for more: give the first partial_fit {_TIMES * int(self.rank)} of them or "
                "more",
                PredictionWarning,
            )

    def _check_classes(self, state: State | None, classes: Any) -> None:
        """ValueError where labels are given to a regressor, or are not those of the first call."""
        if classes is None:
            return
        name = type(self).__name__
        if not is_classifier(self):
            raise ValueError(f"{name} predicts numbers, which are of no class: leave classes out")
        if np.ndim(classes) != 1:
            raise ValueError(f"{name}: classes must be a list of labels, got {shown(classes)}")
        known = None if state is None else state.classes
        if known is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise ValueError(
                f"{name}: classes={shown(classes)} are not those of the first samples, {shown(known)}: leave "
                "classes out, or begin anew with a clone of the model"
            )

    def _settled(self) -> dict[str, str]:
        """Digests of the parameters on which features and sums depend, by name."""
        parameters = self.get_params(deep=False)
        found = {}
        for name in _SETTLED.intersection(parameters):
            try:
                found[name] = digest(parameters[name])
            except TypeError:  # of this one nobody can tell whether it was changed
                continue
        return found

    def _check_settled(self, state: State) -> None:
        """ValueError where a parameter was changed that the first samples settled."""
        now = self._settled()
        changed = [name for name, own in state.settled.items() if now.get(name, own) != own]
        automatic = {name for name in self._regularises() if AUTO.accepts(getattr(self, name))}
        changed += automatic.symmetric_difference(state.numbers)
        if changed:
            raise ValueError(
                f"{type(self).__name__}: {min(changed)} was changed after the first samples, which settled it: set it "
                "back, or begin anew with a clone of the model"
            )

    def _begun(self, sample: Chunk, classes: Any) -> State:
        """The features that a sample settles."""
        if is_classifier(self):
            classes = np.unique(np.asarray(sample.y if classes is None else classes))
            if len(classes) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs samples of at least two classes, got one: {classes[0]!r}"
                )
        else:
            classes = None
        method = self.approximation
        try:
            if method == "auto":
                self.approximation = "nystroem"
            bank, y = self.bind(sample.X, sample.y)
        finally:
            self.approximation = method
        if not isinstance(bank, LowRankBank) or self._samples_bound is None:
            raise ValueError(f"{type(self).__name__} learns chunk by chunk from samples, and not from kernel matrices")
        self._samples_bound = None
        flat = np.ndim(y) == 1
        reference = bank.reference(np.arange(0))
        own = Pass(self, reference, classes, 1 if flat else y.shape[1], self._folds_of_rows())
        own = own if classes is None or len(classes) == 2 else replace(own, targets=len(classes))
        Y = own.numbers(replace(sample, y=y))
        few = slice(_SAMPLE)
        weight = own.weight(sample)
        fold = parts(own.samples(sample), Y, own.folds)[few]
        rows = Sample(host(bank.bank.F)[few], Y[few], y[few], None if weight is None else weight[few], fold)
        numbers = solving.numbers(self, reference, rows)
        return State(reference, classes, flat, rows, numbers=numbers, settled=self._settled())

    def _pass(self, state: State) -> Pass:
        return Pass(self, state.bank, state.classes, state.sample.Y.shape[1], self._folds_of_rows())

    def _learn_state(self, state: State) -> None:
        """The model of sums."""
        self._state = state
        if state.classes is not None:
            self.classes_ = state.classes
        self._solved_last = solving.solve(self, state, self._solved_last)
        self.dual_coef_ = np.zeros((*np.shape(self.dual_coef_)[:-1], 0))  # no training sample is kept

    def _posterior_of(self, bank: KernelBank, fitted: Sequence[Fitted]) -> Posterior | None:
        return super()._posterior_of(bank, fitted) if self._state is None else None

    def _begin(self, y: Any) -> None:
        super()._begin(y)
        self._state, self._solved_last = None, ()

    def _random_seed(self) -> int:
        return int(check_random_state(getattr(self, "random_state", None) or 0).randint(np.iinfo(np.int32).max))


def _without_variables(warm: Fitted | None) -> Fitted | None:
    """The weights of an earlier solution alone: its variables are of other coordinates."""
    return None if warm is None else replace(warm, solution=replace(warm.solution, warm=cast(Array, None)))
