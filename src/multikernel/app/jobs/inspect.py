"""``report``: what a saved model learned, and how well it predicts rows whose target is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from multikernel.app.jobs.predict import as_views, learner_of, samples_of
from multikernel.app.tables.table import CsvTable
from multikernel.auto import Explanation
from multikernel.certificate import Certificate
from multikernel.datasets import Task, decide
from multikernel.persistence import read
from multikernel.typing import Array


@dataclass(frozen=True)
class Tested:
    """The result of a test on rows whose target is known.

    Parameters
    ----------
    file, target, measure : str; the target is "" where its name is unknown
    rows : int
    score, trivial : float, of the model, and of predicting the commonest class of these rows or their mean
    truth, predicted : arrays (rows,)
    confusion : array (classes, classes) of counts, a row for each true class; None for numbers
    """

    file: str
    target: str
    measure: str
    rows: int
    score: float
    trivial: float
    truth: Array
    predicted: Array
    confusion: Array | None


@dataclass(frozen=True)
class Inspected:
    """A saved model.

    Parameters
    ----------
    file, method : str
    targets : tuple of str, the columns that it predicts; () where they have no names
    classes : list, None for a regressor
    names, weights : the kernels and their weights (mean over problems), the largest first; for the automatic estimator
        its candidates and their shares
    certificate : of the model; for the automatic estimator that of its blend
    explanation : Explanation of the automatic estimator; None for other models
    tested : tuple of Tested, for each target on rows where it is known; () without such rows
    """

    file: str
    method: str
    targets: tuple[str, ...]
    classes: list[Any] | None
    names: tuple[str, ...]
    weights: Array
    certificate: Certificate
    explanation: Explanation | None
    tested: tuple[Tested, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the automatic estimator says of its choice, without the table."""
        explanation = self.explanation
        if explanation is None:
            return ()
        return (*explanation.data, *explanation.choice, *explanation.warnings)

    def to_json(self) -> dict[str, Any]:
        """The model as a dictionary; with several targets ``targets`` has their names, and ``tests`` a test of each."""
        tests = [
            {
                "file": result.file,
                "rows": result.rows,
                "measure": result.measure,
                "score": result.score,
                "score_trivial": result.trivial,
                "confusion": result.confusion,
            }
            for result in self.tested
        ]
        several: dict[str, Any] = {}
        if len(self.targets) > 1:
            named_tests = [{"target": result.target, **test} for result, test in zip(self.tested, tests, strict=True)]
            several = {"targets": list(self.targets), "tests": named_tests or None}
        return {
            "file": self.file,
            "method": self.method,
            "target": self.targets[0] if self.targets else None,
            "classes": self.classes,
            "weights": [
                {"kernel": name, "weight": weight} for name, weight in zip(self.names, self.weights, strict=True)
            ]
            or None,
            "certificate": asdict(self.certificate),
            "sentences": list(self.sentences) or None,
            "test": tests[0] if len(tests) == 1 else None,
            **several,
        }


def inspect(path: Path, table: CsvTable | None) -> Inspected:
    """Inspect a saved model; ValueError where ``fit`` has not written it, or the rows do not fit it."""
    model, metadata = read(path)
    if not {"columns", "table", "stream"} & metadata.keys():
        raise ValueError(f"{path} holds a model without a table's columns; it has to be one that fit has written")
    if "stream" in metadata and table is not None:
        raise ValueError(f"{path} was learned in chunks, and is not tested on a table; leave {table.file} out")
    target = metadata.get("table", metadata.get("stream", metadata)).get("target")
    targets = tuple(metadata.get("targets", (target,) if target else ()))
    tested = () if table is None else _tests_on_table(path, model, metadata, targets, table)
    return inspect_model(model, str(path), targets, tested)


def inspect_model(model: Any, file: str, targets: tuple[str, ...], tested: tuple[Tested, ...]) -> Inspected:
    """What a fitted model learned.

    Parameters
    ----------
    model : fitted estimator
    file, targets : the names of the model and of what it predicts
    tested : the test of each target; () without a test
    """
    learner = learner_of(model)
    explanation = getattr(learner, "explanation_", None)
    if explanation is None:
        names, weights = _kernel_weights(learner)
    else:
        names, weights = _candidate_shares(explanation)
    order = np.argsort(-weights, kind="stable")
    return Inspected(
        file=file,
        method=type(learner).__name__,
        targets=targets,
        classes=model.classes_.tolist() if is_classifier(model) else None,
        names=tuple(names[k] for k in order),
        weights=weights[order],
        certificate=learner.certificate_,
        explanation=explanation,
        tested=tested,
    )


def _kernel_weights(model: Any) -> tuple[list[str], Array]:
    """Kernels and their weights."""
    return [str(name) for name in model.kernel_names_], np.atleast_2d(model.weights_).mean(axis=0)


def _candidate_shares(explanation: Explanation) -> tuple[list[str], Array]:
    """Candidates and their shares."""
    rows = explanation.rows[:-1]  # the last one is their blend
    return [row.candidate for row in rows], np.array([row.weight for row in rows], dtype=float)


def _tests_on_table(
    path: Path, model: Any, metadata: Any, targets: tuple[str, ...], table: CsvTable
) -> tuple[Tested, ...]:
    """The tests on the rows of a table, which has all targets."""
    if not targets:
        raise ValueError(f"{path} does not name the column that it predicts; fit the model again")
    table = as_views(path, metadata, table)
    task: Task = "classification" if is_classifier(model) else "regression"
    truth = [np.asarray(decide(table.column(target), task)[0]) for target in targets]
    predicted = np.asarray(model.predict(samples_of(path, metadata, table)))
    if len(targets) == 1:
        return (_test(model, truth[0], predicted, table.file, f"{table.file}: column {targets[0]!r}", targets[0]),)
    return tuple(
        _test_of_numbers(target_truth, predicted[:, k], table.file, target)
        for k, (target_truth, target) in enumerate(zip(truth, targets, strict=True))
    )


def tested_on(model: Any, X: Any, truth: Array, file: str, column: str) -> Tested:
    """The test of a model on samples whose target is known.

    Parameters
    ----------
    model : fitted estimator
    X : samples
    truth : array (n,), their target
    file, column : names of the samples and of the target for pages and messages

    Raises
    ------
    ValueError : where the target holds a class that training did not have
    """
    return _test(model, truth, np.asarray(model.predict(X)), file, column, "")


def _test(model: Any, truth: Array, predicted: Array, file: str, column: str, target: str) -> Tested:
    if not is_classifier(model):
        return _test_of_numbers(truth, predicted, file, target)
    unknown_classes = np.setdiff1d(truth, model.classes_)
    if len(unknown_classes):
        raise ValueError(f"{column} holds {unknown_classes[0]!s}, a class that training did not have")
    score = float(np.mean(truth == predicted))
    commonest = float(np.unique(truth, return_counts=True)[1].max() / len(truth))
    counts = confusion_matrix(truth, predicted, labels=model.classes_)
    return Tested(file, target, "accuracy", len(truth), score, commonest, truth, predicted, counts)


def _test_of_numbers(truth: Array, predicted: Array, file: str, target: str) -> Tested:
    spread = float(((truth - truth.mean()) ** 2).sum())
    score = float("nan")
    if spread > 0:
        score = 1.0 - float(((truth - predicted) ** 2).sum()) / spread
    return Tested(file, target, "R2", len(truth), score, 0.0, truth, predicted, None)
