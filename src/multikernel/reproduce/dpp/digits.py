"""Table 5: the ten digits of MNIST by a vote of all pairs of digits, each learned by EasyMKL and an SVM."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from multikernel import EasyMKLClassifier, bind, datasets, kernels
from multikernel.reproduce.data import DataSource
from multikernel.reproduce.dpp.protocol import OVO_C, OVO_DEGREE, OVO_LAM
from multikernel.reproduce.experiment import Cell, Experiment
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.verdict import Binding, Measured, Query
from multikernel.typing import Array

PAIRS = tuple(combinations(range(10), 2))
MOVED = "moved digits"
VARIANTS = {
    MOVED: (
        "The classifier of each pair of digits is trained once more, on its support vectors and on copies of them that "
        "are shifted by one pixel to each of the four sides."
    )
}
_CAUSE = (
    "The published share of errors is reached where the classifiers are trained once more, on their support vectors "
    "and on copies of them that are shifted by one pixel. Whether the paper did this is not known; its numbers are "
    "lower than those that others report for classifiers without moved digits."
)


@lru_cache(maxsize=1)
def _digits(source: DataSource, images: str, train: int) -> tuple[Array, Array, Array, Array]:
    """Pixels and labels of the first training digits and of the test digits."""
    data = source.load("mnist")
    X = data.X
    split = np.asarray(data.split)
    if images == "deskewed":
        X = datasets.deskew(X.reshape(-1, 28, 28)).reshape(X.shape)
    training = np.flatnonzero(split == "train")[:train]
    test = split == "test"
    return X[training], data.y[training], X[test], data.y[test]


def _cells(quick: bool) -> Sequence[Cell]:
    train = 60_000
    kinds = [("raw", "stated"), ("raw", MOVED), ("deskewed", "stated"), ("deskewed", MOVED)]
    if quick:
        train = 400
        kinds = [("deskewed", "stated")]
    return [
        Cell.of(data="mnist", images=images, variant=variant, train=train, a=a, b=b)
        for images, variant in kinds
        for a, b in PAIRS
    ]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y, X_test, y_test = _digits(source, cell["images"], cell["train"])
    rows = np.flatnonzero((y == cell["a"]) | (y == cell["b"]))
    target = np.where(y[rows] == cell["a"], 1, -1)
    family = kernels.homogeneous_polynomials(OVO_DEGREE)
    model = EasyMKLClassifier(family, lam=OVO_LAM, learner="svc", C=OVO_C, tol=EXPERIMENT.tol)
    model.fit(bind(family, X[rows]), target)
    if cell["variant"] == MOVED:
        support = np.flatnonzero(model.dual_coef_)
        model.fit(bind(family, _with_moved(X[rows][support])), np.tile(target[support], 5))
    return {
        "decisions": _encode(model.decision_function(X_test)),
        "truth": _encode(y_test) if (cell["a"], cell["b"]) == PAIRS[0] else "",
        "support": int(np.count_nonzero(model.dual_coef_)),
        "weights": model.weights_,
        "certificate": float(model.duality_gap_),
    }


def _with_moved(X: Array) -> Array:
    """The images, and each moved by a pixel to the four sides."""
    images = X.reshape(-1, 28, 28)
    sides = [np.roll(images, step, axis) for axis in (1, 2) for step in (-1, 1)]
    return np.concatenate([images, *sides]).reshape(-1, X.shape[1])


def _encode(values: Array) -> str:
    return b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()


def _decode(text: str) -> Array:
    return np.frombuffer(b64decode(text), dtype="<f4").astype(float)


def _votes(decisions: Array) -> Array:
    """Votes of all pairs for each digit, ties decided by sums of decision values; (rows, pairs) to (rows, digits)."""
    votes = np.zeros((len(decisions), 10))
    sums = np.zeros_like(votes)
    for (first, second), values in zip(PAIRS, decisions.T, strict=True):
        votes[:, first] += values >= 0
        votes[:, second] += values < 0
        sums[:, first] += values
        sums[:, second] -= values
    return votes + sums / (3.0 * (1.0 + np.abs(sums)))  # sums decide between equal numbers of votes


def _errors(measurements: Sequence[Any]) -> tuple[int, int] | None:
    """The number of test digits that the votes of all pairs misclassify, and of all; None where a pair is missing."""
    if len(measurements) < len(PAIRS):
        return None
    decisions = np.stack([_decode(measurement["decisions"]) for measurement in measurements], axis=1)
    misclassified = _votes(decisions).argmax(axis=1) != _decode(measurements[0]["truth"])
    return int(misclassified.sum()), measurements[0].get("test digits", len(misclassified))


def reduced(measurements: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The measurements of all pairs, with decision values only of digits that a pair with their class misclassifies.

    The true class of any other test digit wins its nine pairs and has nine votes, while no other class has more than
    eight: the votes classify it correctly.
    """
    decisions = np.stack([_decode(measurement["decisions"]) for measurement in measurements], axis=1)
    truth = _decode(measurements[0]["truth"])
    relevant = np.zeros(len(truth), dtype=bool)
    for (first, second), values in zip(PAIRS, decisions.T, strict=True):
        relevant |= ((truth == first) & (values < 0)) | ((truth == second) & (values >= 0))
    return [
        {
            **measurement,
            "decisions": _encode(values[relevant]),
            "truth": _encode(truth[relevant]) if measurement["truth"] else "",
            "test digits": measurement.get("test digits", len(truth)),
        }
        for measurement, values in zip(measurements, decisions.T, strict=True)
    ]


def _share(measurements: Sequence[Any]) -> Measured | None:
    errors = _errors(measurements)
    if errors is None:
        return None
    return Measured(100.0 * errors[0] / errors[1])


def _count(measurements: Sequence[Any]) -> Measured | None:
    errors = _errors(measurements)
    if errors is None:
        return None
    return Measured(float(errors[0]))


_COUNTED = "The same result is printed as a number of errors, 80, in section 5.8, and is counted there."
_NEAR = (
    "With moved digits 76 are wrong, and 108 as stated. The paper does not say how images are deskewed, and which "
    "copies of digits it adds, if any."
)


def _bind(row: PublishedNumber) -> Binding | None:
    if row.data != "MNIST" or not row.method.startswith("EasyMKL K_8"):
        return None
    images = "deskewed" if "deskewed" in row.method else "raw"
    fields = {"images": images, "train": 60_000}
    if row.metric == "test errors":
        return Query(fields, (), "lower", _count, causes={MOVED: _CAUSE}, remark=_NEAR, exact=True)
    instead = _COUNTED if images == "deskewed" else ""
    return Query(fields, (), "lower", _share, causes={MOVED: _CAUSE}, instead=instead)


EXPERIMENT = Experiment(
    paper="dpp",
    name="digits",
    title="MNIST, ten digits",
    protocol=(
        "Pixels are scaled to [0, 1], and samples to unit length. For each of the 45 pairs of digits EasyMKL with "
        "Lambda = 0.01/0.99 learns weights of the polynomials of degrees 0 to 8, and a support vector machine with C = "
        "4 is trained on the learned kernel. The digit with most votes is predicted, and among equals the one with the "
        "largest sum of decision values. The paper does not state how images are deskewed; here they are deskewed by "
        "their second moments. All 60,000 training digits are used. A quick run uses fewer, and is not compared with "
        "the paper."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(5,),
    variants=VARIANTS,
    fitted=frozenset({MOVED}),
    tol=1e-4,
    seconds=10.0,
)
