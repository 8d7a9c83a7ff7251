"""A path as figures: weights, number of kernels, errors and cost against the parameter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._typing import Array
from multikernel.estimators.bars import COLORS
from multikernel.estimators.names import short_names

if TYPE_CHECKING:  # the module of Path imports this one
    from multikernel.paths.solution_path import Path

_NAMED = len(COLORS)  # kernels with a colour and a name
_OTHERS = "#c3c8d2"


def draw(path: Path, kind: str, ax: Any = None) -> Any:
    """Draw one kind of figure on the axes, or on new ones; returns the axes."""
    if kind not in (*_KINDS, *_AGAINST_FREEDOM):
        raise ValueError(f"a path draws {', '.join(map(repr, (*_KINDS, *_AGAINST_FREEDOM)))}; got {kind!r}")
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(8.0 if kind in ("weights", "coefficients") else 5.6, 3.6), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    path = replace(path, before=None, name="")  # the best step is drawn as a model, not as a pipeline
    if kind in _AGAINST_FREEDOM:
        _AGAINST_FREEDOM[kind](path, ax)
        return ax
    values = np.asarray(path.values, dtype=float)
    order = np.argsort(values, kind="stable")
    if _geometric(values):
        ax.set_xscale("log")
    ax.set_xlabel(path.parameter)
    _KINDS[kind](path, values, order, ax)
    return ax


def _geometric(values: Array) -> bool:
    """Whether values over a decade or more have their middle nearer to the geometric mean of the ends."""
    low, high = float(values.min()), float(values.max())
    return 0 < 10 * low <= high and float(np.median(values)) ** 2 < np.sqrt(low * high) * 0.5 * (low + high)


def _weights(path: Path, values: Array, order: Array, ax: Any) -> None:
    """A line for each kernel, the largest on top and with names; the rest in grey."""
    weights = path.weights.reshape(len(path), -1, len(path.kernel_names)).mean(axis=1)
    largest = np.argsort(-weights.max(axis=0), kind="stable")
    largest = largest[weights[:, largest].max(axis=0) > 0]
    ax.plot(values[order], weights[order][:, largest[_NAMED:]], color=_OTHERS, linewidth=0.8, zorder=1)
    names = short_names([str(path.kernel_names[k]) for k in largest[:_NAMED]])
    for color, k, name in zip(COLORS, largest, names, strict=False):
        ax.plot(values[order], weights[order, k], "o-", color=color, markersize=3, label=name)
    if len(largest) > _NAMED:
        ax.plot([], [], color=_OTHERS, linewidth=0.8, label=f"{len(largest) - _NAMED} others")
    ax.set_ylabel("weight" if path.weights.ndim == 2 else "weight, mean over the problems")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")


def _coefficients(path: Path, ax: Any) -> None:
    """A line for each feature against the degrees of freedom; the step that validation prefers as a dashed line."""
    first = path.models[0]
    if not hasattr(first, "coef_"):
        raise ValueError(f"{type(first).__name__} has no coefficients of features; draw its 'weights'")
    if first.coef_.ndim == 2:
        raise ValueError("coefficients are drawn of one problem, and this path has several; see each model's coef_")
    degrees = np.array([model.degrees_of_freedom_ for model in path.models])
    order = np.argsort(degrees, kind="stable")
    coef = np.stack([model.coef_ for model in path.models])[order]
    degrees = degrees[order]
    largest = np.argsort(-np.abs(coef).max(axis=0), kind="stable")
    largest = largest[np.abs(coef[:, largest]).max(axis=0) > 0]
    ax.plot(degrees, coef[:, largest[_NAMED:]], color=_OTHERS, linewidth=0.8, zorder=1)
    for color, j in zip(COLORS, largest, strict=False):
        ax.plot(degrees, coef[:, j], "o-", color=color, markersize=3, label=_feature(str(path.kernel_names[j])))
    if len(largest) > _NAMED:
        ax.plot([], [], color=_OTHERS, linewidth=0.8, label=f"{len(largest) - _NAMED} others")
    ax.axhline(0.0, color=_OTHERS, linewidth=1, zorder=0)
    if path.validation_score is not None:
        best = path.best()
        label = f"best, {path.parameter} = {getattr(best, path.parameter):.3g}"
        ax.axvline(best.degrees_of_freedom_, color=_OTHERS, linestyle="--", linewidth=1, zorder=0, label=label)
    ax.set_xlabel("degrees of freedom")
    ax.set_ylabel("coefficient")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")


def _criteria(path: Path, ax: Any) -> None:
    """Errors that are estimated without held-out samples, and the error on the validation sample."""
    if np.ndim(path.models[0].intercept_):
        raise ValueError("criteria are drawn of one problem, and this path has several; see its criterion()")
    criteria = {name: path.criterion(name) for name in ("gcv", "loo")}
    variance = path.models[0].target_variance_
    degrees = path.degrees_of_freedom
    order = np.argsort(degrees, kind="stable")
    for color, name, label in zip(COLORS, criteria, ("generalised cross-validation", "leave one out"), strict=False):
        ax.plot(degrees[order], criteria[name][order] / variance, "o-", color=color, markersize=4, label=label)
    if path.validation_score is not None and not is_classifier(path.models[0]):
        validation_error = 1.0 - path.validation_score
        ax.plot(degrees[order], validation_error[order], "o-", color=COLORS[2], markersize=4, label="validation")
    best = path.best("gcv")
    label = f"least gcv, {path.parameter} = {best.get_params()[path.parameter]:.3g}"
    ax.axvline(best.degrees_of_freedom_, color=_OTHERS, linestyle="--", linewidth=1, zorder=0, label=label)
    ax.set_xlabel("degrees of freedom")
    ax.set_ylabel("squared error / variance")
    ax.set_ylim(0.0, 1.5)
    ax.legend(frameon=False)


def _feature(name: str) -> str:
    """The feature of a linear kernel's name: Linear().on(3) or Linear().on('age')."""
    match = re.fullmatch(r"Linear\(\)\.on\((.*)\)", name)
    if match:
        return match[1].strip("'\"")
    return name


