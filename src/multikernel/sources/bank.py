"""The kernels of several sources on the same samples, as one bank.

A source has kernels of its own: those of a block of features are bound to it, a kernel matrix is one. What kernels
learn from the training sample they learn from the samples that have the source. A sample that lacks a source, all of
whose cells there are missing, is completed by its other sources (``completion.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from multikernel._rules import shortened
from multikernel._typing import Array, Index
from multikernel._warnings import PredictionWarning, warn_user
from multikernel.banks.base import KernelBank
from multikernel.banks.bind import bind_kernels
from multikernel.banks.checks import as_array
from multikernel.banks.concatenated import ConcatenatedBank
from multikernel.banks.indices import positions
from multikernel.banks.mapped import MappedBank, SampleMap
from multikernel.banks.mixed import MixedBank, identity
from multikernel.banks.weighted import WeightedBank
from multikernel.kernels.family import KernelFamily
from multikernel.kernels.features import Features
from multikernel.sources.completion import Anchors, Completion, anchor_rows
from multikernel.sources.joined import stand_ins
from multikernel.sources.matrices import known_rows, matched_columns, matrices_between, rows_of, stack_of
from multikernel.sources.views import Views
from multikernel.tables.cells import column_names, is_frame
from multikernel.tables.objects import Objects, as_objects
from multikernel.tables.table import Table, as_table

Binder = Callable[..., KernelBank]  # of a family and samples: ``bind_kernels``, or ``sketched`` for a forecast


@dataclass(frozen=True, eq=False)
class ViewSamples(SampleMap):
    """New samples are several views, of which the kernels take one.

    Parameters
    ----------
    view : str, its name
    columns : int array, the samples of the columns among those of the view's bank, where it was given as one
    features : the columns of its samples in training, where it was given as samples
    example : one sample that has the view, which stands in for those that do not
    labels : the kernels' names
    kernels : int array, which of the view's kernels these are; None is all of them
    completion : what stands for the view where a sample lacks it; None for kernels that are 0 there
    observed : the anchors of the completion that have the view: their samples, or for kernel matrices their rows
    family : the kernels, which have learned; None for kernel matrices
    objects : whether the kernels take samples that are objects
    column_labels : object array, the labels of the columns of kernel matrices; None where they had none
    """

    view: str
    columns: Array | None = None
    features: Features | None = None
    example: Any = None
    labels: tuple[str, ...] | None = None
    kernels: Array | None = None
    completion: Completion | None = None
    observed: Any = None
    family: KernelFamily | None = None
    objects: bool = False
    column_labels: Any = None

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.labels

    def block(self, rows: Index, columns: Index) -> ViewSamples:
        if self.columns is None:
            return self
        return replace(self, columns=self.columns[positions(columns, len(self.columns))])

    def select(self, index: Index) -> ViewSamples:
        if self.labels is None:
            return self
        chosen = positions(index, len(self.labels))
        labels = tuple(self.labels[k] for k in chosen)
        return replace(self, labels=labels, kernels=chosen if self.kernels is None else self.kernels[chosen])

    def cross(self, bank: KernelBank, X: Any) -> KernelBank:
        X = Views.of(X)
        if self.features is None:
            return self._cross_matrices(bank, X)
        samples, present = self._new(X)
        if present.all():
            return bank.cross(samples)
        if self.completion is None:
            return _zeroed(bank.cross(samples), present)
        mixed = bank if isinstance(bank, MixedBank) else MixedBank(bank, identity(0), identity(bank.shape[1]))
        return mixed.crossed(*self._completed(samples, present, X))

    def _completed(self, samples: Any, present: Array, X: Views) -> tuple[Any, Any]:
        """Samples, and weights (CSR) of these whose sums the samples of X are."""
        if self.completion is None or present.all():  # nothing completes the only view
            return samples, sparse.diags_array(present.astype(float)).tocsr()
        anchors = len(present) + np.arange(self.observed.shape[0])
        return stacked(samples, self.observed), mixing(present, self.completion.weights(X[~present]), anchors)

    def between(self, X: Views, Z: Views) -> KernelBank:
        """The kernels of samples X against samples Z.

        Raises
        ------
        ValueError : where the view is known by kernel matrices, and these samples are not in them
        """
        if self.family is None:
            return self._between_matrices(X, Z)
        columns, right = self._completed(*self._new(Z), Z)
        bank = MixedBank(bind_kernels(self.family, columns, memory=0), right, right)
        if not bank.local:
            raise ValueError(
                "kernels that are centred by the training sample are known between new and training samples only; "
                "learn them without centred(), or take features of the centred kernels"
            )
        return bank if X is Z else bank.crossed(*self._completed(*self._new(X), X))

    def _between_matrices(self, X: Views, Z: Views) -> KernelBank:
        """The kernel matrices between samples; those that lack the view are weighted sums of training samples."""
        whole = X.parts[X.names.index(self.view)] if self.view in X.names else None
        if whole is not None and X.has(self.view).all() and Z.has(self.view).all():
            return matrices_between(self.view, X, Z)
        if self.completion is None or not isinstance(whole, KernelBank) or not any(whole is part for part in Z.parts):
            raise ValueError(
                f"view {self.view!r} is a kernel matrix, which some samples lack: give both samples as parts of the "
                "same views(...) to have it completed"
            )
        observed = whole.shape[1] == self.observed.shape[2] and np.array_equal(
            stack_of(whole.block(self._anchors_among_all, slice(None))), self.observed, equal_nan=True
        )
        if not observed:
            raise ValueError(
                f"view {self.view!r} is another kernel matrix than in training, and some samples lack it: give "
                "samples as parts of the views(...) of training to have it completed"
            )
        right = self._among_all(Z, whole.shape[0])
        return MixedBank(whole, right if X is Z else self._among_all(X, whole.shape[0]), right)

    @property
    def _anchors_among_all(self) -> Array:
        """The anchors that have the view, among all samples of its bank."""
        assert self.completion is not None
        assert self.columns is not None
        own: Array = self.columns[self.completion.anchors.rows[self.completion.observed]]
        return own

    def _among_all(self, X: Views, n: int) -> Any:
        """Samples as weighted sums of all n samples of the view's bank, a CSR matrix."""
        assert self.completion is not None
        present = X.has(self.view)
        here, away = np.flatnonzero(present), np.flatnonzero(~present)
        own = self._anchors_among_all
        weights = self.completion.weights(X[~present]) if len(away) else np.empty((0, len(own)))
        rows = np.concatenate([here, np.repeat(away, len(own))])
        columns = np.concatenate([rows_of(X)[here], np.tile(own, len(away))])
        values = np.concatenate([np.ones(len(here)), weights.ravel()])
        return sparse.csr_array((values, (rows, columns)), shape=(len(X), n))

    def self_values(self, bank: KernelBank, X: Any) -> Array:
        X = Views.of(X)
        if self.features is not None:
            samples, present = self._new(X)
            values = bank.self_values(samples) * present
        else:
            whole = X.parts[X.names.index(self.view)] if self.view in X.names else None
            if not (isinstance(whole, KernelBank) and whole.square):
                return bank.self_values(whole)
            present = X.has(self.view)
            values = whole.diagonal()[:, slice(None) if X.rows is None else X.rows] * present
            values = values if self.kernels is None else values[self.kernels]
        if self.completion is None or present.all():
            return values
        warn_user(
            "standard deviations of samples that lack a view are those of its completed kernels: they do not say how "
            "far the view may be from what completes it, and are too small where it matters",
            PredictionWarning,
        )
        anchors = self.completion.bank if self.kernels is None else self.completion.bank.select(self.kernels)
        weights = np.zeros((anchors.shape[0], int((~present).sum())))
        weights[self.completion.observed] = self.completion.weights(X[~present]).T
        values[:, ~present] = anchors.quads(weights)
        return values

    def _new(self, X: Views) -> tuple[Any, Array]:
        """New samples as kernels take them, another one in place of each that lacks the view, and which have it."""
        nothing = self.example[np.zeros(len(X), dtype=int)], np.zeros(len(X), dtype=bool)
        if self._is_missing(X):
            return nothing
        part = X.part(self.view)
        samples, present = view_samples(self.view, part, self.objects)
        if isinstance(self.example, Objects) and not isinstance(samples, Objects):
            raise ValueError(
                f"view {self.view!r} held objects in training, and holds numbers now: give a list of objects"
            )
        present = present & X.has(self.view)
        before = self.features
        assert before is not None
        now = features_of(part, samples)
        if isinstance(samples, Objects):  # of any length
            now = before
        if now.n != before.n or (now.names or before.names) != (before.names or now.names):
            was, got = (shortened(each.names, 10) if each.names else f"{each.n} columns" for each in (before, now))
            raise ValueError(f"view {self.view!r} had {was} in training, and has {got} now")
        if not present.any():
            return nothing
        samples = samples.with_types(before.strings, before.times) if isinstance(samples, Table) else samples
        now = features_of(part, samples)
        other = (set(now.strings) ^ set(before.strings)) | (set(now.times) ^ set(before.times))
        if other:
            raise ValueError(f"view {self.view!r}: {before.name(min(other))} has another type than in training")
        self._check_complete(samples, present)
        return samples[stand_ins(present)], present

    def _check_complete(self, samples: Any, present: Array) -> None:
        """ValueError where a cell is missing of samples that have the view, and a kernel does not take that."""
        missing = samples.among(np.flatnonzero(present)).missing.tolist() if isinstance(samples, Table) else []
        if not missing or self.family is None or self.features is None:
            return
        try:
            self.family.resolve(replace(self.features, missing=tuple(missing)))
        except ValueError as error:
            raise ValueError(f"view {self.view!r}: {error}") from None

    def _cross_matrices(self, bank: KernelBank, X: Views) -> KernelBank:
        """New samples against the columns, where the view was given as kernel matrices."""
        given = None if self._is_missing(X) else X.part(self.view)
        given = matched_columns(self.view, given, X.columns.get(self.view), self.column_labels)
        if isinstance(given, KernelBank):  # against all samples of the view's bank
            given = given if self.kernels is None else given.select(self.kernels)
        present = np.zeros(len(X), dtype=bool) if given is None else known_rows(given) & X.has(self.view)
        if self.completion is None or present.all():
            if isinstance(given, KernelBank) and not isinstance(bank, MixedBank):
                return given if self.columns is None else given.block(slice(None), self.columns)
            return bank.cross(given.matrices() if isinstance(given, KernelBank) else np.asarray(given))
        observed = self.observed if self.kernels is None else self.observed[self.kernels]
        values = np.zeros((len(observed), len(X), observed.shape[2]))
        if given is not None:
            values[:, present] = stack_of(given)[:, present]
        values[:, ~present] = self.completion.weights(X[~present]) @ observed
        return bank.cross(values)

    def _is_missing(self, X: Views) -> bool:
        """Whether no sample has the view, which a warning says.

        Raises
        ------
        ValueError : where X has views that training had not, or the model cannot complete the view
        """
        if self.view in X.names:
            extra = [] if self.completion is None else [n for n in X.names if n not in self.completion.anchors.views]
            if extra:
                warn_user(
                    f"views that training had not are ignored: {shortened(list(map(repr, extra)))}", PredictionWarning
                )
            return False
        known = () if self.completion is None else self.completion.anchors.views
        if not set(X.names) <= set(known):
            unknown = next((name for name in X.names if name not in known), None)
            if not known or unknown is None:
                X.part(self.view)  # raises
            raise ValueError(
                f"X has a view {unknown!r}, and training had {shortened(list(map(repr, known)))}: give views the names "
                "that they had in training"
            )
        warn_user(
            f"view {self.view!r} is missing: it is completed by what training samples show of it beside "
            f"{shortened(list(map(repr, X.names)))}",
            PredictionWarning,
        )
        return True


