"""Models from files: those of the application and of the command line, and files made to do harm."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from app_server import Person, people, said, saved, serving
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import multikernel
from multikernel.app.cli.program import app
from multikernel.app.web.learning.findings import execute_run
from multikernel.app.web.learning.opened import OpenedModel
from multikernel.app.web.opener import answer
from multikernel.app.web.pages import models as pages
from multikernel.app.web.store import Settings, Store


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of models: of a run of the application, and of the command line."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "people.csv").write_text(people(40))
    recipe = {"target": "bought", "task": "classification", "columns": {"age": "number", "city": "category"}}
    execute_run(
        recipe | {"method": "AverageMKLClassifier", "parameters": {"C": 1.0}, "measured": {"folds": 2}},
        folder / "people.csv",
        folder,
        lambda *_: None,
    )
    X, y = load_iris(return_X_y=True, as_frame=True)
    iris = X.assign(kind=y.map({0: "a", 1: "b", 2: "c"})).iloc[::3]
    iris.to_csv(folder / "iris.csv", index=False)
    iris.to_parquet(folder / "iris.parquet")
    in_chunks = ["--method", "rls2", "--rank", "10", "--set", "alpha=1e-3"]
    for words in (
        ["fit", "iris.csv", "--target", "kind", "--method", "easymkl", "--out", "table.mk"],
        ["fit", "iris.parquet", "--target", "kind", *in_chunks, "--out", "chunks.mk"],
    ):
        paths = [str(folder / word) if "." in word else word for word in words]
        result = CliRunner().invoke(app, paths)
        assert result.exit_code == 0, result.output
    return folder


def _asked(file: Path, **order: Any) -> dict[str, Any]:
    """What the process that opens files answers."""
    return answer({"model": str(file), "name": "m.mk", "memory": 1 << 30, "shown": 3, "columns": False, **order})


@pytest.mark.parametrize("name", ["table.mk", "chunks.mk"])
def test_a_model_of_the_command_line_predicts_what_the_command_does(models: Path, name: str, tmp_path: Path) -> None:
    opened = OpenedModel.of(models / name)
    about = opened.about()
    assert about["target"] == "kind"
    assert about["task"] == "classification"
    assert list(about["columns"]) == load_iris().feature_names
    told = opened.answers(models / "iris.csv", "iris", columns=False)
    result = CliRunner().invoke(app, ["predict", str(models / name), str(models / "iris.csv")])
    assert told.frame["prediction"].tolist() == pd.read_csv(io.StringIO(result.output))["prediction"].tolist()
    truth = pd.read_csv(models / "iris.csv")["kind"]
    [test] = told.tests
    assert (test["target"], test["rows"]) == ("kind", len(truth))
    new = load_iris(as_frame=True).data[:3]
    new.assign(**{new.columns[0]: 99.0}).to_csv(tmp_path / "far.csv", index=False)
    [message] = opened.answers(tmp_path / "far.csv", "new rows", columns=False).messages
    assert message.startswith("new rows: Values beyond those of training")
    new.drop(columns=new.columns[0]).to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(ValueError, match=r"^new rows .*sepal length"):
        opened.answers(tmp_path / "less.csv", "new rows", columns=False)
    assert test["score"] == pytest.approx((told.frame["prediction"] == truth).mean())


def test_a_model_without_its_columns_or_without_predictions_is_refused(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    for model, words in ((multikernel.EasyMKLClassifier().fit(X, y), "which columns"), (StandardScaler(), "nothing")):
        multikernel.save(model, tmp_path / "m.mk")
        with pytest.raises(ValueError, match=words):
            OpenedModel.of(tmp_path / "m.mk")


def _edited(file: Path, edit: Callable[[dict[str, Any]], None], out: Path) -> Path:
    """A model file whose header was changed by somebody who makes its digests as well."""
    with zipfile.ZipFile(file) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            if not name.startswith("header"):
                after.writestr(name, before.read(name))
        header = json.loads(before.read("header.json"))
        edit(header)
        text = json.dumps(header).encode()
        after.writestr("header.json", text)
        after.writestr("header.digest", blake2b(text, digest_size=16).hexdigest())
    return out


def _metadata(header: dict[str, Any], key: str, value: Any) -> None:
    for pair in header["metadata"]["dict"]:
        if pair[0] == key:
            pair[1] = value


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda h: h.update(version=99), "in a newer format"),
        (lambda h: h.update(model={"estimator": "os.system", "state": {}}), "is not a class of"),
        (lambda h: h.update(model={"dict": []}), "predicts nothing"),
        (lambda h: _metadata(h, "recipe", {"dict": [["evil", 1]]}), "cannot be used as a model"),
        (lambda h: _metadata(h, "recipe", 7), "cannot be used as a model"),
        (lambda h: h["metadata"].update(dict=[]), "does not say which columns"),
    ],
)
def test_files_made_by_hand_are_refused_in_a_sentence(models: Path, tmp_path: Path, edit: Any, words: str) -> None:
    said = _asked(_edited(models / "model.mk", edit, tmp_path / "edited.mk"))["error"]
    assert words in said
    assert str(tmp_path) not in said
    assert ". " not in said


def test_damaged_files_and_tables_that_do_not_fit_are_refused_in_a_sentence(models: Path, tmp_path: Path) -> None:
    whole = (models / "model.mk").read_bytes()
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"0" * (8 << 20))
    for content, words in (
        (whole[: len(whole) // 2], "m.mk is not a model saved by multikernel, or is damaged"),
        (bomb.getvalue(), "m.mk cannot be loaded: it would unpack to more than 200 times its size"),
    ):
        (tmp_path / "m.mk").write_bytes(content)
        assert words in _asked(tmp_path / "m.mk")["error"]
    for cells, words in (
        ("age\n1\n", "new lacks 'city'"),
        ("age,city\nold,Rome\n", "new: row 2, column 'age': 'old' is not a number"),
    ):
        (tmp_path / "new.csv").write_text(cells)
        order = {"table": str(tmp_path / "new.csv"), "rows": "new", "out": str(tmp_path / "out.csv")}
        assert words in _asked(models / "model.mk", **order)["error"]
        assert not (tmp_path / "out.csv").exists()


def test_a_model_is_opened_used_renamed_and_deleted(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        name = '<script>alert(1)<script> "é" 😀.mk'
        page = person.submit("/models", files=[("files", (name, (models / "model.mk").read_bytes()))])
        assert "predicts bought" in said(page), said(page)
        assert "<script>alert" not in page.text
        monkeypatch.setattr(pages, "answer_of_process", lambda command, order, *_: answer(order))
        told = person.submit(f"{page.url.path}/predict", files=[("files", ("new.csv", people(9, 1)))])
        own = OpenedModel.of(models / "model.mk")
        (tmp_path / "new.csv").write_text(people(9, 1))
        assert (
            saved(told).splitlines()[1].split(",")[0]
            == own.answers(tmp_path / "new.csv", "n", False).frame["prediction"][0]
        )
        assert "accuracy on the 9 rows whose bought the file has" in said(told)
        person.submit(f"{page.url.path}/rename", name="b" * 10_000)
        assert "b" * 120 in person.get("/").text
        assert "b" * 121 not in person.get("/").text
        for content in (b"", b"a,b\n1,2", pickle.dumps(print)):
            refused = person.submit("/models", files=[("files", ("m.mk", content))])
            assert refused.status_code == 400
            assert "m.mk is no saved model" in said(refused)
        assert len(list((tmp_path / "models").iterdir())) == 1
        person.submit(f"{page.url.path}/delete")
        assert person.get(page.url.path).status_code == 404
        assert not list((tmp_path / "models").iterdir())
    assert Store(Settings(tmp_path)).models() == []
