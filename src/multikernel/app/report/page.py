"""Reports as one HTML file that needs no other file and no network: of a model, and of a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from multikernel.app.jobs.follow_path import Followed, rows_of
from multikernel.app.jobs.inspect import Inspected, Tested, inspect_model, tested_on
from multikernel.files import path_of, write_whole
from multikernel.inspection import short_names
from multikernel.reproduce.pages.html import inline_svg, provenance, templates

# mid tones, to be seen on white and on black
LEARNED = "#4a7fe0"
BASELINE = "#8d96a8"
OUTSIDE = "#dd8a33"


def page(template: str, functions: Mapping[str, Callable[..., Any]] | None = None, **values: Any) -> str:
    """A template filled in, as HTML text.

    Parameters
    ----------
    template : its name
    functions : what it may call
    values : what it shows, beside the versions, the machine and the time
    """
    environment = templates("multikernel.app.report")
    environment.globals |= dict(functions or {})
    return environment.get_template(template).render(
        **provenance(),
        colors={"learned": LEARNED, "baseline": BASELINE, "outside": OUTSIDE},
        **values,
    )


_BARS = 20  # kernels with a bar


def report(model: Any, X: Any, y: Any, path: str | os.PathLike[str]) -> None:
    """Write what a fitted model learned, and how well it predicts samples, as one HTML file.

    The page is that of ``multikernel report``: the kernels and their weights, how they were chosen, the certificate,
    and the score, with a confusion matrix or the predictions beside the true values. It needs the extra ``app``.

    Parameters
    ----------
    model : fitted estimator
    X : samples that ``model.predict`` takes, best ones that it was not fitted to; or None
    y : array (n,), their target; None where X is None
    path : the file, which is replaced where it exists

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
    tested = None
    if y is not None:
        truth = np.asarray(y)
        if truth.ndim != 1:
            raise ValueError(f"report: y must have one value for each sample, got shape {truth.shape}")
        tested = tested_on(model, X, truth, "the samples given", "report: y")
    name = type(model).__name__
    write_whole(file, model_page(inspect_model(model, name, None, tested)).encode())


def model_page(inspected: Inspected) -> str:
    """The report as HTML text."""
    tested = inspected.tested
    bars = min(_BARS, len(inspected.names))
    points = tested is not None and tested.confusion is None
    return page(
        "model.html.j2",
        model=inspected,
        bars=bars,
        weights=Markup(inline_svg(lambda ax: _weights(ax, inspected), "Weights", (6.4, 0.9 + 0.26 * bars)))
        if inspected.names
        else None,
        points=Markup(inline_svg(lambda ax: _points(ax, tested), "Predicted against true values", (4.7, 3.6)))
        if points
        else None,
    )


def _weights(ax: Any, inspected: Inspected) -> None:
    names = short_names(list(inspected.names[:_BARS]))
    ax.barh(range(len(names)), inspected.weights[:_BARS], color=LEARNED, height=0.72)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel("weight")
    ax.grid(False, axis="y")


def _points(ax: Any, tested: Tested | None) -> None:
    assert tested is not None
    ax.axline((float(tested.truth.mean()),) * 2, slope=1.0, color=BASELINE, linewidth=1.0)
    ax.plot(tested.truth, tested.predicted, "o", color=LEARNED, markersize=4, alpha=0.5)
    ax.set(xlabel="true", ylabel="predicted")


def path_page(followed: Followed) -> str:
    """The report as HTML text."""

    def draw(what: str, title: str) -> Markup:
        return Markup(inline_svg(lambda ax: followed.path.plot(what, ax), title, (5.4, 3.1)))

    return page(
        "path.html.j2",
        followed=followed,
        rows=[[cell.replace("+-", "±") for cell in row] for row in rows_of(followed)],
        best=f"{followed.path.values[followed.best]:.3g}",
        simplest=f"{followed.path.values[followed.simplest]:.3g}",
        scores=Markup(inline_svg(lambda ax: _scores(ax, followed), "Scores along the path", (5.4, 3.1))),
        weights=draw("weights", "Kernel weights along the path"),
        kernels=draw("kernels", "Kernels with a positive weight along the path"),
    )


def _scores(ax: Any, followed: Followed) -> None:
    """Held-out scores with their standard errors, those of training, and the one-standard-error line."""
    values = np.asarray(followed.path.values, dtype=float)
    order = np.argsort(values, kind="stable")
    mean = followed.scores.mean(axis=0)
    error = followed.scores.std(axis=0, ddof=1) / np.sqrt(len(followed.scores))
    if values.min() > 0 and values.max() >= 30 * values.min():
        ax.set_xscale("log")
    ax.errorbar(values[order], mean[order], yerr=error[order], fmt="o-", color=LEARNED, capsize=3, label="held out")
    if followed.path.train_score is not None:
        ax.plot(values[order], followed.path.train_score[order], "o--", color=BASELINE, markersize=3, label="training")
    ax.axhline(mean[followed.best] - error[followed.best], color=BASELINE, linewidth=0.9)
    ax.axvline(values[followed.simplest], color=BASELINE, linewidth=0.9, linestyle=":")
    ax.set(xlabel=followed.parameter, ylabel=followed.measure)
    ax.legend(frameon=False, fontsize="small")
