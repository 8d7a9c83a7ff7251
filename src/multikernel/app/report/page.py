"""Reports as one HTML file that needs no other file and no network: of a model, of a path, and of sources."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from multikernel.app import charts, row_charts
from multikernel.app.jobs.criteria import NAMES, profiles_of
from multikernel.app.jobs.follow_path import Followed, header_of, rows_of
from multikernel.app.jobs.inspect import Inspected, Tested, inspect_model, tested_on
from multikernel.app.jobs.source_values import Worth, plain
from multikernel.app.path_charts import profile_charts, values_at_minima
from multikernel.files import path_of, write_whole
from multikernel.html import provenance, templates
from multikernel.inspection import short_names

_COLORS = {  # mid tones, which are visible on white and on black
    "learned": "#4a7fe0",
    "baseline": "#8d96a8",
    "outside": "#dd8a33",
}


def page(template: str, functions: Mapping[str, Callable[..., Any]] | None = None, **values: Any) -> str:
    """The HTML text of a template.

    Parameters
    ----------
    template : its name
    functions : the functions that it may call
    values : its variables, beside the versions, the machine and the time
    """
    environment = templates("multikernel.app.report")
    environment.globals |= dict(functions or {})
    return environment.get_template(template).render(
        **provenance(),
        colors=_COLORS,
        **values,
    )


_BARS = 20  # kernels with a bar, at most
_DRAWN = 6  # targets whose predictions are drawn, at most, as in the browser application; the table has all targets


def report(model: Any, X: Any, y: Any, path: str | os.PathLike[str], *, sources: Any = None) -> None:
    """Write what a fitted model learned, and how well it predicts samples, as one HTML file.

    The page is that of ``multikernel report``: the kernels and their weights, how they were chosen, the certificate,
    and the score, with a confusion matrix or the predictions beside the true values. It needs the extra ``app``.

    Parameters
    ----------
    model : fitted estimator
    X : samples that ``model.predict`` takes, preferably not those of training; or None
    y : array (n,), their target; None where X is None
    path : the file, which is replaced where it exists
    sources : what ``source_values`` returned, for a section about what each source is worth; None for no such section

    Raises
    ------
    ValueError : where only one of X and y is given, y has several columns, or holds a class that training did not have
    OSError : where the file cannot be written

    Examples
    --------
    >>> import os, tempfile
    >>> import multikernel
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = multikernel.EasyMKLClassifier().fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     multikernel.report(model, X[1::2], y[1::2], os.path.join(folder, "iris.html"))
    """
    file = path_of(path, "report: path")
    if (X is None) != (y is None):
        raise ValueError("report: X and y are given together, or both are None")
    tested: tuple[Tested, ...] = ()
    if y is not None:
        if np.ndim(y) != 1:
            raise ValueError(f"report: y must have one value for each sample, got shape {np.shape(y)}")
        if getattr(X, "joined", False) and hasattr(y, "loc"):  # views and a target whose rows have names
            y = y.loc[X.index]
        else:
            check_rows(model, X, y)
        truth = np.asarray(y)
        tested = (tested_on(model, X, truth, "the samples given", "report: y"),)
    name = type(model).__name__
    inspected = inspect_model(model, name, (), tested)
    write_whole(file, model_page(inspected, None if sources is None else plain(sources)).encode())


def check_rows(model: Any, X: Any, y: Any) -> None:
    """ValueError, raised by ``score``, where the labels of a target contradict the order of the samples."""
    if hasattr(y, "index") and not callable(y.index):
        model.score(X, y)


def model_page(inspected: Inspected, worth_of_sources: Mapping[str, Any] | None = None) -> str:
    """The report as HTML text.

    Parameters
    ----------
    inspected : the model
    worth_of_sources : the result of ``plain`` for its sources; None for no section about them
    """
    names = short_names(list(inspected.names[:_BARS]))
    rows = [(n, float(w), 0.0, f"{n}: {w:.4g}") for n, w in zip(names, inspected.weights, strict=False)]
    points = [
        (test.target, charts.residuals({"points": np.column_stack([test.predicted, test.truth]).tolist()}))
        for test in inspected.tested[:_DRAWN]
        if test.confusion is None
    ]
    return page(
        "model.html.j2",
        model=inspected,
        bars=len(names),
        weights=row_charts.bars("Weights", rows, "weight") if rows else None,
        points=points,
        what="source",
        found=worth_of_sources,
        chart=None if worth_of_sources is None else row_charts.sources(worth_of_sources, worth_of_sources["measure"]),
    )


def values_page(worth: Worth) -> str:
    """The report of ``multikernel values`` as HTML text."""
    return page(
        "values.html.j2",
        worth=worth,
        what=worth.source_word,
        found=worth.values,
        chart=row_charts.sources(worth.values, worth.values["measure"], worth.source_word),
    )


def path_page(followed: Followed) -> str:
    """The report as HTML text."""
    path = followed.path
    values = path.values.tolist()
    profiles = profiles_of(path)
    return page(
        "path.html.j2",
        followed=followed,
        rows=[[cell.replace("+-", "±") for cell in row] for row in rows_of(followed)],
        best=f"{path.values[followed.best]:.3g}",
        simplest=f"{path.values[followed.simplest]:.3g}",
        scores=charts.path(_path_scores(followed), followed.measure),
        header=header_of(followed),
        profiles=profile_charts(profiles, followed.parameter, values, followed.scores.mean(axis=0), followed.measure),
        least={NAMES[name]: f"{value:.3g}" for name, value in values_at_minima(profiles, values).items()},
        kernels=charts.lines(
            "Kernels with a positive weight along the path",
            values,
            [("", path.n_kernels.tolist())],
            (followed.parameter, "kernels"),
        ),
    )


def _path_scores(followed: Followed) -> dict[str, Any]:
    """The scores of a path as ``charts.path`` takes them, in the order of the values."""
    path = followed.path
    order = np.argsort(path.values, kind="stable")
    mean = followed.scores.mean(axis=0)
    error = followed.scores.std(axis=0, ddof=1) / np.sqrt(len(followed.scores))
    position = {int(step): k for k, step in enumerate(order)}
    return {
        "parameter": followed.parameter,
        "values": path.values[order].tolist(),
        "mean": mean[order].tolist(),
        "error": error[order].tolist(),
        "training": None if path.train_score is None else path.train_score[order].tolist(),
        "kernels": path.n_kernels[order].tolist(),
        "freedom": [],
        "best": position[followed.best],
        "chosen": position[followed.simplest],
        "line": float(mean[followed.best] - error[followed.best]),
    }
