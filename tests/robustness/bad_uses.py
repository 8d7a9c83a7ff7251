"""Wrong uses of everything public, and whether what is said of them is one sentence of ours.

An error is obscure where it is neither ValueError nor TypeError, or was not raised by this package or by the checks of
scikit-learn, which users of its estimators know, or where it says less than a sentence.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from everyone import NAMES, given_to, model_of
from scipy import sparse

import multikernel as mk
from multikernel import diagnostics, kernels

_OURS = ("/multikernel/", "/sklearn/utils/", "/sklearn/base.py", "/sklearn/model_selection/", "/sklearn/metrics/")
_LEAST = 20  # characters of a sentence
N = 14
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
Y = X[:, 0] + X[:, 1]
LABELS = np.arange(N) % 2


def with_cell(value: Any, dtype: Any = float) -> Any:
    """The samples with another value in one cell."""
    changed = X.astype(dtype)
    changed[3, 1] = value
    return changed


def target_with(value: Any, dtype: Any = float) -> Any:
    changed = Y.astype(dtype)
    changed[3] = value
    return changed


KERNEL = X @ X.T
LABELLED = pd.DataFrame(X, index=[f"p{i}" for i in range(N)])
LOOP: list[Any] = []
LOOP.append(LOOP)
SAMPLES: dict[str, Any] = {
    "None": None,
    "a number": 3.0,
    "a word": "samples",
    "bytes": b"samples",
    "an object": object(),
    "a function": len,
    "a class": dict,
    "a generator": (row for row in X),
    "a set": {1.0, 2.0},
    "an empty list": [],
    "an empty dict": {},
    "a dict of numbers": {"a": 1.0},
    "rows of different lengths": [[1.0, 2.0], [3.0]] * 7,
    "a vector": X[:, 0],
    "a number in an array": np.array(1.0),
    "four axes": X.reshape(N, 3, 1, 1),
    "no rows": X[:0],
    "no columns": X[:, :0],
    "one row": X[:1],
    "a NaN": with_cell(np.nan),
    "an infinity": with_cell(np.inf),
    "a huge number": with_cell(1e300),
    "a word in a cell": with_cell("word", object),
    "None in a cell": with_cell(None, object),
    "a list in a cell": with_cell([1], object),
    "complex numbers": X.astype(complex),
    "dates": np.full((N, 3), "2024-01-01", dtype="M8[D]"),
    "a structure": np.zeros(N, dtype=[("a", float), ("b", int)]),
    "masked": np.ma.masked_greater(X, 0.5),
    "sparse with a NaN": sparse.csr_array(with_cell(np.nan)),
    "sparse, other form": sparse.coo_array(X),
    "a sparse vector": sparse.csr_array(X[:, :1]),
    "a frame of no rows": pd.DataFrame({"a": [], "b": []}),
    "a frame of no columns": pd.DataFrame(index=range(N)),
    "a frame of objects": pd.DataFrame({"a": [object()] * N, "b": range(N)}),
    "a series": pd.Series(Y),
    "too many rows": np.vstack([X, X]),
    "negative zero": -0.0 * X,
    "a stack of few": np.zeros((2, 3, 4)),
    "a list that holds itself": LOOP,
    "an integer beyond all floats": with_cell(10**400, object),
    "pd.NA in a cell": with_cell(pd.NA, object),
    "a frame with pd.NA": pd.DataFrame(with_cell(pd.NA, object)),
    "a frame with two equal names": pd.DataFrame(X, columns=["a", "a", "b"]),
    "a frame of lists": pd.DataFrame({"a": [[1.0]] * N}),
    "a frame of complex numbers": pd.DataFrame(X + 1j),
    "bytes in cells": X.astype("S8"),
    "times beside numbers": np.array([[1.0, np.datetime64("2024-01-01")]] * N, dtype=object),
    "all missing": np.full((N, 3), np.nan),
    "a triangle of a stack": np.stack([KERNEL, np.triu(KERNEL)]),
    "a stack that is not square": np.zeros((2, N, 3)),
    "a list of matrices of two sizes": [KERNEL, KERNEL[:5, :5]],
    "a bank that is not square": mk.precomputed([KERNEL]).block(np.arange(N), np.arange(5)),
    **{
        f"a view: {words}": {"right": X, "wrong": view}
        for words, view in {
            "None": None,
            "a number": 1.0,
            "a word": "view",
            "an object": object(),
            "a dict": {"inside": X},
            "nothing": [],
            "no columns": X[:, :0],
            "a frame of no columns": pd.DataFrame(index=range(N)),
            "all missing": np.full((N, 2), np.nan),
            "a column of nothing": [None] * N,
            "one NaN": with_cell(np.nan),
            "an infinity": with_cell(np.inf),
            "a huge number": with_cell(1e300),
            "an integer beyond all floats": with_cell(10**400, object),
            "complex numbers": X + 1j,
            "three axes": X[:, :, None],
            "objects": np.array([object()] * N),
            "a list that holds itself": LOOP,
            "rows of different lengths": [[1.0, 2.0], [3.0]] * 7,
            "fewer rows": X[1:],
            "a structure": np.zeros(N, dtype=[("a", float), ("b", int)]),
            "sparse with a NaN": sparse.csr_array(with_cell(np.nan)),
            "a triangle": np.triu(KERNEL),
            "a frame of a triangle": pd.DataFrame(np.triu(KERNEL)),
            "a hole in a matrix": np.where(np.arange(N * N).reshape(N, N) == 17, np.nan, KERNEL),
            "no kernel": -KERNEL,
            "an infinite matrix": np.full((N, N), np.inf),
            "a complex matrix": KERNEL * 1j,
            "a masked matrix": np.ma.masked_greater(KERNEL, 1.0),
            "a matrix of words": np.full((N, N), "word"),
            "a generator": (row for row in X),
        }.items()
    },
    "views in two orders": {"a": LABELLED, "b": LABELLED.iloc[::-1]},
}
TARGETS: dict[str, Any] = {
    "None": None,
    "a number": 1.0,
    "a word": "target",
    "empty": [],
    "too short": Y[:5],
    "one value": np.zeros(N),
    "a NaN": target_with(np.nan),
    "an infinity": target_with(np.inf),
    "words": np.array(list("ab") * 7),
    "words and numbers": np.array(["a", 1.0] * 7, dtype=object),
    "None in it": target_with(None, object),
    "complex": Y + 1j,
    "three axes": Y.reshape(N, 1, 1),
    "a column": Y[:, None],
    "two columns": np.column_stack([Y, Y]),
    "no columns": np.zeros((N, 0)),
    "sparse": sparse.csr_array(Y[:, None]),
    "a dict": {"y": Y},
    "a generator": (value for value in Y),
    "dates": np.full(N, "2024-01-01", dtype="M8[D]"),
    "a set": set(range(N)),
    "lists": [[1], [2, 3]] * 7,
    "a class of its own for each": np.arange(N),
    "huge": 1e308 * np.sign(Y),
    "tiny": 1e-310 * Y,
    "an object": object(),
    "a list that holds itself": LOOP,
    "an integer beyond all floats": target_with(10**400, object),
    "pd.NA": target_with(pd.NA, object),
    "pd.NA in integers": pd.Series(target_with(pd.NA, object)[:3].tolist() + [1] * (N - 3)).convert_dtypes(),
    "None among words": np.array(["a", "b", None] * 4 + ["a", "b"], dtype=object),
    "NaN in a list of words": ["a", "b", float("nan")] * 4 + ["a", "b"],
    "NA in a categorical": pd.Series(["a", None] * 7, dtype="category"),
    "a structure": np.zeros(N, dtype=[("event", bool), ("time", float)]),
    "masked": np.ma.masked_greater(Y, 0.0),
    "a frame": pd.DataFrame({"a": Y, "b": Y}),
    "indicators": np.eye(2)[LABELS],
    "1e300": target_with(1e300),
    "a class": dict,
    "bytes": np.array([b"a", b"b"] * 7),
    "durations": np.full(N, 3, dtype="m8[D]"),
}
WEIGHTS: dict[str, Any] = {
    "a word": "heavy",
    "too short": np.ones(3),
    "negative": -np.ones(N),
    "zeros": np.zeros(N),
    "a NaN": target_with(np.nan),
    "two axes": np.ones((N, 2)),
    "None in it": np.array([None] * N),
    "a number": 2.0,
    "an object": object(),
    "words": ["a"] * N,
    "complex": np.ones(N) * 1j,
    "masked": np.ma.masked_greater(np.abs(Y), 1.0),
    "an infinity": target_with(np.inf),
    "an integer beyond all floats": [10**400] * N,
    "a dict": {"a": 1.0},
    "a list that holds itself": LOOP,
}
VALUES: tuple[Any, ...] = (
    None,
    -1,
    0,
    float("nan"),
    float("inf"),
    -0.5,
    "word",
    "",
    b"bytes",
    [],
    [None],
    {},
    {"a": 1},
    (),
    object(),
    len,
    dict,
    True,
    1j,
    10**400,
    np.array([1.0, -2.0]),
    np.float32(2.0),
    np.nan * np.ones(3),
    "auto",
)


@dataclass(frozen=True)
class Try:
    """One wrong use: what it is, and the call."""

    words: str
    call: Callable[[], Any]


def fits(name: str) -> Iterator[Try]:
    """An estimator with wrong samples, targets, weights, parameters, and new samples."""
    model = model_of(name)
    right = given_to(name, model, N)
    for words, wrong in SAMPLES.items():
        yield Try(f"{name}: fit to samples: {words}", partial(model_of(name).fit, wrong, *right[1:]))
    if len(right) > 1:
        for words, wrong in TARGETS.items():
            yield Try(f"{name}: fit to a target: {words}", partial(model_of(name).fit, right[0], wrong))
    if "sample_weight" in inspect.signature(model.fit).parameters:
        for words, wrong in WEIGHTS.items():
            yield Try(f"{name}: sample_weight: {words}", partial(model_of(name).fit, *right, sample_weight=wrong))
    for parameter in model.get_params(deep=False):
        for value in VALUES:
            yield Try(f"{name}: {parameter}={value!r:.40}", partial(_set_and_fit, name, parameter, value, right))


def predictions(name: str) -> Iterator[Try]:
    """A fitted estimator, and one that is not, at wrong new samples."""
    model = model_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*given_to(name, model, N))
    for words, wrong in SAMPLES.items():
        yield Try(f"{name}: predict at samples: {words}", partial(model.predict, wrong))
    for words, wrong in {
        "fewer columns": X[:, :2],
        "more": np.hstack([X, X]),
        "a frame": pd.DataFrame(X, columns=list("abc")),
    }.items():
        yield Try(f"{name}: predict at {words}", partial(model.predict, wrong))


def _set_and_fit(name: str, parameter: str, value: Any, right: tuple[Any, ...]) -> Any:
    return model_of(name).set_params(**{parameter: value}).fit(*right)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "spectral_ratio": (diagnostics.spectral_ratio, (np.eye(4),)),
    "alignment": (diagnostics.alignment, (np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]))),
    "meb_radius": (diagnostics.meb_radius, (np.eye(4),)),
    "center_of_mass": (diagnostics.center_of_mass, (np.ones(3),)),
    "check_kernel": (diagnostics.check_kernel, (np.eye(4),)),
    "simplex_least_squares": (mk.simplex_least_squares, (np.eye(4), np.ones(4))),
    "bind": (mk.bind, (kernels.rbf_grid([1.0]), X)),
    "precomputed": (mk.precomputed, (np.eye(4)[None],)),
    "path": (mk.path, (mk.EasyMKLClassifier(kernels.rbf_grid([1.0])), X, LABELS, "lam", [0.5])),
    "checkpoints": (mk.checkpoints, ("/nowhere",)),
    "register": (mk.register, (kernels.RBF,)),
    "rbf_grid": (kernels.rbf_grid, ([1.0],)),
    "polynomials": (kernels.polynomials, ((1, 2),)),
    "homogeneous_polynomials": (kernels.homogeneous_polynomials, (3,)),
    "per_feature": (kernels.per_feature, (kernels.RBF(1.0),)),
    "random_monomials": (kernels.random_monomials, (3, 50)),
    "column_groups": (kernels.column_groups, ({"a": [0]}, kernels.RBF(1.0))),
    "for_columns": (kernels.for_columns, (pd.DataFrame({"a": Y}),)),
    "kernel_importance": (mk.kernel_importance, (mk.AverageMKLRegressor(kernels.rbf_grid([1.0])).fit(X, Y), X, Y)),
    "source_values": (
        partial(mk.source_values, permutations=0, pairs=False),
        (mk.AverageMKLRegressor(kernels.rbf_grid([1.0])), {"a": X, "b": X**2}, Y),
    ),
    "weight_stability": (mk.weight_stability, (mk.AverageMKLRegressor(kernels.rbf_grid([1.0])), X, Y)),
    "RBF": (kernels.RBF, (1.0,)),
    "Polynomial": (kernels.Polynomial, (3, 1.0, 1.0)),
    "HomogeneousPolynomial": (kernels.HomogeneousPolynomial, (3,)),
    "Spectrum": (kernels.Spectrum, (3,)),
    "Laplacian": (kernels.Laplacian, (1.0,)),
}


def functions() -> Iterator[Try]:
    """Functions with each argument in turn replaced by something wrong."""
    for name, (function, right) in FUNCTIONS.items():
        for place in range(len(right)):
            for words, wrong in [*SAMPLES.items(), *((f"{value!r:.30}", value) for value in VALUES)]:
                given = [*right[:place], wrong, *right[place + 1 :]]
                yield Try(f"{name}: argument {place + 1}: {words}", partial(function, *given))


def every(names: list[str] | None = None) -> Iterator[Try]:
    """All of them."""
    for name in NAMES if names is None else names:
        yield from fits(name)
        yield from predictions(name)
    if names is None:
        yield from functions()


def said(each: Try) -> str | None:
    """What is obscure about the error of a wrong use; None where nothing is, or where the use was no error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            each.call()
    except (ValueError, TypeError, OSError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        sentence = str(error)
        if not any(part in last.filename for part in _OURS):
            return f"{type(error).__name__} of {last.filename.rsplit('/', 1)[-1]}:{last.lineno}: {sentence[:150]}"
        return None if len(sentence) >= _LEAST else f"{type(error).__name__} says {sentence!r}"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} of {last.filename.rsplit('/', 1)[-1]}:{last.lineno}: {str(error)[:150]}"
    return None


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())  # some wrong values are names of files
    counts, tried = Counter[str](), 0
    for one in every(sys.argv[1:] or None):
        tried += 1
        if (what := said(one)) is not None:
            counts[what] += 1
            print(f"{one.words}\n    {what}", flush=True)
    print(f"{tried} wrong uses, {sum(counts.values())} obscure errors")