# -- training samples --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LearnedView:
    """What the training samples determine of one view.

    Parameters
    ----------
    name : str
    given : its samples as kernels take them, another one in place of each that lacks the view; or its bank
    present : bool array (n,), which samples have it
    samples : how new samples meet these
    """

    name: str
    given: Any
    present: Array
    samples: ViewSamples

    @property
    def family(self) -> KernelFamily | None:
        """The kernels; None where they are matrices."""
        return self.samples.family

    def bank(self, rows: Array, binder: Binder = bind_kernels, **options: Any) -> MappedBank:
        """The kernels between some of the training samples, which are 0 where one lacks the view."""
        if self.family is None:
            bank = self.given.block(rows, rows)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is named by who asks for the bank
                bank = binder(self.family, self.given[rows], **options)
        if not self.present[rows].all():
            bank = bank.weighted(self.present[rows].astype(float))
        return MappedBank(bank, self.samples.block(rows, rows))


def learned_views(X: Views, families: Callable[[str, Any], KernelFamily]) -> list[LearnedView]:
    """The views of a training sample, with kernels that have learned.

    Parameters
    ----------
    X : the training samples
    families : function of a view's name and samples, its kernels

    Raises
    ------
    ValueError : where no sample has a view, or a kernel does not take what a column holds
    """
    return [
        _of_matrices(view, part, X) if isinstance(part, KernelBank) else _of_samples(view, part, X, families)
        for view, part in X.items()
    ]


