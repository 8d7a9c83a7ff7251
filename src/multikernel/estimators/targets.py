"""The problems of a target: one for numbers; for classes one for each, one for each pair, or one that all share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from multikernel._linalg import as_columns
from multikernel._typing import Array
from multikernel.estimators.multiclass import binary_problems, join
from multikernel.estimators.protocol import Model, Task

_LABELS = "biuUS"  # kinds of arrays whose values are labels for sure: whole numbers, strings


# -- numbers -----------------------------------------------------------------------------------------------------------


def one_task(model: Model, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem of all samples of positive weight, with one target or several that share the kernel weights."""
    return [Task.of(np.arange(len(target)), target, sample_weight)]


# -- classes -----------------------------------------------------------------------------------------------------------


def numbered_labels(model: Model, target: Array) -> tuple[Array, Array]:
    """The classes in order, and the position of each label among them; ValueError for fewer than two classes."""
    if target.dtype.kind not in _LABELS or target.ndim > 1:  # the check takes longer than a small problem
        check_classification_targets(target)
    classes, labels = np.unique(target, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{type(model).__name__} needs samples of at least two classes, got one class: {classes[0]}")
    return classes, labels


def binary_tasks(model: Model, target: Array, sample_weight: Array | None) -> list[Task]:
    """One problem for each class against all others, or for each pair of classes, as ``multiclass`` says."""
    classes, labels = numbered_labels(model, target)
    weight = loss_weight(model, target, sample_weight)
    problems = binary_problems(labels, len(classes), model.multiclass)
    return [Task.of(rows, signs, weight) for rows, signs in problems]


def binary_or_shared_tasks(model: Model, target: Array, sample_weight: Array | None) -> list[Task]:
    """As ``binary_tasks``; with ``multiclass="shared"`` one problem with a column of labels for each class.

    The classes then share the kernel weights as several targets do, and matrices are factorised once for all classes.
    With "crammer_singer" they also have one loss together.
    """
    tasks = binary_tasks(model, target, sample_weight)
    if model.multiclass not in ("shared", "crammer_singer") or len(tasks) == 1:
        return tasks
    columns = np.column_stack([task.target for task in tasks])
    return [Task(tasks[0].rows, columns, tasks[0].sample_weight)]


def signs_of_classes(labels: Array, n_classes: int) -> Array:
    """+1 in the column of a sample's class and -1 in the others; for two classes only the second column, (n,)."""
    signs = 2.0 * np.eye(n_classes)[labels] - 1.0
    if n_classes == 2:
        return signs[:, 1]
    return signs


# -- weights of losses -------------------------------------------------------------------------------------------------


def loss_weight(model: Model, target: Array, sample_weight: Array | None) -> Array | None:
    """The weight of the loss of each sample, from ``sample_weight`` and ``class_weight``; None where all are 1.

    Raises
    ------
    ValueError : where all samples of a class have weight 0
    """
    class_weight = getattr(model, "class_weight", None)
    weight = sample_weight
    if class_weight is not None:
        of_class = compute_sample_weight(class_weight, target)
        weight = of_class if weight is None else weight * of_class
    if weight is not None and isinstance(model, ClassifierMixin):
        check_every_class(target, weight)
    return weight


def check_every_class(target: Array, weight: Array) -> None:
    """ValueError where all samples of a class have weight 0."""
    missing = np.setdiff1d(target, target[weight > 0])
    if len(missing):
        raise ValueError(
            f"sample_weight and class_weight leave no sample of class {missing[0]!s}: every one of them has weight 0; "
            "leave the class out of y, or give some of its samples a weight"
        )


# -- losses of held-out samples ----------------------------------------------------------------------------------------


def losses(model: Model, values: Array, truth: Array) -> Array:
    """The loss of each held-out sample, shape (n,), for function values of shape (n, problems).

    It is the squared error of numbers, and of the labels -1 and +1 where a classifier's problems are regressions on
    these; else 1 where the predicted label is wrong.
    """
    classes: Array | None = getattr(model, "classes_", None)
    if classes is None:
        return np.asarray(((values - as_columns(truth)) ** 2).sum(axis=1))
    if model._method.squared_losses and getattr(model, "multiclass", "ovr") != "ovo":
        classes_of_columns = classes[1:] if len(classes) == 2 else classes
        signs = np.where(truth[:, None] == classes_of_columns, 1.0, -1.0)
        return np.asarray(((values - signs) ** 2).sum(axis=1))
    return (predicted_labels(classes, scores_of(model, values)) != truth).astype(float)


def scores_of(model: Model, values: Array) -> Array:
    """Function values (n, problems) as scores: shape (n,) for two classes, else one for each class."""
    if len(model.classes_) == 2:
        return values[:, 0]
    return join(values, len(model.classes_), getattr(model, "multiclass", "ovr"))


def predicted_labels(classes: Array, scores: Array) -> Array:
    """The predicted labels."""
    if scores.ndim == 1:
        index = (scores >= 0).astype(int)
    else:
        index = scores.argmax(axis=1)
    return classes[index]


def one_for_all_targets(model: Model, tasks: Sequence[Task], target: Array) -> bool:
    """Whether fitted attributes are those of one problem: with one target, or targets that share the weights."""
    return target.ndim == 1 or bool(model.shared_weights)
