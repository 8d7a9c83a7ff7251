"""From the options of ``fit`` to an estimator: the method, its machine, and the search for its regularisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

import multikernel as mk
from multikernel.datasets.dataset import Task
from multikernel.kernels import KernelFamily
from multikernel.kernels.base import Array
from multikernel.selection import BankSearchCV

GRIDS = {
    "lam": (0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
    "C": (0.1, 1.0, 10.0, 100.0),
    "alpha": (1e-3, 1e-2, 1e-1, 1.0, 10.0),
}
INNER_FOLDS = 3
_SUPPORT = {"l1mkl": "L1MKLClassifier", "lpmkl": "LpMKLClassifier", "smkl": "SMKLClassifier"}


@dataclass(frozen=True)
class Wish:
    """What the user asked ``fit`` for; None where he left it open."""

    target: str
    method: str | None
    task: Task | None
    kernels: KernelFamily | None
    lam: float | None
    C: float | None
    alpha: float | None
    seed: int


def make_model(wish: Wish, task: Task) -> Any:
    """The estimator for a task; ValueError where the options do not fit it."""
    method = wish.method or ("easymkl" if task == "classification" else "average")
    if task == "regression":
        _refuse(wish, {"lam": wish.lam, "C": wish.C}, "the target holds numbers: use --alpha, or --task classification")
        if method in ("easymkl", *_SUPPORT):
            raise ValueError(
                f"{method} separates classes, and {wish.target!r} holds numbers; "
                "use --method average, alignment or best, or --task classification"
            )
        return _regressor(method, wish)
    _refuse(wish, {"alpha": wish.alpha}, "the target holds classes: use --lam or --C, or --task regression")
    return _classifier(method, wish)


def _refuse(wish: Wish, given: dict[str, float | None], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"--{name} does not apply, {why}")


def _regressor(method: str, wish: Wish) -> Any:
    more: dict[str, Any] = {} if wish.alpha is None else {"alpha": wish.alpha}
    if method == "best":
        return mk.BestKernelRegressor(wish.kernels, cv=INNER_FOLDS, random_state=wish.seed, **more)
    return {"average": mk.AverageMKLRegressor, "alignment": mk.AlignmentMKLRegressor}[method](wish.kernels, **more)


def _classifier(method: str, wish: Wish) -> Any:
    """A C asks for a support vector machine, a lam for the margin machine; EasyMKL takes lam for its weights."""
    more: dict[str, Any] = {name: v for name, v in (("lam", wish.lam), ("C", wish.C)) if v is not None}
    if method == "easymkl":
        return mk.EasyMKLClassifier(wish.kernels, learner="margin" if wish.C is None else "svc", **more)
    if method in _SUPPORT:
        _refuse(wish, {"lam": wish.lam}, f"{method} learns with a support vector machine: use --C")
        return getattr(mk, _SUPPORT[method])(wish.kernels, **more)
    if len(more) == 2:
        raise ValueError(
            f"--lam and --C exclude each other with --method {method}: give the one of the machine you want"
        )
    learner = "svc" if wish.lam is None else "margin"
    if method == "best":
        return mk.BestKernelClassifier(wish.kernels, learner=learner, cv=INNER_FOLDS, random_state=wish.seed, **more)
    kinds = {"average": mk.AverageMKLClassifier, "alignment": mk.AlignmentMKLClassifier}
    return kinds[method](wish.kernels, learner=learner, **more)


def with_search(model: Any, wish: Wish, y: Array) -> Any:
    """The model, searching for its regularisation where the user gave none."""
    if (wish.lam, wish.C, wish.alpha) != (None, None, None):
        return model
    margin = getattr(model, "learner", "svc") == "margin"
    parameter = "alpha" if hasattr(model, "alpha") else "lam" if margin else "C"
    classify = parameter != "alpha"
    smallest = int(np.unique(y, return_counts=True)[1].min()) if classify else len(y) // 2
    if smallest < 2 * INNER_FOLDS:  # the folds of the outer cross-validation take their share
        return model
    splitter: Any = StratifiedKFold if classify else KFold
    inner = splitter(INNER_FOLDS, shuffle=True, random_state=wish.seed)
    # the best single kernel is a search of its own inside this one: every other value has to do
    values = GRIDS[parameter][1::2] if hasattr(model, "cv") else GRIDS[parameter]
    return BankSearchCV(model, {parameter: values}, cv=inner)
