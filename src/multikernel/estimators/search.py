"""Parameters given as "auto": the value of least held-out error, searched on the bank that the fit is on.

The candidates are multiples of a unit, which the estimator computes from the kernels' size and the target's spread: the
choice follows kernels and targets into other units. They are tried from one in the middle on, every other one while the
error falls, and then those beside the best, each fit started from the nearest. Held out is what each of a few folds
leaves out; samples that are equal are in one fold, and the folds do not depend on the order of the samples, so that a
sample of weight two counts as one that is there twice. Beyond ``SEARCHED_SAMPLES`` as many of them, spread evenly over
targets and kernel values, choose for all: the same multiple of the unit is then that of the bank of all samples.
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

SEARCH_FOLDS = 3  # fewer than elsewhere: every candidate is fitted in each
Estimator = TypeVar("Estimator", bound=Model)

SEARCHED_SAMPLES = 500  # that choose at most
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
    """Some samples of a bank.

    Parameters
    ----------
    bank : KernelBank of them, against themselves or against others
    target : array (r,) or (r, t)
    weight : array (r,) >= 0, what their losses are multiplied with; None where that is 1
    unit : float > 0, what numeric targets are divided by where losses are compared
    resampling : how these samples are held out
    """

    bank: KernelBank
    target: Array
    weight: Array | None
    unit: float = 1.0
    resampling: Resampling = UNDECIDED

    def of(self, rows: Array, columns: Array) -> Samples:
        """Some of the samples, against some of them."""
        weight = part_of(self.weight, rows)
        part = self.bank.block(rows, columns)
        if rows is columns:
            part = part.compact()
        return Samples(part, self.target[rows], weight, self.unit, self.resampling.among(rows))

    def error(self, model: Model, values: Array) -> float:
        """The weighted sum of the losses of function values of shape (r, problems)."""
        return float(self.losses(model, values).sum())

    def losses(self, model: Model, values: Array) -> Array:
        """The weighted losses of function values of shape (r, problems), shape (r,)."""
        target = self.target if self.unit == 1.0 else self.target / self.unit
        return np.asarray(self.share * losses(model, values / self.unit, target))

    @property
    def share(self) -> Array:
        """The weights as numbers."""
        if self.weight is None:
            return np.ones(len(self.target))
        return self.weight

    @property
    def size(self) -> float:
        """The mean self-value of the kernels that are not zero; of distances their mean; 1 where all are zero."""
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


def combined_size(combination: Combination, domain: Domain, whole: Samples) -> float:
    """The mean self-value of the combined kernel where a search over its weights begins; 1 where it is no such number.

    Parameters
    ----------
    combination, domain : how weights make a kernel, and where they live
    whole : the samples
    """
    start = domain.start(combination.n_parameters(whole.bank))
    with np.errstate(over="ignore"):  # powers beyond the range of numbers are refused where the problem is solved
        size = float(np.average(combination.gram(whole.bank, start).diagonal(), weights=whole.share))
    return size if 0.0 < size < np.inf else 1.0


def with_parameters(model: Estimator, **values: Any) -> Estimator:
    """A copy of the model with these parameters."""
    other = copy(model)
    for name, value in values.items():
        setattr(other, name, value)
    return other


# -- what an estimator says --------------------------------------------------------------------------------------------


def no_names(model: Model) -> tuple[str, ...]:
    """Return no names: no parameter regularises."""
    return ()


def no_candidates(model: Model, name: str, whole: Samples) -> Array:
    """An estimator without parameters that are searched has none."""
    raise NotImplementedError(f"{type(model).__name__} has no candidates for {name}")


def no_rule(model: Model, whole: Samples) -> dict[str, Any]:
    """Return no values: all parameters that are "auto" are searched."""
    return {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The parameters that regularise and may be "auto", and how their values are found.

    Parameters
    ----------
    names : (model) -> names of the parameters, in the order in which they are chosen
    candidates : (model, name, samples) -> array
        The values to search, the simplest model first; as many of them whatever the bank.
    rules : (model, samples) -> dict
        The values of those that are "auto" and follow from a rule; the others are searched by held-out error.
    by_rule : names of the parameters that a rule always settles
    fold : (model, name, learn, train, test) -> Fold
        How candidates are tried on one fold; ``test`` holds its samples against those of ``train``.
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
        """Those of them whose value is searched by held-out error."""
        return [name for name in self.automatic(model) if name not in self.by_rule]

    def numbers(self, model: Model) -> dict[str, Any]:
        """The values of all of them, where numbers are in the place of "auto"."""
        return {name: getattr(model, name) for name in self.names(model)}


NO_SEARCH = Search()


def names_of(*names: str) -> Callable[[Any], tuple[str, ...]]:
    """Always these names."""
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
    learn : how it solves a task
    bank : square KernelBank of n samples
    target : array (n,) or (n, t), or labels
    weight : array (n,) >= 0, weights of the samples; 1 if not given
    checkpoint : where the numbers are kept once they are found
    resampling : how samples are held out
    """
    if not model._method.search.automatic(model):
        return model
    found = checkpoint.part("parameters", lambda: parameters_found(model, learn, bank, target, weight, resampling))
    return with_parameters(model, **found)


