"""From the options of ``fit`` to an estimator: the method, its machine, and the search for its regularisation.

The options that regularise are lam of the margin machine, C of a support vector machine, and alpha of ridge regression.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

import multikernel as mk
from multikernel.app.tables.held_out import RowsHeldOut
from multikernel.app.tables.table import CsvTable
from multikernel.datasets import Task
from multikernel.inspection import Parameter
from multikernel.inspection import parameters_of as all_parameters_of
from multikernel.kernels import RBF, KernelFamily, per_feature
from multikernel.selection import BankSearchCV, Fold
from multikernel.typing import Array

# Values that are tried: few where each is fitted on every fold of a nested cross-validation, more along a path.
GRIDS = {
    "lam": (0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
    "C": (0.1, 1.0, 10.0, 100.0),
    "alpha": (1e-3, 1e-2, 1e-1, 1.0, 10.0),
}
PATHS = {
    "lam": np.linspace(0.0, 1.0, 11),
    "C": np.logspace(-2, 3, 11),
    "alpha": np.logspace(-6, 2, 9),
    "p": np.array([1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0]),
    "smoothing": np.logspace(-2, 2, 9),
    "rho": np.linspace(1.1, 2.0, 10),
}
EVEN = ("lam", "rho")  # parameters whose values are evenly spaced; those of others are in a constant ratio
INNER_FOLDS = 3  # which choose parameters
OUTER_FOLDS = 5  # whose scores are reported
PRINTED_WEIGHTS = 10  # the largest weights, which are printed


@dataclass(frozen=True)
class _OfTask:
    """The properties of a task."""

    method: str  # the default method
    measure: str  # the name of the ``score`` of an estimator
    holds: str  # the word for the values of the target
    needs: str  # what a fold has to hold out at least
    splitter: type[StratifiedKFold | KFold]


_OF_TASKS: Mapping[Task, _OfTask] = {
    "classification": _OfTask("easymkl", "accuracy", "classes", "a row of each class", StratifiedKFold),
    "regression": _OfTask("average", "R2", "numbers", "two rows", KFold),
}
# Parameters that --set does not take: kernels have a separate option, and each application shows progress itself.
_ELSEWHERE = {"kernels": "use --kernels", "verbose": "progress is shown anyway"}


@dataclass(frozen=True)
class NamedMethod:
    """The estimators of a method, and the options that regularise them."""

    classifier: str | None = None  # the name of the estimator, None where there is none
    regressor: str | None = None
    classes: tuple[str, ...] = ()  # the options of the classifier
    numbers: tuple[str, ...] = ("alpha",)  # the options of the regressor
    grids: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: GRIDS)  # the values to choose from
    kernels: KernelFamily | None = None  # None for the estimator's own default
    of_numbers: bool = False  # whether it learns from columns of numbers only, with any kernels
    standardized: bool = False  # whether columns are scaled to mean 0 and deviation 1, as linear methods need


_SMALL_ALPHAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
METHODS = {
    "easymkl": NamedMethod("EasyMKLClassifier", classes=("lam", "C")),
    "l1mkl": NamedMethod("L1MKLClassifier", "L1MKLRegressor", ("C",), ("C",)),
    "lpmkl": NamedMethod("LpMKLClassifier", "LpMKLRegressor", ("C",), ("C",)),
    "localized": NamedMethod("LocalizedMKLClassifier", "LocalizedMKLRegressor", ("C",), ("C",)),
    "gated": NamedMethod("GatedMKLClassifier", "GatedMKLRegressor", ("C",), of_numbers=True),
    "smkl": NamedMethod("SMKLClassifier", "SMKLRegressor", ("C",), ("C",)),
    # Its kernels are scaled to trace 1, for which alpha is smaller.
    "rls2": NamedMethod("RLS2Classifier", "RLS2Regressor", ("alpha",), grids={"alpha": _SMALL_ALPHAS}),
    "twolayers": NamedMethod("TwoLayerClassifier", "TwoLayerRegressor", numbers=()),
    "polynomial": NamedMethod("PolynomialMKLClassifier", "PolynomialMKLRegressor", ("alpha",)),
    # A feature spread evenly over [0, 1] has variance 1/12; the width is gamma = 1 / (2 variance).
    "hkl": NamedMethod("HKLClassifier", "HKLRegressor", ("C",), ("C",), kernels=per_feature(RBF(6.0))),
    "gmkl": NamedMethod("GMKLClassifier", "GMKLRegressor", ("C",)),
    "gmklsvr": NamedMethod(regressor="GMKLSupportRegressor", numbers=("C",)),
    "linearrls2": NamedMethod("LinearRLS2Classifier", "LinearRLS2Regressor", ("alpha",), standardized=True),
    "scales": NamedMethod("LearnedScalesClassifier", "LearnedScalesRegressor", numbers=(), of_numbers=True),
    "ridgecv": NamedMethod(regressor="MultipleKernelRidgeCV", numbers=()),
    "average": NamedMethod("AverageMKLClassifier", "AverageMKLRegressor", ("lam", "C")),
    "alignment": NamedMethod("AlignmentMKLClassifier", "AlignmentMKLRegressor", ("lam", "C")),
    "proportional": NamedMethod("ProportionalMKLClassifier", "ProportionalMKLRegressor", ("lam", "C")),
    "best": NamedMethod("BestKernelClassifier", "BestKernelRegressor", ("lam", "C")),
}


@dataclass(frozen=True)
class FitRequest:
    """The options of ``fit`` as the user gave them; None for one that was not given."""

    target: str
    method: str | None
    task: Task | None
    kernels: KernelFamily | None
    lam: float | None
    C: float | None
    alpha: float | None
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)  # further ones of the estimator, by name
    proba: bool = False  # whether the model has to give probabilities
    types: Mapping[str, str] = field(default_factory=dict)  # what columns are declared to hold, by name

    def chosen(self, task: Task) -> str:
        """The method that was named, or the default method of the task."""
        return self.method or _OF_TASKS[task].method

    @property
    def automatic(self) -> bool:
        """Whether the user chose neither a method nor kernels nor a regularisation."""
        return self.method is None and self.kernels is None and not self.regularisation_options

    @property
    def standardized(self) -> bool:
        """Whether columns are scaled to mean 0 and deviation 1 instead of the range [0, 1]."""
        return self.method is not None and METHODS[self.method].standardized

    @property
    def regularisation_options(self) -> dict[str, float]:
        """The options lam, C and alpha that the user gave."""
        values = {"lam": self.lam, "C": self.C, "alpha": self.alpha}
        return {name: value for name, value in values.items() if value is not None}

    def chooses(self, options: tuple[str, ...]) -> bool:
        """Whether inner folds choose the regularisation, because the user gave none."""
        return bool(options) and not self.regularisation_options and not set(options) & set(self.parameters)


def estimator_of(name: str, task: Task, target: str) -> tuple[type, tuple[str, ...]]:
    """The class of a method's estimator, and the options that regularise it; ValueError where the task has none."""
    method = METHODS[name]
    if task == "classification":
        estimator_name = method.classifier
        options = method.classes
        method_names = [other for other, candidate in METHODS.items() if candidate.classifier]
        problem = f"{name} predicts numbers, and {target!r} holds classes"
    else:
        estimator_name = method.regressor
        options = method.numbers
        method_names = [other for other, candidate in METHODS.items() if candidate.regressor]
        problem = f"{name} separates classes, and {target!r} holds numbers"
    if estimator_name is None:
        raise ValueError(f"{problem}; use --method {', '.join(method_names)}")
    return getattr(mk, estimator_name), options


