"""Parameters given as "auto": the value of least held-out error, searched on the bank of the fit.

The candidates are multiples of a unit, which the estimator computes from the kernels' size and the target's spread, so
that the choice does not depend on the units of kernels and targets. The search starts at the middle candidate, tries
every second one while the error falls, and then those next to the best. Each fit starts from the nearest earlier one.

Errors are those of a few folds. Equal samples are in the same fold, and the folds do not depend on the order of the
samples, so that a sample of weight two counts like two equal samples. Of more than ``SEARCHED_SAMPLES`` samples, so
many are selected, spread evenly over targets and kernel values. What they choose is a multiple of their unit; all
samples get the same multiple of theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier

from multikernel._arrays import part_of
from multikernel._folds import UNDECIDED, Resampling, complete, pairs_of
from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel._warnings import PredictionWarning, keeping, warn_user
from multikernel._workers import check_interrupted, time_is_up, warn_of_cut_choice
from multikernel.banks import KernelBank
from multikernel.certificate import ROUGH
from multikernel.combinations import Combination
from multikernel.domains import Domain
from multikernel.estimators.parameters import AUTO
from multikernel.estimators.protocol import Model
from multikernel.estimators.targets import loss_weight, losses
from multikernel.persistence.checkpoint import UNKEPT, Checkpoint
from multikernel.procedures.units import kernel_size, spread

SEARCH_FOLDS = 3  # fewer than elsewhere, because every candidate is fitted on each of them
Estimator = TypeVar("Estimator", bound=Model)

SEARCHED_SAMPLES = 500  # the largest number of samples on which candidates are compared
TUBE = 0.1  # of the spread of the target: residuals that cost nothing where epsilon is "auto"
RIDGES = np.geomspace(1e4, 1e-6, 16)  # of a kernel whose mean self-value is 1
MARGINS = np.geomspace(1e2, 1e-4, 10)
LOSS_WEIGHTS = np.geomspace(1e-2, 1e4, 10)


def ridges(size: float) -> Array:
    """Candidates for what is added to the diagonal of a kernel with this mean self-value."""
    return np.asarray(size * RIDGES)


def loss_weights(size: float, spread: float = 1.0) -> Array:
    """Candidates for C with a kernel of this mean self-value and a target of this spread."""
    return np.asarray(spread / size * LOSS_WEIGHTS)


def lam_candidates(size: float) -> Array:
    """Candidates for lam of a margin machine with a kernel of this mean self-value: lam / (1 - lam) is a ridge."""
    odds = size * MARGINS
    return np.asarray(odds / (1.0 + odds))


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a bank.

    Parameters
    ----------
    bank : KernelBank of these samples, against themselves or against others
    target : array (r,) or (r, t)
    weight : array (r,) >= 0, factors of their losses; None where all are 1
    unit : float > 0, by which numeric targets are divided where losses are compared
    resampling : how these samples are held out
    """

    bank: KernelBank
    target: Array
    weight: Array | None
    unit: float = 1.0
    resampling: Resampling = UNDECIDED

    def of(self, rows: Array, columns: Array) -> Samples:
        """The samples of these rows, against the samples of these columns."""
        weight = part_of(self.weight, rows)
        block = self.bank.block(rows, columns)
        if rows is columns:
            block = block.compact()
        return Samples(block, self.target[rows], weight, self.unit, self.resampling.among(rows))

    def error(self, model: Model, values: Array) -> float:
        """The weighted sum of the losses of function values of shape (r, problems)."""
        return float(self.losses(model, values).sum())

    def losses(self, model: Model, values: Array) -> Array:
        """The weighted losses of function values of shape (r, problems), shape (r,)."""
        target = self.target if self.unit == 1.0 else self.target / self.unit
        return np.asarray(self.weight_of_each * losses(model, values / self.unit, target))

    @property
    def weight_of_each(self) -> Array:
        """The weight of each sample, also where all are 1."""
        if self.weight is None:
            return np.ones(len(self.target))
        return self.weight

    @property
    def size(self) -> float:
        """The mean self-value of the kernels that are not zero, or the mean distance; 1 where all are zero."""
        if self.weight is None:
            return kernel_size(self.bank)
        share = self.weight / self.weight.sum()
        sizes = self.bank.diagonal() @ share
        if not sizes.any():
            sizes = self.bank.quad(share)
        if not sizes.any():
            return 1.0
        return float(sizes[sizes > 0].mean())

    @property
    def spread(self) -> float:
        """The standard deviation of the target, or its size where it is constant."""
        if self.weight is None:
            return spread(self.target)
        Y, share = as_columns(self.target), self.weight / self.weight.sum()
        return float(np.sqrt((share @ (Y - share @ Y) ** 2).mean())) or spread(self.target)


