"""Banks from what a user passes: training samples, new samples, precomputed matrices, banks bound already.

``bind_training`` makes the training bank and checks the target. ``new_banks`` makes the banks of new samples against
the training samples that a predictor uses. What differs between estimators is their ``Binding``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from multikernel._arrays import foreign, host, taken, unmasked
from multikernel._rules import abbreviated, shortened
from multikernel._typing import Array
from multikernel._warnings import Message, keeping, warn_once
from multikernel.banks import KernelBank, bind_kernels, precomputed
from multikernel.banks.bind import sketched
from multikernel.banks.checks import check_self_values
from multikernel.banks.precomputed import Precomputed, rectangular
from multikernel.banks.rows import BankRows
from multikernel.banks.threads import slices
from multikernel.estimators.advice import advise_on_features, advise_on_means
from multikernel.estimators.approximated import approximate_given, bank_of_family
from multikernel.estimators.checks import check_labels, check_samples, check_target, checked_target
from multikernel.estimators.feature_predictor import FeaturePredictor
from multikernel.estimators.parameters import checked_weights
from multikernel.estimators.protocol import Model
from multikernel.estimators.samples import (
    family_of,
    features_of,
    objects_of,
    resolved_family,
    samples_of,
    table_of,
    takes_objects,
)
from multikernel.kernels import Features, KernelFamily, as_family, for_columns
from multikernel.sources.bank import bank_of_views, bind_views, learned_views
from multikernel.sources.rows import aligned
from multikernel.sources.views import Views, is_views, views
from multikernel.tables.objects import Objects
from multikernel.tables.table import with_missing
from multikernel.tuning import LARGE_VALUES

Binder = Callable[..., KernelBank]  # of a family and samples: ``bind_kernels``, or ``sketched`` for a forecast


# -- how estimators bind, and the defaults -----------------------------------------------------------------------------


def bound_samples(model: Model, X: Any, weight: Array | None, binder: Binder) -> KernelBank:
    """The bank of checked samples, from which kernels first learn the parameters that depend on data."""
    binding = model._method.binding
    learned_from = binding.learned_from(model, host(X), weight)
    family = resolved_family(model, features_of(model, X)).learned(learned_from)
    model._bound_kernels = family
    # names of very many kernels stay a lazy sequence, which makes each name when it is read
    if len(family) <= 100_000:
        model.kernel_names_ = np.array(family.names, dtype=object)
    else:
        model.kernel_names_ = family.names
    with np.errstate(over="ignore", invalid="ignore"):  # a kernel that overflows is named by the check
        bank = bank_of_family(model, family, X, binder)
    check_self_values(bank, model.kernel_names_)
    if model.kernels is None and not binding.hidden(model, features_of(model, X)):
        advise_on_features(type(model).__name__, host(X), getattr(model, "feature_names_in_", None), binding.reach)
    if model.kernels is not None and model._method.ridge is not None and getattr(model, "fit_intercept", False):
        advise_on_means(type(model).__name__, host(X), family)
    return bank


def bound_given(model: Model, X: Any, binder: Binder) -> KernelBank:
    """The bank of matrices that the user computed, the bank that the user bound, or the bank of several views."""
    if isinstance(X, Views):
        return _bound_views(model, X, binder)
    bank = precomputed(X)
    if not bank.square:
        raise ValueError(
            f"a training bank must be square, got shape {bank.shape}: a model is trained on bank[rows], or on "
            "bank[np.ix_(rows, rows)]"
        )
    model.kernel_names_ = _names_of_bank(model, bank)
    check_self_values(bank, model.kernel_names_)
    return approximate_given(model, bank, binder)


def same_bank(model: Model, bank: KernelBank, weight: Array | None) -> KernelBank:
    """Return the training bank unchanged."""
    return bank


def same_samples(model: Model, X: Any) -> Any:
    """Return new samples unchanged."""
    return X


def all_samples(model: Model, X: Any, weight: Array | None) -> Any:
    """Return all training samples: kernels learn their widths and means from them."""
    return X


def precision_of_samples(model: Model, m: int, n: int) -> Any:
    """Return None: a bank stores matrices in the precision of the samples."""
    return None


def double_precision(model: Model, m: int, n: int) -> Any:
    """Return double precision, in which a bank then stores its matrices."""
    return np.float64


def no_column(model: Model, features: Features) -> tuple[int, ...]:
    """Kernels see all columns."""
    return ()


def no_advice(model: Model, X: Any, labels: Array) -> None:
    """Give no advice on the default kernels."""


def kernels_against(model: Model, Z: Any) -> KernelBank:
    """The bank whose columns are some samples, with nothing stored."""
    if isinstance(model.predictor_, FeaturePredictor):
        return model.predictor_.between(Z)
    if model._bound_kernels is None:
        raise ValueError(
            f"{type(model).__name__}: this model was fitted to a bank or to matrices, and does not hold the kernels "
            "that these come from: give a bank or matrices in place of samples"
        )
    bank = bind_kernels(model._bound_kernels, Z, memory=0)
    if not bank.local:
        raise ValueError(
            f"{type(model).__name__}: kernels that are centred by the training sample are known between new and "
            "training samples only; learn them without centred(), or take features of the centred kernels"
        )
    return bank


@dataclass(frozen=True, kw_only=True, eq=False)
class Binding:
    """How samples become a bank, where estimators differ.

    Parameters
    ----------
    default_kernels : (model) -> KernelFamily, where ``kernels`` is None
    of_samples : (model, samples, weight, binder) -> KernelBank, of checked samples
    of_given : (model, X, binder) -> KernelBank, of matrices, a bank or views in place of samples
    finished : (model, bank, weight) -> KernelBank
        The training bank after a last change, which may depend on the sample weights; weight is None where all are 1.
    sketched : (model, bank, weight) -> KernelBank, for a forecast one of the same cost; None: that of ``finished``
    of_new : (model, X) -> X, of new samples before kernels are evaluated between them and the training samples
    against : (model, samples) -> KernelBank, whose columns are some samples, for the kernel between any two of them
    learned_from : (model, samples, weight) -> samples that kernels learn their widths and means from
    precision : (model, m, n) -> dtype in which a bank may store m matrices of n samples, or None
    advise : (model, samples, labels) -> None
        Warns a user of classes for which the default kernels are likely to predict badly.
    hidden : (model, features) -> positions of columns that are left out of kernels that name no columns themselves
    missing_cells : whether the kernels take samples with missing cells
    foreign_arrays : whether samples of other array libraries than NumPy are taken
    reach : by what factor the spread of the features may differ from what the default kernels expect
    """

    default_kernels: Callable[[Any], KernelFamily]
    of_samples: Callable[[Any, Any, Array | None, Binder], KernelBank] = bound_samples
    of_given: Callable[[Any, Any, Binder], KernelBank] = bound_given
    finished: Callable[[Any, KernelBank, Array | None], KernelBank] = same_bank
    sketched: Callable[[Any, KernelBank, Array | None], KernelBank] | None = None
    of_new: Callable[[Any, Any], Any] = same_samples
    against: Callable[[Any, Any], KernelBank] = kernels_against
    learned_from: Callable[[Any, Any, Array | None], Any] = all_samples
    precision: Callable[[Any, int, int], Any] = precision_of_samples
    advise: Callable[[Any, Any, Array], None] = no_advice
    hidden: Callable[[Any, Features], tuple[int, ...]] = no_column
    missing_cells: bool = False
    foreign_arrays: bool = True
    reach: float = 30.0


# -- training samples --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Training:
    """What a model is fitted to.

    Parameters
    ----------
    bank : square KernelBank of n samples
    target : array (n,) or (n, t), or ``TargetColumns``; zeros where there is no target
    weight : array (n,) >= 0, the weights of the samples; None where all are 1
    """

    bank: KernelBank
    target: Any
    weight: Array | None


def bind_training(
    model: Model, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False, **checks: Any
) -> Training:
    """The training bank, the checked target and the checked weights; the model keeps what it needs for new samples.

    Parameters
    ----------
    model : an estimator
    X, y, sample_weight : as ``fit`` takes them
    sketch : whether the bank only has to say what it costs
    checks : those of scikit-learn for the target
    """
    require_target(model, y)
    [y] = aligned(X, y=y)
    y = host(y)
    if y is not None:
        if checks.get("y_numeric"):
            check_target(y)
        else:
            check_labels(y)
    binding = model._method.binding
    binder = sketched if sketch else bind_kernels
    if binding.missing_cells:
        X = with_missing(X)
    X = _taken(model, X)
    model._samples_bound = model._bound_kernels = None
    if is_given(model, X):
        for name in {"n_features_in_", "feature_names_in_"} & set(vars(model)):  # of an earlier fit
            delattr(model, name)
        bank = binding.of_given(model, X, binder)
        if y is None:
            y = np.zeros(bank.shape[0])
        else:
            y = checked_target(y, bank.shape[0], **checks)
        weight = checked_weights(sample_weight, bank.shape[0])
    else:
        samples, y = _checked_samples(model, X, y, checks)
        model._samples_bound = samples
        weight = checked_weights(sample_weight, samples.shape[0])
        bank = binding.of_samples(model, samples, weight, binder)
    finished = binding.finished
    if sketch and binding.sketched is not None:
        finished = binding.sketched
    return Training(finished(model, bank, weight), y, weight)


def require_target(model: Model, y: Any) -> None:
    """ValueError where the estimator needs a target and there is none."""
    if y is None and model.__sklearn_tags__().target_tags.required:
        raise ValueError(f"{type(model).__name__} requires y to be passed, but the target y is None")


def _checked_samples(model: Model, X: Any, y: Any, checks: dict[str, Any]) -> tuple[Any, Array]:
    """The checked samples and target; where both are arrays of numbers, scikit-learn checks them in one call."""
    objects = objects_of(model, X, reset=True) is not None
    if not foreign(X) and not objects:
        check_samples(X)
    if y is None or foreign(X) or objects or table_of(model, X) is not None:
        samples = samples_of(model, X, reset=True)
        n = samples.shape[0]
        if y is None:
            return samples, np.zeros(n)
        return samples, checked_target(y, n, **checks)
    samples, y = validate_data(
        model, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2, **checks
    )
    model._strings = model._times = ()
    model._objects, model._home = False, None
    return samples, y


def is_precomputed(model: Model) -> bool:
    """Whether ``kernels="precomputed"``: X are kernel matrices."""
    return isinstance(model.kernels, str) and model.kernels == "precomputed"


def is_given(model: Model, X: Any) -> bool:
    """Whether X is not samples but kernel matrices, a bank, or several views."""
    return isinstance(X, KernelBank | BankRows | Views) or is_precomputed(model) or _is_views(model, X)


def _is_views(model: Model, X: Any) -> bool:
    """Whether X is a dict or a list of views. A list holds samples instead where the kernels take objects."""
    by_view = isinstance(X, Mapping) or isinstance(getattr(model, "kernels", None), Mapping)
    return is_views(X) and (by_view or not takes_objects(model))


def as_views(model: Model, X: Any) -> Any:
    """A dict or a list of views as views; anything else unchanged."""
    if _is_views(model, X) and not is_precomputed(model):
        return views(X)
    return X


def _taken(model: Model, X: Any) -> Any:
    """Rows of a bank as a bank, a dict or a list of views as views; anything else unchanged."""
    X = unmasked(X)
    model._rows = X.rows if isinstance(X, BankRows) else None
    if isinstance(X, BankRows):
        return X.bank.block(X.rows, X.rows)
    return as_views(model, X)


def _bound_views(model: Model, X: Views, binder: Binder) -> KernelBank:
    """The bank of the kernels of every view: each view has separate kernels, or all views have the same."""
    X.check_matrices(model.kernels if isinstance(model.kernels, Mapping) else ())
    learned = learned_views(X, partial(_family_of_view, model))
    banks = bind_views(X, learned, partial(model._method.binding.precision, model), binder, binder is sketched)
    model._bound_kernels = tuple(bank.samples for bank in banks)
    names: list[str] = []
    for view, view_bank in zip(learned, banks, strict=True):
        kernel_names = view_bank.names or ()
        names += [view.name if len(kernel_names) == 1 else f"{view.name}: {name}" for name in kernel_names]
    model.kernel_names_ = np.array(names, dtype=object)
    bank = bank_of_views(banks)
    check_self_values(bank, model.kernel_names_)
    return approximate_given(model, bank, binder)


def _family_of_view(model: Model, view: str, samples: Any) -> KernelFamily:
    """The kernels of a view of samples; where the user gives none, they follow from the types of its columns."""
    kernels_of_user = model.kernels
    if is_precomputed(model):
        raise ValueError(
            f"{type(model).__name__}: view {view!r} holds samples, and kernels='precomputed' says that every view "
            "is a kernel matrix: give kernels by view, or None for kernels by the types of the columns"
        )
    if isinstance(kernels_of_user, Mapping):
        if view not in kernels_of_user:
            raise ValueError(
                f"{type(model).__name__}: kernels has no entry for the view {view!r}; it has "
                f"{shortened(list(map(repr, kernels_of_user)))}"
            )
        kernels_of_user = kernels_of_user[view]
    if kernels_of_user is None and isinstance(samples, Objects):
        raise ValueError(
            f"{type(model).__name__}: view {view!r} holds objects ({abbreviated(samples.values[0])}), for which there "
            "are no default kernels: give kernels by view, among them kernels.external(...) for this one"
        )
    if kernels_of_user is None:
        return for_columns(samples)
    return deepcopy(as_family(kernels_of_user))


def _names_of_bank(model: Model, bank: KernelBank) -> Array:
    """Names of the kernels of a bank that is already bound: its own, those of the family, or numbers."""
    m = len(bank)
    if bank.names is not None:
        return np.array(bank.names, dtype=object)
    if not is_precomputed(model):
        try:
            names = family_of(model).names
        except TypeError:  # the family follows the number of features, which a bank does not say
            names = ()
        if len(names) == m:
            return np.array(names, dtype=object)
    return np.array([f"kernel {k}" for k in range(m)], dtype=object)


# -- new samples -------------------------------------------------------------------------------------------------------


def new_banks(model: Model, X: Any, width: int = 1) -> Iterator[KernelBank]:
    """New samples against the training samples that the predictor uses, in blocks as large as memory allows.

    Parameters
    ----------
    model : a fitted estimator
    X : samples like those of ``fit``; a bank of new samples against all training samples, which is one block; with
        ``kernels="precomputed"`` matrices (m, len(X), n_train)
    width : int, how many values for each sample the caller holds beside a row of kernel values
    """
    X = model._method.binding.of_new(model, X)
    predictor = model.predictor_
    if isinstance(X, BankRows):
        X = X.bank.block(X.rows, slice(None) if model._rows is None else model._rows)
    if isinstance(X, KernelBank):
        check_new_bank(X, predictor.n_kernels, predictor.n_train)
        # the matrices of a square bank that is not local depend on all its samples: a block would have other values
        if not X.square or X.local:
            X = X.block(slice(None), predictor.support)
        yield X
    elif is_precomputed(model) or not hasattr(model, "n_features_in_"):
        yield from _crossed(predictor.reference, [X])
    else:
        X = samples_of(model, X)
        height = max(1, LARGE_VALUES // max(len(predictor.support), width))
        yield from _crossed(predictor.reference, (taken(X, rows) for rows in slices(X.shape[0], height)))


def _crossed(reference: KernelBank, blocks: Iterable[Any]) -> Iterator[KernelBank]:
    """Blocks of new samples against the training samples; each warning about the samples is given once."""
    warned: list[Message] = []
    for samples in blocks:
        bank, messages = keeping(partial(reference.cross, samples))
        warned += messages
        yield bank
    warn_once(warned)  # of categories that training did not have, say


def check_new_bank(bank: KernelBank, m: int, n_train: int) -> None:
    """ValueError where a bank of new samples does not have m kernels and a column for every training sample."""
    if bank.shape[1] != n_train or len(bank) != m:
        raise ValueError(
            f"a bank of new samples must hold {m} kernels against the {n_train} training samples, "
            f"got {len(bank)} kernels against {bank.shape[1]}"
        )


def between(model: Model, X: Any, Z: Any = None) -> KernelBank:
    """The bank between X and Z, where X is a bank, matrices or several views rather than samples of one source."""
    m = model.predictor_.n_kernels
    if isinstance(X, Views) or (is_views(X) and not isinstance(model.predictor_.reference, Precomputed)):
        return _between_views(model, X, Z)
    if Z is not None:
        raise ValueError(f"{type(model).__name__}: a bank or matrices say what X is against; leave out Z")
    if isinstance(X, BankRows):
        X = X.bank.block(X.rows, X.rows)
    if isinstance(X, KernelBank):
        return rectangular(X, m, X.shape[1])
    matrices = list(X.values()) if isinstance(X, Mapping) else X
    return rectangular(matrices, m, np.shape(matrices[0])[-1])


def _between_views(model: Model, X: Any, Z: Any) -> KernelBank:
    """The kernels of several views between samples."""
    if model._method.binding.against is not kernels_against:
        raise ValueError(
            f"{type(model).__name__}: its kernel is known between samples of one source only; "
            "kernel_matrix takes several sources where weights are the same for all samples"
        )
    if not isinstance(model._bound_kernels, tuple):
        raise ValueError(
            f"{type(model).__name__}: this model was saved by an earlier version, or was fitted to matrices, and "
            "does not hold the kernels of its views; fit it again to ask for its kernel between samples"
        )
    rows = views(X) if Z is None and is_views(X) else Views.of(X)
    columns = rows if Z is None else Views.of(Z)
    try:
        return bank_of_views([samples.between(rows, columns) for samples in model._bound_kernels])
    except ValueError as error:
        raise ValueError(f"{type(model).__name__}: {error}") from None