def parameters_found(
    model: Model, learn: Any, bank: KernelBank, target: Array, weight: Array | None, resampling: Resampling
) -> dict[str, float]:
    """The numbers of all parameters that regularise."""
    search = model._method.search
    unit = 1.0 if is_classifier(model) else spread(target)
    whole = Samples(bank, target, loss_weight(model, target, weight), unit, resampling)
    rules = search.rules(model, whole)
    if rules:
        model = with_parameters(model, **rules)
    names = search.automatic(model)
    for k, name in enumerate(names):  # one after the other, those that come later at their middle
        later = {each: float(np.median(search.candidates(model, each, whole))) for each in names[k + 1 :]}
        place = best_place(with_parameters(model, **later), name, learn, whole)
        model = at_candidate(model, name, whole, place)
    return search.numbers(model)


def best_place(model: Model, name: str, learn: Any, whole: Samples) -> int:
    """Which candidate has the least held-out error; the one in the middle where none is better than another.

    Where the time ends the search, a warning says which candidates were not compared.
    """
    search = model._method.search
    candidates = search.candidates(model, name, whole)
    model = with_parameters(model, class_weight=None)  # which ``whole`` has
    count = len(candidates)
    middle = count // 2
    errors = np.full(count, np.inf)
    if time_is_up():
        _warn_of_cut_search(model, name, candidates, errors, middle)
        return middle
    fold = search.fold or whole_fit
    folds = [fold(model, name, learn, *parts) for parts in search_folds(whole, is_classifier(model))]

    def improves(place: int, least: float = 0.0) -> bool:
        """Whether a candidate, tried now, is better than all so far by this part of their error; or as good."""
        check_interrupted()
        before = errors.min()
        errors[place] = _error(folds, place)
        return bool(errors[place] <= (1.0 - least) * before) and not time_is_up()

    def best() -> int:
        """The simplest of those that are as good, as far as rough fits can say: to 1/1000 of the error."""
        return int(np.argmax(errors <= 1.001 * errors.min()))

    if folds and improves(middle):
        # every second candidate is tried first, and then those beside the best of them;
        # a more complex model has to bring 1/100 of the error, which is more than a simpler one may cost
        for place in range(middle + 2, count, 2):
            if not improves(place, 0.01):
                break
        if best() == middle:
            for place in range(middle - 2, -1, -2):
                if not improves(place):
                    break
        found = best()
        for place in (found - 1, found + 1):
            if 0 <= place < count and not time_is_up():
                improves(place)
    found = best() if np.isfinite(errors).any() else middle
    if time_is_up():
        _warn_of_cut_search(model, name, candidates, errors, found)
    elif folds and not np.isfinite(errors).any():
        warn_user(
            f"{type(model).__name__}: no candidate for {name}='auto' could be fitted to a part of the samples, so that "
            f"{candidates[found]:.2g} is the one in the middle; give {name} a number",
            PredictionWarning,
        )
    return found


def _warn_of_cut_search(model: Model, name: str, candidates: Array, errors: Array, found: int) -> None:
    """Say that the search had no time for further candidates, and what it returns instead."""
    compared = int(np.isfinite(errors).sum())
    role = "the best of these" if compared else "the middle one of them"
    warn_of_cut_choice(
        f"{type(model).__name__} compared {compared} of {len(candidates)} candidates for {name}='auto', from "
        f"{candidates.min():.2g} to {candidates.max():.2g}, and takes {candidates[found]:.2g}, {role}"
    )


def _error(folds: Sequence[Fold], place: int) -> float:
    """The held-out error of a candidate; infinite where time does not suffice for all folds."""
    each = []
    for fold in folds:
        if time_is_up():
            return float("inf")
        each.append(fold.errors(place))
    return float(np.sum(each, axis=0).min())