def combined_size(combination: Combination, domain: Domain, samples: Samples) -> float:
    """The mean self-value of the combined kernel at the initial weights; 1 where it is zero or not finite.

    Parameters
    ----------
    combination, domain : how weights make a kernel, and the set of allowed weights
    samples : Samples
    """
    start = domain.start(combination.n_parameters(samples.bank))
    with np.errstate(over="ignore"):  # powers that overflow are refused where the problem is solved
        size = float(np.average(combination.gram(samples.bank, start).diagonal(), weights=samples.weight_of_each))
    return size if 0.0 < size < np.inf else 1.0


def with_parameters(model: Estimator, **values: Any) -> Estimator:
    """A copy of the model with these parameters."""
    other = copy(model)
    for name, value in values.items():
        setattr(other, name, value)
    return other


# -- the searches of estimators ----------------------------------------------------------------------------------------


def no_names(model: Model) -> tuple[str, ...]:
    """Return no names: no parameter may be "auto"."""
    return ()


def no_candidates(model: Model, name: str, samples: Samples) -> Array:
    """Raise NotImplementedError: the estimator has no parameters that are searched."""
    raise NotImplementedError(f"{type(model).__name__} has no candidates for {name}")


def no_rule(model: Model, samples: Samples) -> dict[str, Any]:
    """Return no values: all parameters that are "auto" are searched."""
    return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The regularisation parameters, which may be "auto", and how their values are then chosen.

    Parameters
    ----------
    names : (model) -> names of the parameters, in the order in which they are chosen
    candidates : (model, name, samples) -> array
        The values to search, the simplest model first; their number does not depend on the bank.
    rules : (model, samples) -> dict
        The values of parameters that are "auto" and follow from a rule; the others are searched by held-out error.
    by_rule : names of the parameters that a rule always determines
    fold : (model, name, learn, train, test) -> Fold
        How candidates are compared on one fold; the bank of ``test`` is that of its samples against those of ``train``.
    """

    names: Callable[[Any], tuple[str, ...]] = no_names
    candidates: Callable[[Any, str, Samples], Array] = no_candidates
    rules: Callable[[Any, Samples], dict[str, Any]] = no_rule
    by_rule: tuple[str, ...] = ()
    fold: Callable[[Any, str, Any, Samples, Samples], Fold] | None = None

    def automatic(self, model: Model) -> list[str]:
        """The names of the parameters that are "auto"."""
        return [name for name in self.names(model) if AUTO.accepts(getattr(model, name))]

    def searched(self, model: Model) -> list[str]:
        """The names of the parameters that are "auto" and searched by held-out error."""
        return [name for name in self.automatic(model) if name not in self.by_rule]

    def numbers(self, model: Model) -> dict[str, Any]:
        """The values of all regularisation parameters, after "auto" was replaced by numbers."""
        return {name: getattr(model, name) for name in self.names(model)}


NO_SEARCH = Search()


def names_of(*names: str) -> Callable[[Any], tuple[str, ...]]:
    """A function that always returns these names."""
    return lambda model: names


# -- the search --------------------------------------------------------------------------------------------------------


def choose_parameters(
    model: Model,
    learn: Any,
    bank: KernelBank,
    target: Array,
    weight: Array | None,
    checkpoint: Checkpoint = UNKEPT,
    resampling: Resampling = UNDECIDED,
) -> Model:
    """The model itself, or a copy with numbers where parameters are "auto".

    Parameters
    ----------
    model : an estimator
    learn : how the model solves a task
    bank : square KernelBank of n samples
    target : array (n,) or (n, t), or labels
    weight : array (n,) >= 0, weights of the samples; 1 if not given
    checkpoint : where the chosen numbers are saved
    resampling : how samples are held out
    """
    if not model._method.search.automatic(model):
        return model
    numbers = checkpoint.part("parameters", lambda: chosen_numbers(model, learn, bank, target, weight, resampling))
    return with_parameters(model, **numbers)


def chosen_numbers(
    model: Model, learn: Any, bank: KernelBank, target: Array, weight: Array | None, resampling: Resampling
) -> dict[str, float]:
    """The values of all regularisation parameters, with numbers chosen for those that are "auto"."""
    search = model._method.search
    unit = 1.0 if is_classifier(model) else spread(target)
    samples = Samples(bank, target, loss_weight(model, target, weight), unit, resampling)
    rules = search.rules(model, samples)
    if rules:
        model = with_parameters(model, **rules)
    names = search.automatic(model)
    for k, name in enumerate(names):  # one after the other; later parameters have their middle candidate meanwhile
        later = {other: float(np.median(search.candidates(model, other, samples))) for other in names[k + 1 :]}
        index = best_candidate(with_parameters(model, **later), name, learn, samples)
        model = at_candidate(model, name, samples, index)
    return search.numbers(model)


def best_candidate(model: Model, name: str, learn: Any, samples: Samples) -> int:
    """The number of the candidate of least held-out error; the middle one where all errors are infinite.

    Where the time ends the search, a warning says which candidates were not compared.
    """
    search = model._method.search
    candidates = search.candidates(model, name, samples)
    model = with_parameters(model, class_weight=None)  # the weights of ``samples`` contain it
    count = len(candidates)
    middle = count // 2
    errors = np.full(count, np.inf)
    if time_is_up():
        _warn_of_cut_search(model, name, candidates, errors, middle)
        return middle
    fold = search.fold or full_fits
    folds = [fold(model, name, learn, *pair) for pair in search_folds(samples, is_classifier(model))]

    def improves(index: int, gain: float = 0.0) -> bool:
        """Compute a candidate's error; return whether it is lower than the least one so far by this share of it."""
        check_interrupted()
        least_error = errors.min()
        errors[index] = _error(folds, index)
        return bool(errors[index] <= (1.0 - gain) * least_error) and not time_is_up()

    def best() -> int:
        """The simplest candidate within 1/1000 of the least error: rough fits do not distinguish these."""
        return int(np.argmax(errors <= 1.001 * errors.min()))

    if folds and improves(middle):
        # every second candidate is tried first, and then those next to the best of them;
        # a more complex model has to lower the error by 1/100, a simpler one only has to be as good
        for index in range(middle + 2, count, 2):
            if not improves(index, 0.01):
                break
        if best() == middle:
            for index in range(middle - 2, -1, -2):
                if not improves(index):
                    break
        chosen = best()
        for index in (chosen - 1, chosen + 1):
            if 0 <= index < count and not time_is_up():
                improves(index)
    chosen = best() if np.isfinite(errors).any() else middle
    if time_is_up():
        _warn_of_cut_search(model, name, candidates, errors, chosen)
    elif folds and not np.isfinite(errors).any():
        warn_user(
            f"{type(model).__name__}: no candidate for {name}='auto' could be fitted to a part of the samples, so that "
            f"{candidates[chosen]:.2g} is the one in the middle; give {name} a number",
            PredictionWarning,
        )
    return chosen