def estimators_of(name: str | None) -> tuple[type, ...]:
    """The estimators of a method, or without a name the automatic ones: for classes, then for numbers."""
    if name:
        method = METHODS[name]
    else:
        method = NamedMethod("MultiKernelClassifier", "MultiKernelRegressor")
    return tuple(
        getattr(mk, estimator_name) for estimator_name in (method.classifier, method.regressor) if estimator_name
    )


def automatic_model(request: FitRequest, task: Task) -> Any:
    """The automatic estimator with the parameters of a request; ValueError where a parameter is not allowed."""
    if request.types and "types" in request.parameters:
        raise ValueError("types of columns are given twice, by --type and by --set; give them once")
    _check_proba(request, task)
    classifier, regressor = estimators_of(None)
    estimator: Any = classifier if task == "classification" else regressor
    check(estimator, dict(request.parameters))
    return estimator(**{"random_state": request.seed, "types": dict(request.types) or None, **request.parameters})


def _check_proba(request: FitRequest, task: Task) -> None:
    """ValueError where probabilities are requested and the target is a number."""
    if request.proba and task != "classification":
        raise ValueError(f"{request.target!r} holds numbers, which have no probabilities; leave --proba out")


def score_name(task: Task) -> str:
    """The name of the ``score`` of an estimator."""
    return _OF_TASKS[task].measure