def _of_matrices(view: str, bank: KernelBank, X: Views) -> LearnedView:
    names = bank.names or tuple(f"kernel {k}" for k in range(len(bank)))
    columns = np.arange(len(X)) if X.rows is None else X.rows
    named = X.columns.get(view)
    column_labels = None if named is None else np.array(list(named), dtype=object)
    samples = ViewSamples(view, columns=columns, labels=tuple(names), column_labels=column_labels)
    return LearnedView(view, bank, X.has(view), samples)


def _of_samples(view: str, part: Any, X: Views, families: Callable[[str, Any], KernelFamily]) -> LearnedView:
    family = families(view, part)
    samples, present = view_samples(view, part, family.takes_objects)
    present = present & X.has(view)
    if not present.any():
        raise ValueError(f"view {view!r} is missing for all samples")
    features = features_of(part, samples)
    having = np.flatnonzero(present)
    some = samples[having]
    missing = samples.among(having).missing.tolist() if isinstance(samples, Table) else ()
    takes_objects = family.takes_objects
    family = family.resolve(replace(features, missing=tuple(missing))).learned(some)
    whole = some if present.all() else samples[stand_ins(present)]
    labels = tuple(family.names)
    new = ViewSamples(view, features=features, example=some[:1], labels=labels, family=family, objects=takes_objects)
    return LearnedView(view, whole, present, new)