def _warn_of_cut_search(model: Model, name: str, candidates: Array, errors: Array, chosen: int) -> None:
    """Warn that the search had no time for all candidates, and say which one it takes."""
    compared = int(np.isfinite(errors).sum())
    role = "the best of these" if compared else "the middle one of them"
    warn_of_cut_choice(
        f"{type(model).__name__} compared {compared} of {len(candidates)} candidates for {name}='auto', from "
        f"{candidates.min():.2g} to {candidates.max():.2g}, and takes {candidates[chosen]:.2g}, {role}"
    )


def _error(folds: Sequence[Fold], index: int) -> float:
    """The held-out error of a candidate; infinite where time does not suffice for all folds."""
    errors_of_folds = []
    for fold in folds:
        if time_is_up():
            return float("inf")
        errors_of_folds.append(fold.errors(index))
    return float(np.sum(errors_of_folds, axis=0).min())


class Fold(ABC):
    """A fold, on which candidates of a parameter are compared: fits to its training samples, losses on the others."""

    @abstractmethod
    def errors(self, index: int) -> Any:
        """The weighted sum of the losses for this candidate.

        It may be several sums, of models among which the best is taken: their least total over all folds counts.
        """


@dataclass(eq=False)
class FullFits(Fold):
    """Fits of the model itself, each started from that of the nearest candidate; their solutions are kept.

    Parameters
    ----------
    model : the estimator, with the tolerance to compare with
    name : the parameter that is searched
    learn : how the model solves a task
    train, test : Samples; the bank of ``test`` is that of its samples against those of ``train``
    fits : what each fit returned, by the number of its candidate
    """

    model: Model
    name: str
    learn: Any
    train: Samples
    test: Samples
    fits: dict[int, Any] = field(default_factory=dict)

    def errors(self, index: int) -> float:
        """The weighted sum of the losses; infinite where the fit fails."""
        model = at_candidate(self.model, self.name, self.train, index)
        if self.fits:
            earlier = self.fits[min(self.fits, key=lambda other: abs(other - index))]
        else:
            earlier = ()
        train, test = self.train, self.test
        try:
            self.fits[index], _ = keeping(
                lambda: model.fit_bank(
                    train.bank,
                    train.target,
                    earlier,
                    train.weight,
                    self.learn,
                    exact=False,
                    resampling=train.resampling,
                )
            )
        except (ValueError, ArithmeticError):
            return float("inf")
        return test.error(model, model.predictor_.values(test.bank))


