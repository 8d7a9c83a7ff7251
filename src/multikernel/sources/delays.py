"""Features of earlier samples, for samples in the order of time whose response comes late.

The delayed features of sample i are x_{i-d}(s), feature s of the sample d steps earlier, for every delay d: a linear
model of them has a finite impulse response for each feature. A run is a stretch of successive samples that were
measured without a break. Before the first sample of a run, and after its last one for negative delays, features count
as zero, so nothing is carried from one run to another.

Nishimoto et al., "Reconstructing visual experiences from brain activity evoked by natural movies", Current Biology 21,
2011, delay features in this way to predict brain responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from multikernel._arrays import host, is_sparse, returned
from multikernel._folds import numbered
from multikernel._rules import abbreviated, repeated
from multikernel._typing import Array
from multikernel.banks.base import KernelBank
from multikernel.sources.rows import aligned
from multikernel.sources.views import Views, is_views
from multikernel.tables.cells import is_frame
from multikernel.tables.objects import Objects


def _of_one_table(delayer: Delayer) -> bool:
    return not hasattr(delayer, "views_")


@dataclass(eq=False, repr=False)
class Delayer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features of earlier samples side by side, for responses that come late, such as those of blood flow in the brain.

    Column j of delay d is column j of the sample d steps earlier in the same run, or zero where there is none.

    Parameters
    ----------
    delays : sequence of int, default (1, 2, 3, 4)
        Delays in samples: 0 is the sample itself, a negative delay is a later sample. The default is usual for
        responses of blood flow that are sampled every two seconds.

    Attributes
    ----------
    n_features_in_ : int, the number of columns, after a fit to one table
    feature_names_in_ : array, the names of these columns, where the table had names
    views_ : dict, after a fit to several views, from the name of each view to its fitted Delayer

    Notes
    -----
    ``transform`` takes the runs as ``groups``, the same values by which folds keep runs together. A pipeline passes
    them on if ``sklearn.set_config(enable_metadata_routing=True)`` was called and the step is
    ``Delayer().set_transform_request(groups=True)``; otherwise all samples of the pipeline are one run. Features may
    also be delayed once, before samples are split into training and test samples: each row then holds all of its
    delayed features.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import Delayer
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> Delayer([0, 1, 2]).fit_transform(X, groups=[1, 1, 1, 2, 2])
    array([[1., 0., 0.],
           [2., 1., 0.],
           [3., 2., 1.],
           [4., 0., 0.],
           [5., 4., 0.]])
    """

    delays: Sequence[int] = (1, 2, 3, 4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the delays and remember the columns; nothing is learned.

        Parameters
        ----------
        X : array, sparse matrix or data frame of numbers, shape (n, p); or several views of them, a dict, a list or
            ``views(...)``
        y : not used

        Raises
        ------
        ValueError : where delays are not different whole numbers, or a view has no columns that can be delayed
        """
        self._checked_delays()
        if hasattr(self, "views_"):  # left by an earlier fit
            delattr(self, "views_")
        if isinstance(X, Views) or is_views(X):
            self.views_ = {name: self._of_view(name, source) for name, source in _complete(X).items()}
            return self
        self._table(X, reset=True)
        return self

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """``fit(X).transform(X, groups)``; ``y`` is not used."""
        return self.fit(X).transform(X, groups)

    def transform(self, X: Any, groups: Any = None) -> Any:
        """The delayed features, those of the first delay first.

        Parameters
        ----------
        X : samples in the order of time, like those of ``fit``
        groups : array (n,), the run of each sample, such as its number: where the value changes, another run begins.
            None makes all samples one run.

        Returns
        -------
        array like X or sparse matrix (n, p * len(delays)), or a frame where ``set_output`` asks for one; for several
        views, Views of such arrays, with a frame for each view that is a frame

        Raises
        ------
        ValueError : where groups are not n values, or X is not like the samples of ``fit``
        """
        check_is_fitted(self)
        [groups] = aligned(X, groups=groups)
        if not _of_one_table(self):
            return self._views(X, groups)
        values = self._table(X, reset=False)
        n = values.shape[0]
        runs = np.zeros(n, dtype=np.intp)
        if groups is not None:
            numbers: Any = numbered("Delayer", groups, n)
            runs[1:] = np.cumsum(numbers[1:] != numbers[:-1])
        delayed = [_shifted(values, delay, runs) for delay in self._checked_delays()]
        if is_sparse(values):
            return sparse.hstack(delayed, format="csr")
        return returned(np.hstack(delayed), X)

    @available_if(_of_one_table)  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """``name_delayd`` for every delay d and every column: array (p * len(delays),).

        Parameters
        ----------
        input_features : array (p,), names of the columns, where those of ``fit`` had none; by default x0, x1, ...
        """
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([f"{name}_delay{delay}" for delay in self._checked_delays() for name in names], dtype=object)

    def _checked_delays(self) -> list[int]:
        delays = np.atleast_1d(np.asarray(self.delays, dtype=object)).tolist()
        are_integers = all(isinstance(delay, Integral) and not isinstance(delay, bool) for delay in delays)
        if not (delays and are_integers) or repeated(map(str, delays)) is not None:
            raise ValueError(
                "Delayer: delays must be different whole numbers of samples, such as [1, 2, 3, 4], got "
                f"{abbreviated(self.delays)}"
            )
        return [int(delay) for delay in delays]

    def _table(self, X: Any, reset: bool) -> Any:
        X = host(X)
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite="allow-nan")

    def _of_view(self, name: str, source: Any) -> Delayer:
        """A Delayer that is fitted to one view; it returns frames where the view is a frame."""
        if isinstance(source, KernelBank | Objects):
            raise ValueError(f"Delayer: view {name!r} has no columns of numbers: delay the features that it is made of")
        delayer = Delayer(self.delays)
        if is_frame(source):
            delayer.set_output(transform=type(source).__module__.partition(".")[0])
        try:
            return delayer.fit(source)
        except ValueError as error:
            raise ValueError(f"Delayer: view {name!r}: {error}") from None

    def _views(self, X: Any, groups: Any) -> Views:
        samples = _complete(X)
        if set(samples.names) != set(self.views_):
            raise ValueError(f"Delayer: it was fitted to the views {list(self.views_)}, got {list(samples.names)}")
        delayed = Views.of(
            {name: delayer.transform(samples.part(name), groups) for name, delayer in self.views_.items()}
        )
        return replace(delayed, features=delayed.names, labels=samples.index, joined=samples.joined)


def _complete(X: Any) -> Views:
    """The samples as Views, refused where one lacks a view: a missing view could not be delayed."""
    samples = Views.of(X)
    for name in samples.names:
        if not samples.has(name).all():
            raise ValueError(f"Delayer: some samples lack view {name!r}; take those that have all views")
    return samples


def _shifted(values: Any, delay: int, runs: Array) -> Any:
    """For each row the row that lies ``delay`` before it; zeros where its run has no such row."""
    n = values.shape[0]
    rows = np.arange(max(0, delay), n + min(0, delay))
    rows = rows[runs[rows] == runs[rows - delay]]
    if isinstance(values, np.ndarray):
        shifted = np.zeros_like(values)
        shifted[rows] = values[rows - delay]
        return shifted
    selection: Any = sparse.csr_matrix((np.ones(len(rows), dtype=values.dtype), (rows, rows - delay)), shape=(n, n))
    return selection @ values