def bind_views(
    X: Views,
    learned: list[LearnedView],
    precision: Callable[[int, int], Any],
    binder: Binder = bind_kernels,
    sketch: bool = False,
) -> list[MappedBank]:
    """The kernels of each view on the training samples.

    Parameters
    ----------
    X : the training samples
    learned : what ``learned_views`` made of them
    precision : function of how many kernels there are and how many samples, the precision in which they are stored
    binder : what makes a bank of kernels and samples
    sketch : whether the bank only has to say what it costs
    """
    n = len(X)
    every = np.arange(n)
    banks: list[MappedBank] = []
    anchors = None if sketch or len(learned) == 1 else _anchors(learned)
    for place, view in enumerate(learned):
        dtype = None if view.family is None else precision(len(view.family), n)
        if anchors is None:
            banks.append(view.bank(every, binder, dtype=dtype))
            continue
        completion = Completion(anchors, place)
        own = anchors.rows[completion.observed]
        observed = view.given[own] if view.family is not None else stack_of(X[own].part(view.name))
        samples = replace(view.samples, completion=completion, observed=observed)
        if view.family is None:
            bank = view.given
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                bank = binder(view.family, view.given, dtype=dtype)
        if not view.present.all():
            rows = mixing(view.present, completion.weights(X[~view.present]), own)
            bank = MixedBank(bank, rows, rows)
        banks.append(MappedBank(bank, samples))
    return banks