def needed_by_folds(task: Task) -> str:
    """What each fold has to hold out at least, in words."""
    return _OF_TASKS[task].needs


def kernels_by_type(request: FitRequest, task: Task) -> bool:
    """Whether kernels are chosen by the types of columns: the request names none, and the method accepts any."""
    of_numbers = METHODS[request.chosen(task)].of_numbers
    return request.kernels is None and not of_numbers and takes_kernels(request, task)


def takes_kernels(request: FitRequest, task: Task) -> bool:
    """Whether the method combines kernels that can be chosen."""
    estimator = estimator_of(request.chosen(task), task, request.target)[0]
    return any(parameter.name == "kernels" for parameter in fields(estimator))


def make_model(request: FitRequest, task: Task) -> Any:
    """The estimator for a task; ValueError where an option does not fit the method or the task."""
    _check_proba(request, task)
    name = request.chosen(task)
    estimator, allowed = estimator_of(name, task, request.target)
    kind = _OF_TASKS[task].holds
    for option in request.regularisation_options:
        if option not in allowed:
            if allowed:
                instead = f"use {' or '.join(f'--{other}' for other in allowed)}"
            else:
                instead = "it chooses by itself"
            raise ValueError(f"--{option} does not apply to --method {name} where the target holds {kind}: {instead}")
        if option in request.parameters:
            raise ValueError(f"{option} is given twice, by --{option} and by --set; give it once")
    check(estimator, dict(request.parameters))
    family = METHODS[name].kernels if request.kernels is None else request.kernels
    if family is not None and not takes_kernels(request, task):
        raise ValueError(f"--method {name} takes no kernels: it learns one for each feature; leave --kernels out")
    arguments: dict[str, Any] = dict(request.regularisation_options)
    if family is not None:
        arguments["kernels"] = family
    if name in ("best", "proportional"):
        arguments |= {"cv": INNER_FOLDS, "random_state": request.seed}
    model = estimator(**arguments | _learner(request, name, allowed) | dict(request.parameters))
    model.check_parameters()
    return model


def _learner(request: FitRequest, name: str, allowed: tuple[str, ...]) -> dict[str, str]:
    """The machine that the regularisation belongs to, where a method has two.

    --C belongs to the support vector machine and --lam to the margin machine. Without --C, EasyMKL uses the margin
    machine, as its weights are learned with lam in any case; the other methods use it only with --lam.
    """
    option_names = {*request.regularisation_options, *request.parameters}
    if allowed != ("lam", "C") or "learner" in option_names:
        return {}
    if name != "easymkl" and {"lam", "C"} <= option_names:
        raise ValueError(f"--lam and --C exclude each other with --method {name}: give the one of the machine you want")
    if "C" in option_names or (name != "easymkl" and "lam" not in option_names):
        return {"learner": "svc"}
    return {"learner": "margin"}


