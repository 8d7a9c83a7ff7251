"""From the options of ``fit`` to an estimator: the method, its machine, and the search for its regularisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

import multikernel as mk
from multikernel._typing import Array
from multikernel.datasets.dataset import Task
from multikernel.kernels import RBF, KernelFamily, per_feature
from multikernel.selection import BankSearchCV

GRIDS = {
    "lam": (0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
    "C": (0.1, 1.0, 10.0, 100.0),
    "alpha": (1e-3, 1e-2, 1e-1, 1.0, 10.0),
}
INNER_FOLDS = 3


@dataclass(frozen=True)
class Method:
    """The estimators of a method, and the options that regularise them.

    Parameters
    ----------
    classifier, regressor : names of estimators; None where there is none
    classes, numbers : options for targets that are classes, and that are numbers
    grids : values to search, where they are not the common ones
    kernels : for features in [0, 1], where the estimators' own default is not for these
    """

    classifier: str | None = None
    regressor: str | None = None
    classes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ("alpha",)
    grids: Mapping[str, tuple[float, ...]] | None = None
    kernels: KernelFamily | None = None


METHODS = {
    "easymkl": Method("EasyMKLClassifier", classes=("lam", "C")),
    "l1mkl": Method("L1MKLClassifier", "L1MKLRegressor", ("C",), ("C",)),
    "lpmkl": Method("LpMKLClassifier", "LpMKLRegressor", ("C",), ("C",)),
    "smkl": Method("SMKLClassifier", classes=("C",)),
    "rls2": Method(  # whose kernels have trace 1
        "RLS2Classifier", "RLS2Regressor", ("alpha",), grids={"alpha": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)}
    ),
    "polynomial": Method("PolynomialMKLClassifier", "PolynomialMKLRegressor", ("alpha",)),
    "hkl": Method(  # 6 is 1/2 by the variance of an even spread over [0, 1]
        "HKLClassifier", "HKLRegressor", ("C",), ("C",), kernels=per_feature(RBF(6.0))
    ),
    "ridgecv": Method(regressor="MultipleKernelRidgeCV", numbers=()),
    "average": Method("AverageMKLClassifier", "AverageMKLRegressor", ("lam", "C")),
    "alignment": Method("AlignmentMKLClassifier", "AlignmentMKLRegressor", ("lam", "C")),
    "best": Method("BestKernelClassifier", "BestKernelRegressor", ("lam", "C")),
}


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

    def chosen(self, task: Task) -> str:
        """The method, the default one of the task where none was named."""
        return self.method or ("easymkl" if task == "classification" else "average")

    @property
    def given(self) -> dict[str, float]:
        """The options for the regularisation that were given."""
        values = {"lam": self.lam, "C": self.C, "alpha": self.alpha}
        return {name: value for name, value in values.items() if value is not None}


def make_model(wish: Wish, task: Task) -> Any:
    """The estimator for a task; ValueError where the options do not fit it."""
    name, classify = wish.chosen(task), task == "classification"
    method = METHODS[name]
    estimator = method.classifier if classify else method.regressor
    if estimator is None:
        others = ", ".join(other for other, m in METHODS.items() if (m.classifier if classify else m.regressor))
        raise ValueError(
            f"{name} {'predicts numbers' if classify else 'separates classes'}, and {wish.target!r} holds "
            f"{'classes' if classify else 'numbers'}; use --method {others}"
        )
    given, allowed = wish.given, method.classes if classify else method.numbers
    for option in given:
        if option not in allowed:
            instead = f"use {' or '.join(f'--{other}' for other in allowed)}" if allowed else "it chooses by itself"
            raise ValueError(
                f"--{option} does not apply to --method {name} where the target holds "
                f"{'classes' if classify else 'numbers'}: {instead}"
            )
    more: dict[str, Any] = dict(given)
    if allowed == ("lam", "C"):
        if name != "easymkl" and len(given) == 2:
            raise ValueError(
                f"--lam and --C exclude each other with --method {name}: give the one of the machine you want"
            )
        # a C asks for a support vector machine, a lam for the margin machine; EasyMKL takes lam for its weights
        margin = "C" not in given if name == "easymkl" else "lam" in given
        more["learner"] = "margin" if margin else "svc"
    if name == "best":
        more |= {"cv": INNER_FOLDS, "random_state": wish.seed}
    return getattr(mk, estimator)(method.kernels if wish.kernels is None else wish.kernels, **more)


def with_search(model: Any, wish: Wish, task: Task, y: Array) -> Any:
    """The model, searching for its regularisation where the user gave none."""
    name, classify = wish.chosen(task), task == "classification"
    method = METHODS[name]
    options = method.classes if classify else method.numbers
    smallest = int(np.unique(y, return_counts=True)[1].min()) if classify else len(y) // 2
    if wish.given or not options or smallest < 2 * INNER_FOLDS:  # the folds of the outer cross-validation take a share
        return model
    parameter = "C" if getattr(model, "learner", "margin") == "svc" else options[0]
    values = (method.grids or GRIDS)[parameter]
    splitter = StratifiedKFold if classify else KFold
    inner = splitter(INNER_FOLDS, shuffle=True, random_state=wish.seed)
    # the best single kernel is a search of its own inside this one: every other value has to do
    return BankSearchCV(model, {parameter: values[1::2] if name == "best" else values}, cv=inner)
