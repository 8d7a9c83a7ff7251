"""The methods that are compared: each learns weights of the kernels, and an SVM whose C is chosen by folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from multikernel import AverageMKLClassifier, BankSearchCV, KernelBank, L1MKLClassifier, LpMKLClassifier, SMKLClassifier
from multikernel.diagnostics import smoothing_bounds
from multikernel.machines import HingeMachine
from multikernel.reproduce.data import folds
from multikernel.reproduce.verdict import Measured, Query, over_repetitions
from multikernel.typing import Array

GAP = 0.01  # the duality gap and the number of iterations at which the paper stops
ITERATIONS = 500
COSTS = tuple(2.0**e for e in range(-5, 11))
SMKL = "SMKL"  # in cells with a smoothing that folds choose
BY_BOUND = "SMKL, bound"  # with the one that is best for the paper's bound
BY_FOLDS = "smoothing by folds"
BY_FOLDS_SENTENCE = "Folds choose the smoothing of SMKL; the paper computes it, probably by its bound."
SHARES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # candidates for the smoothing, relative to the median score of a kernel


def estimator(name: str, bank: KernelBank, y: Array) -> tuple[Any, dict[str, Any]]:
    """The estimator of a method, and the grid of its parameters beside C."""
    options: dict[str, Any] = {"tol": GAP, "max_iter": ITERATIONS}
    if name == "L1-MKL":
        return L1MKLClassifier("precomputed", **options), {}
    if name == "L2-MKL":
        return LpMKLClassifier("precomputed", p=2.0, **options), {}
    if name == "average":
        return AverageMKLClassifier("precomputed"), {}
    return SMKLClassifier("precomputed", **options), {"smoothing": smoothings(bank, y)}


def smoothings(bank: KernelBank, y: Array) -> list[float]:
    """Candidates for the smoothing: multiples of the median score of the kernels at equal weights."""
    m = len(bank)
    even = bank.combine(np.full(m, 1.0 / m))
    scores = bank.quad(HingeMachine(C=1.0, fit_intercept=False).solve(even, y).coef)
    return [share * float(np.median(scores[scores > 0])) for share in SHARES]


def by_performance(bank: KernelBank, y: Array, seed: int) -> Array:
    """Weights by the performance of single kernels (PWMK): the accuracy over three folds, less that of guessing."""
    hits = np.zeros(len(bank))
    for train, test in folds(y, 3, seed, stratified=True):
        train_bank = bank.block(train, train)
        test_bank = bank.block(test, train)
        for k in range(len(bank)):
            weights = np.eye(1, len(bank), k)[0]
            solution = HingeMachine(C=1.0).solve(train_bank.combine(weights), y[train])
            values = test_bank.combine(weights).multiply(solution.coef) + solution.intercept
            hits[k] += ((values >= 0) == (y[test] > 0)).sum()
    margins = np.maximum(hits / len(y) - max((y > 0).mean(), (y < 0).mean()), 0.0)
    if margins.any():
        return margins / margins.sum()
    return np.full(len(bank), 1.0 / len(bank))


def compare_methods(
    bank: KernelBank,
    y: Array,
    test_bank: KernelBank,
    y_test: Array,
    seed: int,
    costs: tuple[float, ...],
    names: tuple[str, ...],
) -> dict[str, Mapping[str, Any]]:
    """Test accuracy of each method, its weights and gap."""
    inner = folds(y, 5, seed, stratified=True)
    results = {}
    for name in names:
        if name != "PWMK":
            model, grid = estimator(name, bank, y)
            candidates: Any = {"C": costs, **grid}
            if name == BY_BOUND:  # the best smoothing for the bound is proportional to C^2
                smoothing = smoothing_bounds(bank, steps=ITERATIONS).smoothing
                candidates = [{"C": [C], "smoothing": [C**2 * smoothing]} for C in costs]
            best = BankSearchCV(model, candidates, cv=inner).fit(bank, y).best_estimator_
            results[name] = _test_result(best, best.weights_, test_bank, y_test)
    if "PWMK" in names:
        weights = by_performance(bank, y, seed)
        scaled = bank.scaled(weights * len(bank))
        scaled_test_bank = test_bank.scaled(weights * len(bank))
        search = BankSearchCV(AverageMKLClassifier("precomputed"), {"C": costs}, cv=inner).fit(scaled, y)
        results["PWMK"] = _test_result(search.best_estimator_, weights, scaled_test_bank, y_test)
    return results


def _test_result(model: Any, weights: Array, test_bank: KernelBank, y_test: Array) -> Mapping[str, Any]:
    w = weights / weights.sum()
    return {
        "accuracy": 100.0 * float(np.mean(model.predict(test_bank) == y_test)),
        "selected": int((w > 1e-8 * w.max()).sum()),
        "effective": float(np.exp(-(w[w > 0] @ np.log(w[w > 0])))),
        "certificate": model.certificate_.value,
    }


def accuracy_query(fields: Mapping[str, Any], method: str, variant: str = "", **options: Any) -> Query:
    """The published accuracy of a method; that of SMKL is compared with the smoothing of the paper's bound.

    Smoothing by folds is a variant of the stated cells, or of those of ``variant``.
    """
    if method != SMKL:
        return Query(fields, (), "higher", _accuracy(method), **options)
    by_folds = {BY_FOLDS: _accuracy(SMKL)}
    summaries_of = {}
    if variant:
        by_folds = {f"{variant}, {BY_FOLDS}": _accuracy(SMKL)}
        summaries_of = dict.fromkeys(by_folds, variant)
    return Query(fields, (), "higher", _accuracy(BY_BOUND), summaries=by_folds, summaries_of=summaries_of, **options)


def _accuracy(method: str) -> Callable[[Sequence[Any]], Measured | None]:
    """The accuracy of a method; None where no cell has it."""

    def summary(measurements: Sequence[Any]) -> Measured | None:
        accuracies = [measurement[method]["accuracy"] for measurement in measurements if method in measurement]
        return over_repetitions(accuracies) if accuracies else None

    return summary