def with_search(model: Any, request: FitRequest, task: Task, y: Array, held_out: RowsHeldOut) -> Any:
    """The model, or, where the user gave no regularisation, a search for it by cross-validation."""
    name = request.chosen(task)
    options = estimator_of(name, task, request.target)[1]
    # The training part of an outer fold has at least half of each class, which has to suffice for the inner folds.
    if not request.chooses(options) or held_out.possible_folds(y, task) < 2 * INNER_FOLDS:
        if "cv" in request.parameters:
            return model
        return with_possible_folds(model, (len(y) + 1) // 2)
    parameter = regularisation(model, options)
    values = METHODS[name].grids[parameter]
    if name in ("best", "proportional"):  # every other value, as the method fits each kernel separately
        values = values[1::2]
    if held_out.decided:
        cv = INNER_FOLDS
    else:
        cv = shuffled_folds(task, INNER_FOLDS, request.seed)
    return BankSearchCV(model, {parameter: values}, cv=cv)


def with_possible_folds(model: Any, n: int) -> Any:
    """The model with as many inner folds as n samples allow; for a model whose number of folds the user has not chosen.

    Parameters
    ----------
    model : the estimator, which is not changed
    n : int, the number of samples that it will learn from
    """
    if not isinstance(getattr(model, "cv", None), int) or model.cv <= n:
        return model
    return clone(model).set_params(cv=max(n, 2))


def regularisation(model: Any, options: tuple[str, ...]) -> str:
    """The parameter that regularises a model; where a method has two machines, that of the machine it uses."""
    if getattr(model, "learner", "margin") == "svc":
        return "C"
    return options[0]


def most_folds(y: Array, task: Task) -> int:
    """The largest possible number of folds of single rows."""
    return RowsHeldOut().possible_folds(y, task)


def count_of_folds(table: CsvTable, target: str, y: Array, task: Task, requested: int | None) -> int:
    """The number of folds: as many as requested, otherwise five, or fewer where five are not possible.

    Parameters
    ----------
    table : the rows, and which of them belong together
    target, y, task : the name of the target, its values, and the task
    requested : the number of folds that the user requested, or None

    Raises
    ------
    ValueError : with a sentence, where so many folds, or two, are not possible
    """
    possible = table.held_out.possible_folds(y, task)
    if possible < max(requested or 2, 2):
        count_text = "no folds"
        instead = "give more rows"
        if possible > 1:
            count_text = f"{possible} folds"
            instead = f"ask for --folds {possible} or fewer, or give more rows"
        elif task == "classification":
            instead = "give more rows, or leave out those of a class that is too rare"
        raise ValueError(
            f"{table.file}: the column {target!r} allows {count_text}, each of which holds out "
            f"{needed_by_folds(task)}; {instead}"
        )
    return requested or min(OUTER_FOLDS, possible)


def nothing_distinguishes(table: CsvTable, target: str) -> ValueError:
    """The error for a table without a column that can be learned from."""
    return ValueError(
        f"{table.file} has no column beside {target!r} that distinguishes rows and does not only name them"
    )


def shuffled_folds(task: Task, n: int, seed: int) -> StratifiedKFold | KFold:
    """n shuffled folds, with the same share of each class where the task is classification."""
    return _OF_TASKS[task].splitter(n, shuffle=True, random_state=seed)


def folds_of_task(task: Task, n: int, seed: int, y: Array, held_out: RowsHeldOut) -> list[Fold]:
    """Training and test rows of n folds: shuffled ones, of whole groups, or of later and later rows.

    Parameters
    ----------
    task, n, seed : as in ``shuffled_folds``
    y : array (rows,), the target
    held_out : which rows belong together
    """
    if held_out.decided:
        return held_out.folds(y, task, n, seed)
    return list(shuffled_folds(task, n, seed).split(np.empty((len(y), 1)), y))


def parameters_of(estimator: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters that --set takes: all except the kernels and the verbosity."""
    return tuple(parameter for parameter in all_parameters_of(estimator) if parameter.name not in _ELSEWHERE)


def summary(estimator: type) -> str:
    """The first sentence of the class's docstring."""
    return " ".join((inspect.getdoc(estimator) or "").split("\n\n")[0].split())


def check(estimator: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """ValueError where the estimator has no such parameter, or its rule does not accept the value."""
    parameters = {parameter.name: parameter for parameter in parameters_of(estimator)}
    for name, value in values.items():
        if name in _ELSEWHERE:
            raise ValueError(f"{name!r} cannot be set here; {_ELSEWHERE[name]}")
        if name not in parameters:
            close_matches = get_close_matches(name, parameters, 1)
            guess = f"did you mean {close_matches[0]!r}? It" if close_matches else "it"
            raise ValueError(f"{estimator.__name__} has no parameter {name!r:.60}; {guess} has {', '.join(parameters)}")
        parameters[name].check(value, f"{estimator.__name__}: {name}")
