"""The classifier part of methods with squared losses: regression on labels -1 and +1.

With a column of labels for each class, the classes may share the kernel weights as several targets do: one problem
then, whose matrices are factored once for all classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from multikernel._typing import Array
from multikernel.estimators.classifier import WeightedClassifier
from multikernel.estimators.protocol import Task


@dataclass(eq=False, repr=False, kw_only=True)
class LabelsRegression(WeightedClassifier):
    """A classifier whose classes have weights of their own, or share them."""

    _squared_losses: ClassVar[bool] = True

    multiclass: Literal["ovr", "ovo", "shared"] = "ovr"  # type: ignore[assignment]  # one value more

    def _tasks(self, target: Array, sample_weight: Array | None) -> list[Task]:
        tasks = super()._tasks(target, sample_weight)
        if self.multiclass != "shared" or len(tasks) == 1:
            return tasks
        return [Task(tasks[0].rows, np.column_stack([task.target for task in tasks]), tasks[0].sample_weight)]
