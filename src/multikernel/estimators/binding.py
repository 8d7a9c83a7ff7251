"""From what a user gives to banks: training samples, new samples, precomputed matrices, banks bound already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from multikernel._arrays import foreign, host, refuse_masked, taken, unmasked
from multikernel._rules import shortened
from multikernel._typing import Array
from multikernel._warnings import Message, keeping, warn_once
from multikernel.banks import KernelBank, bind_kernels, precomputed
from multikernel.banks.bind import sketched
from multikernel.banks.checks import check_self_values
from multikernel.banks.mapped import MappedBank
from multikernel.banks.precomputed import Precomputed, rectangular
from multikernel.banks.threads import slices
from multikernel.banks.view_bank import ViewSamples, bank_of_views, bind_view
from multikernel.banks.views import BankRows, Views, check_samples_rows, is_views, views
from multikernel.estimators.advice import advise_on_features
from multikernel.estimators.feature_predictor import FeaturePredictor
from multikernel.estimators.given import check_labels, check_samples, check_target, checked_target
from multikernel.estimators.predictor import KernelPredictor
from multikernel.estimators.samples import TakesSamples
from multikernel.kernels import KernelFamily, as_family, for_columns

_MANY = 100_000  # kernels
_CHUNK_VALUES = 1 << 25  # kernel values of new samples in memory at a time: 256 MB


class TakesKernels(TakesSamples):
    """An estimator that is fitted on samples, on precomputed matrices (m, n, n), or on a bank that is already bound."""

    kernels: Any
    kernel_names_: Any
    predictor_: Any
    _reach: ClassVar[float] = 30.0  # factor by which the features' spread may differ from what default kernels expect
    _sketches: bool = False  # whether the bank only has to tell its cost
    _weight_bound: Any = None  # the weights of the samples, while these are bound for a fit
    _samples_bound: Any = None  # the training samples; None where there are only kernels of them
    _rows: Any = None  # the samples of a bank that were the training sample, where it was a part of one

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernels, str) and self.kernels == "precomputed"
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = not given
        return tags

    # -- training samples ----------------------------------------------------------------------------------------------

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        """The training bank and the checked target; of shape (n,) and zero for an estimator that takes no target.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these
        y : the target, as ``fit`` takes it
        """
        return self._bind(X, y)

    def _bind(self, X: Any, y: Any, **checks: Any) -> tuple[KernelBank, Array]:
        """``checks`` are those of scikit-learn for the target."""
        check_samples_rows(X, y=y)
        y = host(y)
        refuse_masked(y, "y")
        if y is not None:
            (check_target if checks.get("y_numeric") else check_labels)(y)
        X, self._samples_bound = self._taken(X), None
        if self._is_given(X):
            bank = self._given(X)
            return bank, checked_target(y, bank.shape[0], **checks)
        if not foreign(X):
            check_samples(X)
        if foreign(X) or self._table(X) is not None:
            samples = self._samples_bound = self._samples(X, reset=True)
            return self._bound(samples), checked_target(y, samples.shape[0], **checks)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2, **checks
        )
        self._strings = self._times = ()
        self._home = None
        self._samples_bound = X
        return self._bound(X), y

    def _bind_samples(self, X: Any) -> KernelBank:
        """The training bank where there is no target."""
        X = self._taken(X)
        if self._is_given(X):
            return self._given(X)
        return self._bound(self._samples(X, reset=True))

    def _taken(self, X: Any) -> Any:
        """Some samples of a bank as a bank, a dict or a list of views as views; anything else as it is."""
        X = unmasked(X)
        self._rows = X.rows if isinstance(X, BankRows) else None
        if isinstance(X, BankRows):
            return X.bank.block(X.rows, X.rows)
        return views(X) if is_views(X) and not self._is_precomputed() else X

    def _is_given(self, X: Any) -> bool:
        """Whether X is no sample, but kernel matrices, a bank, or several views."""
        return isinstance(X, KernelBank | BankRows | Views) or self._is_precomputed() or is_views(X)

    def _given(self, X: Any) -> KernelBank:
        """A training bank that the user bound or computed, or the bank of several views."""
        for name in {"n_features_in_", "feature_names_in_"} & set(vars(self)):  # of an earlier fit
            delattr(self, name)
        if isinstance(X, Views):
            return self._bound_views(X)
        bank = precomputed(X)
        if not bank.square:
            raise ValueError(
                f"a training bank must be square, got shape {bank.shape}: a model is trained on bank[rows], or on "
                "bank[np.ix_(rows, rows)]"
            )
        self.kernel_names_ = self._names(bank)
        check_self_values(bank, self.kernel_names_)
        return bank

    def _bound(self, X: Any) -> KernelBank:
        """The bank of checked samples."""
        family = self._family().resolve(self._features(X)).learned(self._to_learn_from(host(X)))
        self._bound_kernels: KernelFamily | None = family
        # the names of very many kernels stay what they are, a sequence that makes them when they are asked for
        self.kernel_names_ = np.array(family.names, dtype=object) if len(family) <= _MANY else family.names
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named
            bank = self._bank_of(family, X)
        check_self_values(bank, self.kernel_names_)
        if self.kernels is None:
            advise_on_features(type(self).__name__, host(X), getattr(self, "feature_names_in_", None), self._reach)
        return bank

    def _to_learn_from(self, X: Any) -> Any:
        """The samples that kernels learn their widths and means from."""
        return X

    def _bank_of(self, family: KernelFamily, X: Any) -> KernelBank:
        """The bank of a resolved family that has learned, on checked samples."""
        return self._bind_kernels(family, X, dtype=self._precision(len(family), X.shape[0]))

    @property
    def _bind_kernels(self) -> Callable[..., KernelBank]:
        """What makes a bank of kernels and samples."""
        return sketched if self._sketches else bind_kernels

    def _bound_views(self, X: Views) -> KernelBank:
        """The kernels of every view: those of its own, or the same for all."""
        X.check_matrices(self.kernels if isinstance(self.kernels, Mapping) else ())
        self._bound_kernels = None
        bound, names = [], []
        for view, part in X.items():
            if isinstance(part, KernelBank):
                bank = part
                own = bank.names or tuple(f"kernel {k}" for k in range(len(bank)))
                columns = np.arange(bank.shape[1]) if X.rows is None else X.rows
                bound.append(MappedBank(bank, ViewSamples(view, columns=columns)))
            else:
                family = self._family_of(view, part)
                bound.append(bind_view(family, view, part, self._precision, self._bind_kernels))
                own = tuple(bound[-1].names or ())
            names += [view if len(own) == 1 else f"{view}: {name}" for name in own]
        self.kernel_names_ = np.array(names, dtype=object)
        bank = bank_of_views(bound)
        check_self_values(bank, self.kernel_names_)
        return bank

    def _family_of(self, view: str, part: Any) -> KernelFamily:
        """The kernels of a view of samples: by the types of its columns where the user gives none."""
        given = self.kernels
        if self._is_precomputed():
            raise ValueError(
                f"{type(self).__name__}: view {view!r} holds samples, and kernels='precomputed' says that every view "
                "is a kernel matrix: give kernels by view, or None for kernels by the types of the columns"
            )
        if isinstance(given, Mapping):
            if view not in given:
                raise ValueError(
                    f"{type(self).__name__}: kernels has no entry for the view {view!r}; it has "
                    f"{shortened(list(map(repr, given)))}"
                )
            given = given[view]
        return for_columns(part) if given is None else deepcopy(as_family(given))

    def _precision(self, m: int, n: int) -> Any:
        """The precision in which a bank may store m matrices of n samples; None is that of the samples."""
        return None

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _names(self, bank: KernelBank) -> Array:
        """Names for a bank that is already bound, where it or the family can tell them."""
        m = len(bank)
        if bank.names is not None:
            return np.array(bank.names, dtype=object)
        if not self._is_precomputed():
            try:
                names = self._family().names
            except TypeError:  # the family follows the number of features, which a bank does not tell
                names = ()
            if len(names) == m:
                return np.array(names, dtype=object)
        return np.array([f"kernel {k}" for k in range(m)], dtype=object)

    # -- samples, of training and new ----------------------------------------------------------------------------------

    def against(self, bank: KernelBank, X: Any) -> KernelBank:
        """New samples against those of a training bank, before anything is learned on it.

        Parameters
        ----------
        bank : as ``bind`` returned it
        X : samples like those that were bound
        """
        return bank.cross(self._samples(X))

    def banks(self, X: Any, width: int = 1) -> Iterator[KernelBank]:
        """New samples against the training samples that the predictor uses.

        Parameters
        ----------
        X : samples like those of ``fit``; a bank of new samples against all training samples, which is one part; with
            ``kernels="precomputed"`` matrices (m, len(X), n_train)
        width : int, how many values for each sample the caller holds beside a row of kernel values

        Yields
        ------
        KernelBank of some of the samples, in order, as large as memory allows
        """
        predictor: KernelPredictor | FeaturePredictor = self.predictor_
        if isinstance(X, BankRows):
            X = X.bank.block(X.rows, slice(None) if self._rows is None else self._rows)
        if isinstance(X, KernelBank):
            self._check_new(X, predictor)
            # a square bank whose matrices follow the sample is not cut: its part would be another bank
            yield X if X.square and not X.local else X.block(slice(None), predictor.support)
        elif self._is_precomputed() or not hasattr(self, "n_features_in_"):
            yield from self._crossed([X])
        else:
            X = self._samples(X)
            height = max(1, _CHUNK_VALUES // max(len(predictor.support), width))
            yield from self._crossed(taken(X, rows) for rows in slices(X.shape[0], height))

    def _crossed(self, parts: Iterable[Any]) -> Iterator[KernelBank]:
        """Parts of new samples against the training samples; what there is to say of them is said once."""
        warned: list[Message] = []
        for part in parts:
            bank, messages = keeping(partial(self.predictor_.reference.cross, part))
            warned += messages
            yield bank
        warn_once(warned)  # of categories that training did not have, say

    def _against(self, Z: Any) -> KernelBank:
        """The bank whose columns are some samples, with nothing stored."""
        if isinstance(self.predictor_, FeaturePredictor):
            return self.predictor_.between(Z)
        assert self._bound_kernels is not None
        bank = bind_kernels(self._bound_kernels, Z, memory=0)
        if not bank.local:
            raise ValueError(
                f"{type(self).__name__}: kernels that are centred by the training sample are known between new and "
                "training samples only; learn them without centred(), or take features of the centred kernels"
            )
        return bank

    def _between(self, X: Any) -> KernelBank:
        """A bank in place of samples, or matrices of some samples against others, as a bank."""
        m = self.predictor_.n_kernels
        if isinstance(X, Views) or (is_views(X) and not isinstance(self.predictor_.reference, Precomputed)):
            raise ValueError(
                f"{type(self).__name__}: kernels of several views are known between new and training samples only; "
                "learn a model of the views' matrices to ask for others"
            )
        if isinstance(X, BankRows):
            X = X.bank.block(X.rows, X.rows)
        if isinstance(X, KernelBank):
            return rectangular(X, m, X.shape[1])
        matrices = list(X.values()) if isinstance(X, Mapping) else X
        return rectangular(matrices, m, np.shape(matrices[0])[-1])

    def _check_new(self, bank: KernelBank, predictor: KernelPredictor | FeaturePredictor) -> None:
        m = predictor.n_kernels
        if bank.shape[1] != predictor.n_train or len(bank) != m:
            raise ValueError(
                f"a bank of new samples must hold {m} kernels against the {predictor.n_train} training samples, "
                f"got {len(bank)} kernels against {bank.shape[1]}"
            )