def _error(path: Path, values: Array, order: Array, ax: Any) -> None:
    """One minus the score, of training and validation samples."""
    if path.train_score is None:
        raise ValueError(f"{type(path.models[0]).__name__} has no score, so a path of it has no error to draw")
    ax.plot(values[order], 1.0 - path.train_score[order], "o-", color=COLORS[0], markersize=4, label="training")
    if path.validation_score is not None:
        error = 1.0 - path.validation_score
        ax.plot(values[order], error[order], "o-", color=COLORS[1], markersize=4, label="validation")
        chosen = path.best().get_params()[path.parameter]
        label = f"best, {path.parameter} = {chosen:.3g}"
        ax.axvline(chosen, color=_OTHERS, linestyle="--", linewidth=1, zorder=0, label=label)
    ax.set_ylabel("error rate" if is_classifier(path.models[0]) else "squared error / variance")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)


def _line(label: str, numbers: Callable[[Path], Array], log: bool = False) -> Callable[..., None]:
    """One number for each step, from zero up or on a logarithmic scale."""

    def draw_line(path: Path, values: Array, order: Array, ax: Any) -> None:
        ax.plot(values[order], numbers(path)[order], "o-", color=COLORS[0], markersize=4)
        ax.set_ylabel(label)
        if log and (numbers(path) > 0).all():
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        if numbers(path).dtype.kind == "i":
            ax.yaxis.get_major_locator().set_params(integer=True)

    return draw_line


_KINDS: Mapping[str, Callable[..., None]] = {
    "weights": _weights,
    "kernels": _line("kernels with positive weight", lambda path: path.n_kernels),
    "error": _error,
    "iterations": _line("iterations", lambda path: path.n_iter),
    "seconds": _line("seconds of a fit", lambda path: path.seconds),
    "gap": _line("relative gap", lambda path: path.duality_gap, log=True),
}
_AGAINST_FREEDOM: Mapping[str, Callable[..., None]] = {"coefficients": _coefficients, "criteria": _criteria}
