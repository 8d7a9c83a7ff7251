"""The similarity of samples to a model: a map of the samples by the learned kernel, and the kernels as pictures.

The map shows the first two kernel principal components of the learned kernel K of n samples (Schölkopf, Smola and
Müller 1998): with the eigenvectors v and eigenvalues l of HKH, H = I - 11'/n, sample i has the coordinates
(sqrt(l_1) v_1i, sqrt(l_2) v_2i), and the two directions have the share (l_1 + l_2) / tr(HKH) of the variance in the
space of the kernel.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from multikernel.app.drawing import intervals, label
from multikernel.app.short_names import shortened
from multikernel.app.web.learning.predicting import LearnedModel, collected_warnings
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import TrainingSamples, as_model_input, belongs_to_view
from multikernel.app.web.learning.summary import short_kernel_names
from multikernel.datasets import Task
from multikernel.typing import Array

_MAPPED = 500  # samples of a map
_DRAWN = 200  # samples of a matrix
_MATRICES = 8  # pictures beside that of the learned kernel
_SHADES = 32  # shades of a picture: about 15 kB for 200 samples
_LETTERS = 30  # letters of a name or a cell in the tip of a sample
_GROUPS = 6  # as many groups as there are colours of classes
_SHADES_OF_NUMBERS = 5
_CONSTANT = "No kernel has a weight: the answer is the same for all samples."
_BLUE = (36, 122, 191)  # visible on white and on black


@dataclass(frozen=True, eq=False)
class LearnedMap:
    """A map of samples.

    Parameters
    ----------
    places : int array (n,), the indices of the samples among those of the run
    x, y : arrays (n,), the coordinates
    shares : the shares of the two directions in the variance in the space of the kernel
    """

    places: Array
    x: Array
    y: Array
    shares: tuple[float, float]


@dataclass(frozen=True, eq=False)
class KernelPictures:
    """Kernels between the same samples, sorted by their target.

    Parameters
    ----------
    places : int array (n,), the indices of the samples among those of the run
    names : list of str, the learned kernel first
    pictures : list of bytes, PNG files of n x n points
    left_out : int, the number of kernels with a weight that are not drawn
    reason : str, why there are no pictures of single kernels; "" where there are pictures
    """

    places: Array
    names: list[str]
    pictures: list[bytes]
    left_out: int
    reason: str


def sample_map(learned: LearnedModel, samples: TrainingSamples) -> LearnedMap:
    """The first two kernel principal components of the learned kernel.

    Parameters
    ----------
    learned : the model
    samples : its training samples

    Raises
    ------
    ValueError : where the model has no kernel between any samples
    """
    places = samples.subsample(_MAPPED)
    K = _learned_kernel(learned, samples.X.iloc[places])
    means = K.mean(axis=0)
    centred = K - means - means[:, None] + means.mean()
    values, vectors = np.linalg.eigh(centred)
    total = max(float(np.trace(centred)), 0.0)
    components = []
    for k in (-1, -2):
        # the sign of an eigenvector is arbitrary: its largest entry is made positive
        vector = vectors[:, k] * np.sign(vectors[np.abs(vectors[:, k]).argmax(), k])
        value = max(float(values[k]), 0.0)
        if value <= len(K) * np.finfo(float).eps * total:
            value = 0.0
        components.append((np.sqrt(value) * vector, value / total if total > 0.0 else 0.0))
    (x, first), (y, second) = components
    return LearnedMap(places, x, y, (first, second))


def kernel_pictures(learned: LearnedModel, samples: TrainingSamples) -> KernelPictures:
    """The learned kernel and its components: one for each view where there are several, else those of most weight.

    Parameters
    ----------
    learned : the model
    samples : its training samples

    Raises
    ------
    ValueError : where the model has no kernel between any samples
    """
    places = samples.subsample(_DRAWN)
    places = places[np.argsort(samples.first_target[places], kind="stable")]
    X = samples.X.iloc[places]
    learned_kernel = _learned_kernel(learned, X)
    single_kernels, left_out, reason = _single_kernels(learned, X)
    names = ["the learned kernel", *(name for name, _ in single_kernels)]
    pictures = [picture(K) for K in (learned_kernel, *(K for _, K in single_kernels))]
    return KernelPictures(places, names, pictures, left_out, reason)


def _learned_kernel(learned: LearnedModel, X: pd.DataFrame) -> Array:
    """The learned kernel between samples; ValueError where the model has none, or it is not finite."""
    K = _kernel(learned.model, X, learned.recipe)
    if not np.isfinite(K).all():
        raise ValueError("The learned kernel is not finite between some of the samples, so it cannot be drawn.")
    return K


def _kernel(model: Any, X: pd.DataFrame, recipe: Recipe) -> Array:
    with collected_warnings():  # which were shown already: these are training samples
        return np.asarray(model.kernel_matrix(as_model_input(model, X.reset_index(drop=True), recipe)), dtype=float)


def _single_kernels(learned: LearnedModel, X: pd.DataFrame) -> tuple[list[tuple[str, Array]], int, str]:
    """The kernels by name, the number of kernels with a weight that are left out, and why there may be none."""
    model = learned.model
    if hasattr(model, "answer_"):
        candidates, left_out = _candidates(learned, X)
        return candidates, left_out, "" if candidates else _CONSTANT
    predictor: Any = getattr(model, "predictor_", None)
    names = short_kernel_names(getattr(model, "kernel_names_", ()))
    if not getattr(predictor, "linear", False) or predictor.weights.shape[-1] != len(names):
        return [], 0, "The kernels are not simply added, so they have no pictures of their own."
    weights = np.atleast_2d(model.weights_).mean(axis=0)
    views = list(learned.recipe.by_view)
    if len(views) > 1:
        groups = {view: [k for k, name in enumerate(names) if belongs_to_view(name, view)] for view in views}
        groups = {view: indices for view, indices in groups.items() if weights[indices].sum() > 0.0}
    else:
        order = np.argsort(-weights, kind="stable")
        groups = {names[k]: [k] for k in order.tolist() if weights[k] > 0.0}
    if not groups:
        return [], 0, _CONSTANT
    matrices = []
    for name, indices in list(groups.items())[:_MATRICES]:
        group_weights = np.zeros_like(predictor.weights)
        group_weights[:, indices] = predictor.weights[:, indices]
        group_model = copy(model)
        group_model.predictor_ = replace(predictor, weights=group_weights)
        matrices.append((name, _kernel(group_model, X, learned.recipe)))
    return matrices, max(len(groups) - _MATRICES, 0), ""


def _candidates(learned: LearnedModel, X: pd.DataFrame) -> tuple[list[tuple[str, Array]], int]:
    """The kernels of the automatic estimator that have a weight."""
    model = learned.model
    model_input = as_model_input(model, X.reset_index(drop=True), learned.recipe)
    samples = model.preparation_.samples(model.preparation_.read(model_input))
    order = np.argsort(-model.weights_, kind="stable").tolist()
    names = list(map(str, model.kernel_names_))
    members = model.answer_.members
    matrices = [(names[k], np.asarray(members[k].similarity(samples, samples), dtype=float)) for k in order[:_MATRICES]]
    return matrices, max(len(order) - _MATRICES, 0)


def picture(K: Array) -> bytes:
    """A matrix as a PNG file, from transparent at its 1st percentile to opaque at its 99th; half opaque if constant.

    Parameters
    ----------
    K : array (n, n)
    """
    low, high = np.quantile(K, [0.01, 0.99])
    if high > low:
        shades = np.clip((K - low) / (high - low), 0.0, 1.0) * (_SHADES - 1)
    else:
        shades = np.full(K.shape, _SHADES // 2)
    rows = np.asarray(shades.round(), dtype=np.uint8)
    lines = b"".join(b"\x00" + row.tobytes() for row in rows)
    height, width = rows.shape
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(_BLUE) * _SHADES),
        (b"tRNS", bytes(round(255 * k / (_SHADES - 1)) for k in range(_SHADES))),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))


def _chunk(chunk: tuple[bytes, bytes]) -> bytes:
    kind, data = chunk
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def target_groups(y: Array, task: Task) -> tuple[Array, list[str]]:
    """The group of each sample, and the names of the groups: classes, with the rarest of many in one, or quantiles.

    Parameters
    ----------
    y : array (n,), the target
    task : what is learned
    """
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        if len(labels) <= _GROUPS:
            return np.searchsorted(labels, y), list(map(str, labels))
        common = np.sort(labels[np.argsort(-counts, kind="stable")[: _GROUPS - 1]])
        places = np.minimum(np.searchsorted(common, y), _GROUPS - 2)
        group = np.where(common[places] == y, places, _GROUPS - 1)
        return group, [*map(str, common), f"one of {len(labels) - len(common)} others"]
    ends = np.unique(np.quantile(y, np.linspace(0.0, 1.0, _SHADES_OF_NUMBERS + 1)))
    if len(ends) < 2:
        return np.zeros(len(y), dtype=int), [label(ends[0])]
    group = np.clip(np.searchsorted(ends, y, side="right") - 1, 0, len(ends) - 2)
    return group, intervals(ends.tolist())


def shown_cells(X: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """For each sample the cells of these columns in one text.

    Parameters
    ----------
    X : the samples
    columns : names of their columns
    """
    texts = [[_cell(value) for value in X[name]] for name in columns]
    return [
        ", ".join(f"{shortened(name, _LETTERS)} {cell}" for name, cell in zip(columns, cells, strict=True))
        for cells in zip(*texts, strict=True)
    ]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, float):
        return f"{value:.6g}"
    return shortened(str(value), _LETTERS)
