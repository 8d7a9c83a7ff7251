"""What a person says of the columns: --type and --leave-out, as the forms of the browser application have them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke

import multikernel
from multikernel.app.tables.table import read_table
from multikernel.app.web.learning.families import estimator_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.samples import frame, target_of
from multikernel.persistence import read


def _table(n: int = 60) -> Path:
    """Codes that look like numbers, of which two kinds mean yes; numbers with words among them; a column of noise."""
    rng = np.random.default_rng(0)
    rows = [
        f"{k % 4 + 1},{k if k % 3 else 'low'},{rng.normal():.3f},{'ab'[k % 2]},{'yes' if k % 4 in (0, 2) else 'no'}"
        for k in range(n)
    ]
    path = Path("t.csv")
    path.write_text("\n".join(["code,size=cm,noise,word,y", *rows]) + "\n")
    return path


@pytest.mark.study
def test_the_command_and_the_application_learn_the_same_from_declared_columns(invoke: Invoke) -> None:
    types = {"code": "category", "size=cm": "number"}
    words = [word for column, kind in types.items() for word in ("--type", f"{column}={kind}")]
    done = invoke(
        "fit",
        _table(),
        "--target",
        "y",
        *words,
        "--leave-out",
        "noise",
        "--leave-out",
        "word",
        "--json",
        "--save-config",
        "run.toml",
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["features"] == ["code", "size=cm"]
    assert told["left_out"] == ["noise", "word"]
    recipe = Recipe("t", "y", "classification", types)  # type: ignore[arg-type]
    table = read_table(Path("t.csv"))
    X, y = frame(table, recipe), target_of(table, "y", None)[0]
    model, given = estimator_of(recipe, X, y)
    own = multikernel.load(Path("model.mk"))
    assert np.array_equal(own.predict_proba(given), model.fit(given, y).predict_proba(given))
    saved = tomllib.loads(Path("run.toml").read_text())["fit"]
    assert saved["type"] == ["code=category", "size=cm=number"]
    assert saved["leave-out"] == ["noise", "word"]
    found = invoke("predict", "model.mk", "t.csv", "--json")
    assert json.loads(found.stdout)["predictions"] == ["yes" if k % 4 in (0, 2) else "no" for k in range(60)]


def test_a_method_a_path_and_a_comparison_take_types_too(invoke: Invoke) -> None:
    _table(40)
    Path("c.toml").write_text('[path]\nleave-out = ["size=cm", "word"]\nfolds = 2\n[path.type]\ncode = "category"\n')
    shared = (
        "t.csv",
        "--target",
        "y",
        "--leave-out",
        "size=cm",
        "--leave-out",
        "word",
        "--type",
        "code=category",
        "--json",
    )
    fitted = json.loads(invoke("fit", *shared, "--method", "average", "--C", "1", "--kernels", "linear").stdout)
    assert fitted["score_training"] == 1.0  # no line on the codes as numbers tells 1 and 3 from 2 and 4
    assert len(read(Path("model.mk"))[1]["table"]["low"]) == 5
    followed = invoke("path", "t.csv", "--target", "y", "--config", "c.toml", "--kernels", "linear", "--json")
    assert followed.exit_code == 0, followed.output
    assert max(step["score_training"] for step in json.loads(followed.stdout)["steps"]) == 1.0
    gaussian = (
        "compare",
        "t.csv",
        "--target",
        "y",
        "--leave-out",
        "size=cm",
        "--folds",
        "3",
        "--only",
        "one Gaussian (SVC)",
        "--json",
    )
    assert invoke(*gaussian, "--type", "code=category").exit_code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--type", "code"], "'code' is written like code=category"),
        (["--type", "code=words"], "one of number, category, date, text"),
        (["--type", "code=text", "--type", "code=date"], "'code' is declared twice"),
        (["--type", "cod=text"], "no column 'cod'; did you mean 'code'?"),
        (["--type", "y=text"], "'y' is the target"),
        (["--type", "noise=text", "--leave-out", "noise"], "'noise' is a column that is left out"),
        (["--type", "noise=date", "--leave-out", "size=cm"], "none of its cells reads as one"),
        (["--leave-out", "nois"], "no column 'nois'; did you mean 'noise'?"),
        (
            ["--leave-out", "size=cm", "--type", "word=number", "--method", "average"],
            "t.csv: column 'word' is declared to be a number, and none of its cells reads as one",
        ),
        (["--type", "code=text", "--set", "types={}"], "given twice, by --type and by --set"),
    ],
)
def test_what_does_not_fit_is_refused(invoke: Invoke, words: list[str], sentence: str) -> None:
    found = invoke("fit", _table(), "--target", "y", *words)
    assert found.exit_code in (1, 2)
    assert sentence in " ".join(found.stderr.split()), found.stderr
    assert not Path("model.mk").exists()


def test_methods_take_chunks_of_a_file_with_the_types_of_the_file(invoke: Invoke) -> None:
    Path("t.parquet").write_bytes(b"")
    words = ["--memory", "1GB", "--method", "rls2", "--type", "code=text"]
    found = invoke("fit", "t.parquet", "--target", "y", *words)
    assert found.exit_code == 1
    assert "which --type does not reach" in found.stderr
