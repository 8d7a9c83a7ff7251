"""Wrong calls: status 2 for what is no use of the program, 1 for what failed; one sentence; nothing is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from multikernel.app.cli.program import app

_FIT = ("fit", "t.csv", "--target", "y")
_LINEAR = ("--method", "average", "--alpha", "1", "--kernels", "linear")
_PATH = ("path", "t.csv", "--target", "y")
_VALUES = ("values", "t.csv", "--target", "y")

WRONG_USE = (
    (("fitt", "t.csv"), "No such command 'fitt'. Did you mean 'fit'?"),
    (("fit",), "Missing argument 'DATA.CSV'"),
    (("fit", "t.csv"), "Missing option '--target'"),
    ((*_FIT, "--target=z"), "--target is given several times, and names one column"),
    (("fit", "", "--target", "y"), "the name is empty, or '.'"),
    (("fit", "t.csv", "u.csv", "--target", "y"), "unexpected extra argument(s) (u.csv)"),
    ((*_FIT, "--metod", "average"), "No such option: --metod"),
    ((*_FIT, "--method", "averag"), "'averag' is not one of 'easymkl', 'l1mkl'"),
    ((*_FIT, "--task", "classify"), "'classify' is not one of 'auto', 'classification', 'regression'"),
    ((*_FIT, "--seed", "-1"), "'--seed'"),
    ((*_FIT, "--C", "many"), "'--C'"),
    ((*_FIT, "--lam", "2"), "'--lam'"),
    ((*_FIT, "--rank", "0"), "'--rank'"),
    ((*_FIT, "--kernels", "rbff:1"), "unknown kernels 'rbff:1'; known are hpk:10"),
    ((*_FIT, "--kernels", "rbf"), "'rbf' lacks a number; it is written like rbf:0.01,0.1,1"),
    ((*_FIT, "--set", "alpha"), "'alpha' is written like lam=0.5"),
    ((*_FIT, "--type", "x=numeric"), "one of number, category, date, text"),
    ((*_FIT, "--config", "none.toml"), "none.toml: No such file"),
    ((*_FIT, "--config", "run.toml"), "fit has no option 'targett'; did you mean 'target'?"),
    ((*_FIT, "--leave-out", "y"), "--leave-out 'y' is the target"),
    ((*_FIT, "--groups", "y"), "--groups 'y' is the target"),
    ((*_FIT, "--time", "y"), "--time 'y' is the target"),
    ((*_FIT, "--groups", "g", "--time", "x"), "--groups and --time exclude each other"),
    ((*_FIT, "--key", "x"), "--key and --missing keep are about the rows of several files"),
    ((*_FIT, "--missing", "keep"), "give the others by --view"),
    ((*_FIT, "--view", "other.csv", "--memory", "1GB"), "several files are read at once"),
    ((*_FIT, "--checkpoint", "state"), "t.csv is read at once, and --checkpoint keeps the state"),
    ((*_PATH, "--count", "1"), "'--count'"),
    ((*_PATH, "--count", "3", "--values", "1,2"), "give one of them"),
    ((*_PATH, "--folds", "1"), "'--folds'"),
    ((*_VALUES, "--repeats", "0"), "'--repeats'"),
    (("bench", "t.csv", "--target", "y", "--repeat", "0"), "'--repeat'"),
    (("methods", "rsl2"), "'rsl2' is not one of"),
    (("predict", "m.mk"), "Missing argument 'NEW.CSV'"),
    (("report", "m.mk", "--view", "t.csv"), "--view names further files; give the first one"),
    (("reproduce", "nobody"), "'nobody' is not one of"),
    (("app", "--port", "99999"), "'--port'"),
)
FAILED = (
    (("fit", "none.csv", "--target", "y"), "none.csv: No such file or directory"),
    (("fit", "folder", "--target", "y"), "there is no file folder"),
    (("fit", "empty.csv", "--target", "y"), "empty.csv is empty"),
    (("fit", "bytes.csv", "--target", "y"), "bytes.csv cannot be read as CSV"),
    (("fit", "bad.parquet", "--target", "y"), "bad.parquet cannot be read as Parquet"),
    (("fit", "-", "--target", "y"), "standard input is empty"),
    (("fit", "t.csv", "--target", "Y"), "t.csv has no column 'Y'; did you mean 'y'?"),
    (("fit", "gap.csv", "--target", "y"), "gap.csv: row 2, column 'y': '' is a missing value"),
    ((*_FIT, "--leave-out", "q"), "t.csv has no column 'q'"),
    ((*_FIT, "--leave-out", "x", "--leave-out", "g"), "t.csv has no feature columns beside 'y'"),
    ((*_FIT, "--groups", "q"), "t.csv has no column 'q'"),
    ((*_FIT, "--time", "g"), "row 2, column 'g': 'u' is neither a number nor a date"),
    ((*_FIT, "--view", "none.csv"), "none.csv: No such file"),
    ((*_FIT, "--view", "t.csv"), "the view 't' is given twice"),
    ((*_FIT, "--sheet", "S"), "none is given that ends in .xlsx"),
    ((*_FIT, "--proba", *_LINEAR), "'y' holds numbers, which have no probabilities"),
    ((*_FIT, "--lam", "0.5", "--method", "average"), "--lam does not apply to --method average"),
    ((*_FIT, "--alpha", "nan", "--method", "average"), "alpha must be a finite number > 0 or 'auto', got nan"),
    ((*_FIT, "--set", "alpah=1", "--method", "average"), "has no parameter 'alpah'; did you mean 'alpha'?"),
    ((*_FIT, "--memory", "lots"), "memory must be a number of bytes or a text such as '2GB'"),
    ((*_FIT, "--task", "classification", *_LINEAR), "is neither a word nor an integer"),
    ((*_FIT, "--out", "mine.mk"), "cannot write mine.mk: it exists"),
    ((*_FIT, "--out", "folder"), "cannot write folder: it is a directory"),
    ((*_FIT, "--out", "none/m.mk"), "the directory none does not exist"),
    ((*_FIT, "--out", "t.csv", "--force"), "cannot write t.csv: it is the file to be read"),
    ((*_FIT, "--out", "-"), "cannot write '-'"),
    ((*_FIT, "--save-config", "mine.mk"), "cannot write mine.mk: it exists"),
    ((*_PATH, "--values", "1,x"), "are not numbers with commas between them"),
    ((*_PATH, "--folds", "99"), "t.csv: the column 'y' allows 12 folds, each of which holds out"),
    ((*_PATH, "--method", "ridgecv"), "ridgecv chooses its regularisation by itself"),
    (("compare", "t.csv", "--target", "y", "--only", "forest"), "--only 'forest' is none of the methods"),
    ((*_VALUES, "--source", "a"), "is written like genes=gene_*"),
    ((*_VALUES, "--source", "a=x", "--source", "b=x"), "column 'x' is in 'a' and in 'b'"),
    ((*_VALUES, "--time", "x", "--repeats", "2"), "--time leaves nothing to draw"),
    (("bench", "t.csv", "--target", "y", "--method", "easymkl"), "easymkl separates classes, and 'y' holds numbers"),
    (("predict", "mine.mk", "t.csv"), "mine.mk is not a model saved by multikernel"),
    (("predict", "none.mk", "t.csv"), "none.mk: No such file"),
    (("predict", "folder", "t.csv"), "folder is a directory"),
    (("repeat", "none.toml"), "none.toml: No such file"),
    (("datasets", "--data-dir", "none"), "not an existing directory"),
    (("app", "--home", "t.csv", "--no-browser"), "--home t.csv is a file; name a folder"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the calls name."""
    made = tmp_path_factory.mktemp("wrong")
    values = np.random.default_rng(0).normal(size=(24, 2)).round(3)
    rows = [f"{a},{'uvw'[k % 3]},{b}" for k, (a, b) in enumerate(values)]
    (made / "t.csv").write_text("\n".join(["x,g,y", *rows]) + "\n")
    (made / "other.csv").write_text("\n".join(["x,z", *(f"{a},{k}" for k, (a, _) in enumerate(values))]) + "\n")
    (made / "gap.csv").write_text("x,y\n1,\n2,3.5\n3,1.5\n")
    (made / "empty.csv").write_text("")
    (made / "bytes.csv").write_bytes(bytes(range(256)))
    (made / "bad.parquet").write_bytes(b"PAR1xxxx")
    (made / "mine.mk").write_text("mine")
    (made / "run.toml").write_text("[fit]\ntargett = 'y'\n")
    (made / "folder").mkdir()
    return made


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [*((2, *each) for each in WRONG_USE), *((1, *each) for each in FAILED)],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_call_is_told_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, status: int, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(folder)
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = CliRunner().invoke(app, list(words), input=b"")
    assert (done.exit_code, done.stdout) == (status, ""), done.output
    *usage, sentence = done.stderr.splitlines()
    assert said in sentence
    assert sentence.lower().startswith("error: ")
    assert "Traceback" not in done.stderr
    assert not usage or (status == 2 and usage[0].startswith("Usage: "))
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
