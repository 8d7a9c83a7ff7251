"""A path: the same problem at many values of one parameter, each fit started from the solution of its neighbour."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from multikernel._parameters import FOLDER_OR_NONE, VERBOSITY
from multikernel._rules import abbreviated
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import one_blas_thread
from multikernel.estimators.protocol import FitsManyAlphas, Fitted
from multikernel.estimators.search import with_parameters
from multikernel.estimators.several import share_reference
from multikernel.estimators.simplicity import simplest_first
from multikernel.estimators.steps import Steps
from multikernel.paths.solution_path import Path, n_positive
from multikernel.persistence.checkpoint import Checkpoint
from multikernel.sources.rows import aligned


def path(
    estimator: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Iterable[float],
    *,
    validation: tuple[Any, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    groups: Any = None,
) -> Path:
    """Fit an estimator at many values of one parameter: on one bank, each fit started from its neighbour.

    The values are solved from the simplest model to the most flexible one (large alpha, lam or smoothing first, small C
    or p first) and returned in the order given. ``BankSearchCV`` chooses among them by cross-validation. A path along
    alpha of a regressor whose weights do not depend on alpha needs one decomposition of the weighted kernel.

    Parameters
    ----------
    estimator : an estimator of this package, or a Pipeline whose last step is one; it is not changed
        The steps before it are fitted once, to all of X.
    X, y : as for the estimator's ``fit``: samples, a bank, or precomputed matrices; and the target
    parameter : str, a parameter of the estimator that is a number and does not change the kernels: alpha, C, lam, p,
        smoothing, epsilon, ...; of a pipeline with or without the name of the step in front
    values : the numbers that it takes
    validation : (X, y), samples and target to score every step on
    checkpoint : directory or None, where finished steps are kept: the same call resumes after it was killed
    verbose : int, 1 prints a line for each step
    groups : array (n,), the group of each sample: folds of each fit hold out whole groups

    Returns
    -------
    Path

    Raises
    ------
    TypeError : where the estimator is not one of this package, nor a pipeline that ends in one
    ValueError : where the estimator has no such parameter, where the parameter changes the kernels, and where the
        values are not numbers, none at all, or not allowed by the estimator

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from multikernel import L1MKLClassifier, kernels, path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X), y
    >>> model = L1MKLClassifier(kernels.per_feature(kernels.RBF(0.1)))
    >>> solutions = path(model, X[::2], y[::2], "C", np.logspace(-2, 2, 5), validation=(X[1::2], y[1::2]))
    >>> solutions.weights.shape, solutions.predict(X).shape
    ((5, 30), (5, 569))
    >>> bool(solutions.best().score(X, y) > 0.95), bool((solutions.duality_gap < 1e-4).all())
    (True, True)
    """
    steps = Steps.of(estimator, "path follows")
    if not isinstance(parameter, str):
        raise ValueError(f"path: parameter must be the name of one, got {abbreviated(parameter)}")
    step_name, _, name_in_step = parameter.partition("__")
    if steps.name and step_name == steps.name:
        parameter = name_in_step
    numbers = _checked(steps, parameter, values)
    VERBOSITY.check(verbose, "path: verbose")
    FOLDER_OR_NONE.check(checkpoint, "path: checkpoint")
    if not (validation is None or (isinstance(validation, list | tuple) and len(validation) == 2)):
        raise ValueError(f"path: validation must be a pair of samples and their target, got {abbreviated(validation)}")
    private = clone(steps.last)
    for value in numbers:
        with_parameters(private, **{parameter: value.item()}).check_parameters()
    description = f"path of {type(private).__name__} along {parameter}"
    y, groups = aligned(X, y=y, groups=groups)
    saved_steps = Checkpoint.of(checkpoint, description, estimator, X, y, parameter, numbers, groups)
    learned, before = steps.applied(X, y)
    bank, target = private.bind(learned, y)
    models = [with_parameters(private, **{parameter: value.item()}) for value in numbers]
    seconds = np.empty(len(numbers))
    with one_blas_thread(bank.shape[0]):
        for count, (s, seconds[s]) in enumerate(
            _solved(models, bank, target, parameter, numbers, saved_steps, groups), 1
        ):
            if verbose:
                print(
                    f"{parameter} = {numbers[s]:g}: {_line(models[s], seconds[s])} [{count}/{len(numbers)}]", flush=True
                )
    share_reference(models, bank)
    solutions = Path(parameter, numbers, tuple(models), seconds, before=before, name=steps.name)
    if not hasattr(private, "score"):
        return solutions
    return replace(
        solutions,
        train_score=solutions.score(bank, target),
        validation_score=None if validation is None else solutions.score(*validation),
    )


def _solved(
    models: Sequence[Any],
    bank: KernelBank,
    target: Array,
    parameter: str,
    numbers: Array,
    saved_steps: Checkpoint,
    groups: Any,
) -> Iterator[tuple[int, float]]:
    """Fit every model; yields its position and the seconds that it took, as soon as it is fitted."""
    order = simplest_first(parameter, numbers)
    if parameter == "alpha" and isinstance(models[0], FitsManyAlphas):
        yield from _solved_together(models, bank, target, numbers, order, saved_steps)
        return
    names = {int(s): f"{parameter} = {numbers[s].item()!r}, step {s + 1}" for s in order}
    saved_steps.expect(list(names.values()))
    earlier: list[Fitted] = []
    for s, name in names.items():
        start = perf_counter()
        held_out = models[s].resampling(groups, target)
        earlier = models[s].fit_bank(bank, target, earlier, checkpoint=saved_steps.under(name), resampling=held_out)
        yield s, saved_steps.part(name, partial(_since, start))


def _solved_together(
    models: Sequence[Any], bank: KernelBank, target: Array, numbers: Array, order: Array, saved_steps: Checkpoint
) -> Iterator[tuple[int, float]]:
    """Fit models whose weights do not depend on alpha by one decomposition; the checkpoint has one entry for all."""
    start = perf_counter()
    saved_steps.expect(["all steps"])
    fits = saved_steps.part("all steps", lambda: models[0].fit_along(bank, target, numbers.tolist()))
    for model, fitted in zip(models, fits, strict=True):
        model.publish(bank, [fitted], single=True)
    yield from ((int(s), _since(start) / len(models)) for s in order)


def _since(start: float) -> float:
    return perf_counter() - start


def _checked(steps: Steps, parameter: str, values: Iterable[float]) -> Array:
    """The values as an array of numbers, for a parameter that a path can follow."""
    parameters = steps.last.get_params(deep=False)
    if parameter.split("__")[0] in parameters and not steps.share_a_bank(parameter):
        raise ValueError(
            f"path: {parameter!r} changes the kernels, and a path has one set of them; "
            "use BankSearchCV to compare kernels"
        )
    if parameter not in parameters:
        raise ValueError(
            f"path: {type(steps.last).__name__} has no parameter {parameter!r}; it has {', '.join(parameters)}"
        )
    try:
        numbers = np.array([] if isinstance(values, str | bytes | Mapping) else list(values))
    except (TypeError, ValueError):  # not a list, or one of lists of several lengths
        numbers = np.array([])
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise ValueError(
            f"path: values of {parameter!r} must be a list of finite numbers, at least one; got {abbreviated(values)}"
        )
    return numbers


def _line(model: Any, seconds: float) -> str:
    return f"{n_positive(model.weights_)} kernels, gap {model.certificate_.value:.1e}, {seconds:.2f} s"
