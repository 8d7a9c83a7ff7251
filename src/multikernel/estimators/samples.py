"""Samples as kernels take them, checked: those of training, and new ones with the same columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from multikernel._arrays import checked, foreign, library, like, unmasked
from multikernel._rules import shortened
from multikernel.estimators.given import check_samples
from multikernel.kernels import Features, KernelFamily, as_family
from multikernel.tables.table import Table, as_table


class TakesSamples(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator of kernels on samples: it knows what its kernels take, and which columns training had."""

    kernels: Any
    _strings: tuple[int, ...] = ()  # the columns that held strings in training
    _times: tuple[int, ...] = ()  # those that held dates or durations
    _on_arrays: ClassVar[bool] = True  # whether it takes samples of other libraries than NumPy
    _home: Any = None  # no samples, of the library and on the device of those of training; None for NumPy's

    @abstractmethod
    def _default_kernels(self) -> KernelFamily:
        """The family used where ``kernels`` is None."""

    def _family(self) -> KernelFamily:
        """The family as it is now: a fitted model does not follow a kernel that the user changes later."""
        try:
            return self._default_kernels() if self.kernels is None else deepcopy(as_family(self.kernels))
        except (TypeError, ValueError) as error:
            kind = ValueError if isinstance(self.kernels, str) else type(error)
            raise kind(f"{type(self).__name__}: {error}") from None

    def _features(self, X: Any) -> Features:
        names = getattr(self, "feature_names_in_", None)
        if names is not None and len(names) != X.shape[1]:  # of an earlier fit
            names = None
        return replace(Features.of(X), names=None if names is None else tuple(names))

    def _samples(self, X: Any, reset: bool = False) -> Any:
        """Samples, checked: an array, a CSR matrix or a table; columns as in training unless ``reset``."""
        if foreign(X):
            return self._foreign_samples(X, reset)
        X = unmasked(X)
        check_samples(X)
        samples = self._table(X)
        if samples is not None and not reset:
            samples = samples.with_types(self._strings, self._times)
        if samples is None:
            least = 2 if reset else 1
            samples = validate_data(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, ensure_min_samples=least
            )
        else:
            named = X if hasattr(X, "columns") else samples.numbers
            validate_data(self, named, reset=reset, skip_check_array=True)
        features = Features.of(samples)
        if reset:
            self._strings, self._times = features.strings, features.times
        for held, before, now in (
            ("strings", self._strings, features.strings),
            ("dates", self._times, features.times),
        ):
            if now != before:
                was, got = (shortened(list(map(str, columns))) or "none" for columns in (before, now))
                other = self._features(samples).name(min(set(before) ^ set(now)))
                raise ValueError(
                    f"{type(self).__name__} was fitted with {held} in columns {was} of X, and got them in {got}: "
                    f"{other} has another type than in training"
                )
        if features.missing and not reset:
            self._check_complete(samples)
        self._home = None if reset else self._home
        return like(self._home, samples)

    def _foreign_samples(self, X: Any, reset: bool) -> Any:
        """Samples of torch, cupy and their like, checked where they are, and brought to those of training."""
        if not self._on_arrays:
            raise ValueError(
                f"{type(self).__name__} works on NumPy arrays, and got samples of {library(X)}: give these as a NumPy "
                "array, or take an estimator of kernels with weights, which works where its samples are"
            )
        samples = checked(X)
        validate_data(self, samples, reset=reset, skip_check_array=True)
        if reset:
            self._strings = self._times = ()
            if samples.shape[0] < 2:
                raise ValueError(f"Found array with {samples.shape[0]} sample(s) while a minimum of 2 is required")
            self._home = samples[:0, :]
        return like(self._home, samples)

    def _table(self, X: Any) -> Table | None:
        """Samples that are more than finite numbers; an array with missing cells only where the kernels take these."""
        if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"):
            return as_table(X)
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(X.sum()) or np.isinf(X).any() or not np.isnan(X).any():
                return None
        table = Table.of_numbers(X)
        try:
            self._check_complete(table)
        except (TypeError, ValueError):  # scikit-learn's sentence is the one that users know
            return None
        return table

    def _check_complete(self, samples: Any) -> None:
        """ValueError where new samples miss cells and a kernel does not take that."""
        self._family().resolve(self._features(samples))