class Fold(ABC):
    """A model at one candidate after the other on the training samples of a fold, and its losses on the others."""

    @abstractmethod
    def errors(self, place: int) -> Any:
        """The weighted sum of the losses; or several, of which the least of the sums over folds counts."""


@dataclass(eq=False)
class WholeFit(Fold):
    """The fits of a model, each started from its neighbour's; it keeps what they returned.

    Parameters
    ----------
    model : the estimator, with the tolerance to compare with
    name : the parameter that is searched
    learn : how the model solves a task
    train, test : Samples; the bank of ``test`` is that of its samples against those of ``train``
    fits : what each fit returned, by the place of its candidate
    """

    model: Model
    name: str
    learn: Any
    train: Samples
    test: Samples
    fits: dict[int, Any] = field(default_factory=dict)

    def errors(self, place: int) -> float:
        """Infinite where the fit fails."""
        model = at_candidate(self.model, self.name, self.train, place)
        if self.fits:
            earlier = self.fits[min(self.fits, key=lambda other: abs(other - place))]
        else:
            earlier = ()
        train, test = self.train, self.test
        try:
            self.fits[place], _ = keeping(
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


def whole_fit(model: Model, name: str, learn: Any, train: Samples, test: Samples) -> Fold:
    """The fold of an estimator that has no shorter way."""
    return WholeFit(roughly(model), name, learn, train, test)


def roughly(model: Estimator) -> Estimator:
    """The model with a tolerance to compare with."""
    tol = max(ROUGH, getattr(model, "tol", 0.0))
    return with_parameters(model, tol=tol, verbose=0, probability=None, time_budget=None)


def at_candidate(model: Estimator, name: str, samples: Samples, place: int) -> Estimator:
    """The model with this candidate for the samples."""
    return with_parameters(model, **{name: float(model._method.search.candidates(model, name, samples)[place])})


# -- folds -------------------------------------------------------------------------------------------------------------


def search_folds(whole: Samples, classes: bool) -> Iterator[tuple[Samples, Samples]]:
    """Training and test samples of folds that share out each class, or the range of the target; none of few samples.

    Raises
    ------
    ValueError : where groups or given folds leave no training samples of every class
    """
    given = np.flatnonzero(whole.share > 0)
    targets = np.unique(whole.target, return_inverse=True)[1].reshape(len(whole.target), -1)
    gram = whole.bank.combine(np.ones(len(whole.bank)))
    uneven = 1.0 + targets[:, 0] / targets[:, 0].max(initial=1)  # of equal shares the image is 0 for centred features
    image = gram.multiply(whole.share * uneven)
    key = np.column_stack([targets, _rounded(image), _rounded(gram.diagonal())])[given]
    unique, place = np.unique(key, axis=0, return_inverse=True)
    place = np.ravel(place)
    wanted = whole.resampling.count or SEARCH_FOLDS
    chosen = _spread_evenly(unique[:, 0], wanted if classes else 0)
    kept = chosen[place]
    rows = given[kept]
    fold = (np.cumsum(chosen) - 1)[place[kept]]
    if whole.resampling.decided:
        labels = np.zeros(len(rows), dtype=int)
        if classes:
            labels = targets[rows, 0]
        pairs = complete(whole.resampling.among(rows).folds(labels, SEARCH_FOLDS, np.random.default_rng(0)), labels)
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
        count = min(wanted, int(smallest))
        pairs = pairs_of(fold % count) if count > 1 else []
    for train, test in pairs:
        yield whole.of(rows[train], rows[train]), whole.of(rows[test], rows[train])


def _spread_evenly(classes: Array, least: int) -> Array:
    """Which of many distinct samples, ordered by their class, choose: every so many, and of each class some at least.

    Parameters
    ----------
    classes : int array (u,), increasing
    least : int, how many of each class, which may be rare, where it has so many

    Returns
    -------
    bool array (u,)
    """
    chosen = np.arange(len(classes)) % -(-len(classes) // SEARCHED_SAMPLES) == 0
    for label in np.unique(classes):
        own = np.flatnonzero(classes == label)
        few = min(least, len(own))
        if chosen[own].sum() < few:
            chosen[own] = False
            chosen[own[np.linspace(0, len(own) - 1, few).round().astype(int)]] = True
    return chosen


def _rounded(values: Array) -> Array:
    """To nine digits of the largest, to which kernel values of different samples differ."""
    top = float(np.abs(values).max(initial=0.0))
    if 0.0 < top < np.inf:
        return np.round(values / top, 9)
    return np.zeros(len(values))