def _anchors(learned: list[LearnedView]) -> Anchors:
    """The samples by which views are completed, with their kernels, none of which is stored."""
    present = [view.present for view in learned]
    rows = anchor_rows(present)
    banks = tuple(view.bank(rows, memory=0) for view in learned)
    return Anchors(tuple(view.name for view in learned), rows, banks, tuple(has[rows] for has in present))


def bank_of_views(parts: Sequence[KernelBank]) -> KernelBank:
    """The kernels of all views; a ConcatenatedBank where there are several."""
    if len(parts) == 1:
        return parts[0]
    return ConcatenatedBank(tuple(parts), np.arange(sum(map(len, parts))))


def mixing(present: Array, weights: Array, columns: Array) -> Any:
    """Samples as weighted sums: themselves where they have a view, and else of some columns, as a CSR matrix.

    Parameters
    ----------
    present : bool array (n,), which have it
    weights : array (lacking samples, q)
    columns : int array (q,), the columns to which the weights belong
    """
    n = len(present)
    here = np.flatnonzero(present)
    away = np.repeat(np.flatnonzero(~present), len(columns))
    rows = np.concatenate([here, away])
    where = np.concatenate([here, np.tile(columns, n - len(here))])
    values = np.concatenate([np.ones(len(here)), weights.ravel()])
    width = max(n, int(columns.max(initial=-1)) + 1)
    return sparse.csr_array((values, (rows, where)), shape=(n, width))


def stacked(first: Any, then: Any) -> Any:
    """Samples of two parts in the same form, one after the other."""
    if isinstance(first, Objects):
        return Objects(np.concatenate([first.values, then.values]))
    if isinstance(first, Table) or isinstance(then, Table):
        one, two = (each if isinstance(each, Table) else Table.of_numbers(each) for each in (first, then))
        return replace(one, numbers=np.vstack([one.numbers, two.numbers]), texts=np.vstack([one.texts, two.texts]))
    if hasattr(first, "tocsr"):
        return sparse.vstack([first, then], format="csr")
    return np.concatenate([first, then])


def _zeroed(bank: KernelBank, present: Array) -> KernelBank:
    """New samples whose kernels are 0 where they lack a view."""
    return WeightedBank(bank, left=present.astype(float), right=np.ones(bank.shape[1]))


def view_samples(view: str, part: Any, objects: bool = False) -> tuple[Any, Array]:
    """Samples of a view as kernels take them, and which of them have it.

    Parameters
    ----------
    view : str, its name
    part : as the user gave it
    objects : whether the kernels take samples that are objects

    Raises
    ------
    ValueError : that names the view, where it holds no samples
    """
    if objects and (found := as_objects(part)) is not None:
        return found, ~found.absent
    listed = isinstance(part, Objects)
    if listed:
        part = as_array(list(part.values), f"view {view!r}")
    try:
        return _samples_of(part)
    except OverflowError:
        raise ValueError(f"view {view!r} holds a number above 1e308: give it in larger units") from None
    except (TypeError, ValueError) as error:
        more = "; kernels of objects are made by kernels.external(...)" if listed else ""
        raise ValueError(f"view {view!r}: {error}{more}") from None


def _samples_of(part: Any) -> tuple[Any, Array]:
    """The same for a view without a name."""
    if len(part.shape) > 1 and part.shape[1] == 0:
        raise ValueError("it has no columns")
    if getattr(getattr(part, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: it holds complex numbers; give their parts as numbers")
    part = part.reshape(-1, 1) if isinstance(part, np.ndarray) and part.ndim == 1 else part
    table = as_table(part)
    if table is not None:
        return table, ~table.absent
    X = check_array(part, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
    if hasattr(X, "tocsr") and not np.isfinite(X.data).all():
        raise ValueError("it is sparse and has a NaN among its entries; leave these out or fill them in")
    if hasattr(X, "tocsr") or not np.isnan(X).any():
        return X, np.ones(X.shape[0], dtype=bool)
    table = Table.of_numbers(X)
    return table, ~table.absent


def features_of(part: Any, samples: Any) -> Features:
    """The columns of a view, by name where it is a frame."""
    return replace(Features.of(samples), names=column_names(part) if is_frame(part) else None)