def full_fits(model: Model, name: str, learn: Any, train: Samples, test: Samples) -> Fold:
    """The fold of an estimator without a faster way to compare candidates."""
    return FullFits(roughly(model), name, learn, train, test)


def roughly(model: Estimator) -> Estimator:
    """The model with a tolerance that is sufficient to compare candidates."""
    tol = max(ROUGH, getattr(model, "tol", 0.0))
    return with_parameters(model, tol=tol, verbose=0, probability=None, time_budget=None)


def at_candidate(model: Estimator, name: str, samples: Samples, index: int) -> Estimator:
    """The model with the candidate of this number, in the unit of these samples."""
    return with_parameters(model, **{name: float(model._method.search.candidates(model, name, samples)[index])})


# -- folds -------------------------------------------------------------------------------------------------------------


def search_folds(samples: Samples, classes: bool) -> Iterator[tuple[Samples, Samples]]:
    """Training and test samples of folds, each with its share of every class, or of the range of the target.

    There are no folds where the samples are too few. Rows with equal targets and kernel values are recognised by their
    ``key``, the target, sum_j K_ij u_j for uneven weights u, and the self-value, with K the sum of the kernels.

    Raises
    ------
    ValueError : where groups or given folds leave no training samples of every class
    """
    weighted_rows = np.flatnonzero(samples.weight_of_each > 0)
    targets = np.unique(samples.target, return_inverse=True)[1].reshape(len(samples.target), -1)
    gram = samples.bank.combine(np.ones(len(samples.bank)))
    # with equal weights the sums would be 0 for centred features
    uneven = 1.0 + targets[:, 0] / targets[:, 0].max(initial=1)
    image = gram.multiply(samples.weight_of_each * uneven)
    key = np.column_stack([targets, _rounded(image), _rounded(gram.diagonal())])[weighted_rows]
    unique, key_of_row = np.unique(key, axis=0, return_inverse=True)
    key_of_row = np.ravel(key_of_row)
    n_folds = samples.resampling.count or SEARCH_FOLDS
    chosen = _spread_evenly(unique[:, 0], n_folds if classes else 0)
    is_chosen = chosen[key_of_row]
    rows = weighted_rows[is_chosen]
    fold = (np.cumsum(chosen) - 1)[key_of_row[is_chosen]]
    if samples.resampling.decided:
        labels = np.zeros(len(rows), dtype=int)
        if classes:
            labels = targets[rows, 0]
        pairs = complete(samples.resampling.among(rows).folds(labels, SEARCH_FOLDS, np.random.default_rng(0)), labels)
        if not pairs:
            raise ValueError(
                "a parameter is 'auto', and every fold leaves out all samples of a class: give groups or cv of which "
                "some leave a part of each class to learn from, or give the parameter a number"
            )
    else:
        if classes:
            smallest = np.unique(unique[:, 0], return_counts=True)[1].min()
        else:
            smallest = len(unique) // 2
        count = min(n_folds, int(smallest))
        pairs = pairs_of(fold % count) if count > 1 else []
    for train, test in pairs:
        yield samples.of(rows[train], rows[train]), samples.of(rows[test], rows[train])


def _spread_evenly(classes: Array, minimum: int) -> Array:
    """A selection of many distinct samples, ordered by their class: at regular distances, and some of every class.

    Parameters
    ----------
    classes : int array (u,), increasing
    minimum : int, how many samples of each class are selected at least, if it has so many

    Returns
    -------
    bool array (u,)
    """
    chosen = np.arange(len(classes)) % -(-len(classes) // SEARCHED_SAMPLES) == 0
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        count = min(minimum, len(members))
        if chosen[members].sum() < count:
            chosen[members] = False
            chosen[members[np.linspace(0, len(members) - 1, count).round().astype(int)]] = True
    return chosen


def _rounded(values: Array) -> Array:
    """Values rounded to nine digits of the largest one, so that rounding errors do not separate equal samples."""
    top = float(np.abs(values).max(initial=0.0))
    if 0.0 < top < np.inf:
        return np.round(values / top, 9)
    return np.zeros(len(values))
