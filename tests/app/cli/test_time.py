"""--time: folds test on rows later than all that they learn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from csv_tables import Invoke
from sklearn.preprocessing import MinMaxScaler

import multikernel as mk
from multikernel import kernels
from multikernel.app.tables.held_out import RowsHeldOut

N = 60
RNG = np.random.default_rng(0)
DAYS = RNG.permutation(np.repeat(np.arange(N // 2), 2))  # two rows on each day, in no order
X = RNG.normal(size=(N, 2)).round(3)
Y = (X[:, 0] + 0.1 * DAYS + 0.1 * RNG.normal(size=N)).round(3)


def _table(y: Any = Y) -> Path:
    rows = [f"{a},{b},2024-{1 + d // 28:02d}-{1 + d % 28:02d},{t}" for (a, b), d, t in zip(X, DAYS, y, strict=True)]
    path = Path("t.csv")
    path.write_text("\n".join(["a,b,day,y", *rows]) + "\n")
    return path


def test_the_scores_are_those_of_the_future(invoke: Invoke) -> None:
    words = ("--method", "average", "--alpha", "1", "--kernels", "linear")
    done = invoke("fit", _table(), "--target", "y", "--time", "day", "--leave-out", "day", *words, "--json")
    assert done.exit_code == 0, done.output
    order = np.argsort(DAYS, kind="stable")  # 6 stretches of 10 rows: days are whole in each
    scores = []
    for k in range(1, 6):
        train, test = order[: 10 * k], order[10 * k : 10 * (k + 1)]
        scale = MinMaxScaler().fit(X[train])
        own = mk.AverageMKLRegressor([kernels.Linear().standardized()], alpha=1.0).fit(
            scale.transform(X[train]), Y[train]
        )
        scores.append(own.score(scale.transform(X[test]), Y[test]))
    assert json.loads(done.stdout)["score_folds"] == pytest.approx(scores)
    told = invoke("fit", "t.csv", "--target", "y", "--time", "day", *words, "--leave-out", "day", "--force")
    assert "folds, each later than what was learned from" in told.stdout


def test_rows_of_one_time_are_never_in_two_stretches() -> None:
    times = np.sort(RNG.integers(0, 9, 200)).astype(float)
    held_out = RowsHeldOut(times=times)
    for train, test in held_out.folds(np.zeros(200), "regression", 4, 0):
        assert times[train].max() < times[test].min()
    together = held_out.together()
    assert together is not None
    assert all(len(set(together[times == t])) == 1 for t in set(times.tolist()))


def test_every_command_that_scores_takes_it(invoke: Invoke) -> None:
    words = (_table(), "--target", "y", "--time", "day", "--folds", "3", "--json")
    path = invoke("path", *words, "--method", "linearrls2", "--values", "0.01,0.1")
    assert len(json.loads(path.stdout)["steps"][0]["score_folds"]) == 3
    worth = invoke("values", *words, "--method", "linearrls2", "--set", "alpha=0.01", "--no-pairs")
    assert json.loads(worth.stdout)["folds"] == 3
    compared = invoke("compare", *words, "--only", "random forest", "--only", "average of kernels")
    assert max(each["score_mean"] for each in json.loads(compared.stdout)["methods"]) < 0.9  # it rises beyond the past


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--time", "a", "--groups", "b"], "--groups and --time exclude each other"),
        (["--time", "days"], "no column 'days'; did you mean 'day'?"),
        (["--time", "word"], "row 2, column 'word': 'x' is neither a number nor a date"),
        (["--time", "one"], "--time 'one' holds one time only"),
        (["--time", "late"], "row 61, column 'late': 'soon' is neither a number nor a date as the others are"),
        (["--time", "turned"], "nothing distinguishes days from months; write the year first"),
    ],
)
def test_a_column_that_gives_no_order_is_refused(invoke: Invoke, words: list[str], said: str) -> None:
    path = _table()
    head, *rows = path.read_text().splitlines()
    path.write_text(
        "\n".join(
            [
                f"{head},word,one,late,turned",
                *(
                    f"{row},x,1,{k if k < N - 1 else 'soon'},0{1 + k % 9}/0{1 + k // 9}/2024"
                    for k, row in enumerate(rows)
                ),
            ]
        )
    )
    done = invoke("fit", path, "--target", "y", "--method", "average", *words)
    assert done.exit_code == (2 if "exclude" in said else 1)
    assert said in done.stderr


def test_a_class_that_comes_later_is_said(invoke: Invoke) -> None:
    done = invoke(
        "fit", _table(np.where(DAYS < 10, "old", "new")), "--target", "y", "--time", "day", "--method", "average"
    )
    assert done.exit_code == 1
    assert "rows before fold 1 of --time are all of the class old" in done.stderr
