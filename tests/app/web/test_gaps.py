"""Several files of which some lack samples: what was matched, what is learned from, and what else can be predicted."""

from __future__ import annotations

import json
import runpy
import tomllib
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_server import PATIENTS, TWO_FOLDS, Person, files_with_gaps, said, saved
from csv_tables import Invoke

from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.views import UploadedFile, ViewsOfModel, join_by_model

METHOD = {"method": "AverageMKLClassifier", "kernels-0": "linear", "kernels-1": ["linear", "types"], "p-C": "1"}


@pytest.mark.study
def test_samples_are_dropped_or_kept_and_the_page_says_which(person: Person) -> None:
    page = person.upload(*files_with_gaps())
    text = said(page)
    assert "34 of 42 samples are in all 2 files" in text
    assert "clinic 40 2 6 p00, p01, p02, …" in text  # rows, samples it lacks, rows that are not in all, some of these
    assert "lab 36 6 2 p41, p40" in text
    assert "the other 8 are dropped" in text
    form = {"target": "clinic: ill", "how": "look"}
    shown = said(person.submit(f"{page.url.path}/learn", **form, missing="drop"))
    assert "without a value" not in shown
    shown = said(person.submit(f"{page.url.path}/learn", **form, missing="keep"))
    assert "2 rows without a value are not learned from" in shown  # those that only the laboratory has
    assert 'value="keep" checked' in person.get(page.url.path).text


@pytest.mark.study
def test_a_run_keeps_samples_and_repeats_to_the_same_numbers(person: Person, tmp_path: Path, invoke: Invoke) -> None:
    page = person.upload(*files_with_gaps())
    scores = {}
    for missing, n in (("drop", PATIENTS - 6), ("keep", PATIENTS)):
        person.submit(f"{page.url.path}/choose", target="clinic: ill", missing=missing)
        run = person.learned(person.submit(f"{page.url.path}/method", **METHOD))
        text = said(run)
        assert "Who lacks a view?" in text if missing == "keep" else "8 samples that lack a view were not" in text
        files = {}
        for name in ("run.py", "run.toml", "table.csv", "predictions.csv", "report.html"):
            files[name] = person.get(f"{run.url.path}/files/{name}").content
            (tmp_path / name).write_bytes(files[name])
        assert tomllib.loads(files["run.toml"].decode())["missing"] == missing
        assert (b"Who lacks a view?" in files["report.html"]) == (missing == "keep")
        done = invoke("repeat", "run.toml", "--json", "--force")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["n"] == n
        scores[missing] = found["scores"]["own"]
    assert scores["keep"] != scores["drop"]

    told = pd.read_csv(StringIO(files["predictions.csv"].decode()))
    assert told["nr"].tolist() == [f"p{k:02}" for k in (*range(PATIENTS), 41, 40)]
    assert told["lacks"].fillna("").tolist() == ["lab"] * 6 + [""] * 34 + ["clinic"] * 2
    (tmp_path / "app.mk").write_bytes(person.get(f"{run.url.path}/files/model.mk").content)
    shown = {model: invoke("predict", f"{model}.mk", "table.csv").stdout for model in ("app", "model")}
    assert shown["app"] == shown["model"]
    assert pd.read_csv(StringIO(shown["app"]))["prediction"].tolist() == told["prediction"].tolist()
    runpy.run_path("run.py")
    pd.testing.assert_frame_equal(pd.read_csv("run-output/predictions.csv"), told[["nr", "prediction"]])


def test_new_files_may_lack_a_source(person: Person) -> None:
    clinic, lab = files_with_gaps()
    page = person.upload(clinic, lab)
    person.submit(f"{page.url.path}/choose", target="clinic: ill", missing="keep", **TWO_FOLDS)
    run = person.learned(person.submit(f"{page.url.path}/method", **METHOD))
    whole = pd.read_csv(StringIO(person.get(f"{run.url.path}/files/predictions.csv").text)).set_index("nr")

    def predicted(*files: tuple[str, str]) -> pd.DataFrame:
        given = [("files", file) for file in files]
        return pd.read_csv(StringIO(saved(person.submit(f"{run.url.path}/predict", files=given)))).set_index("nr")

    both = predicted(lab, clinic)  # in another order
    pd.testing.assert_frame_equal(both.loc[whole.index], whole)
    alone = predicted(("laboratory, new.csv", lab[1]))  # known by its columns
    assert set(alone["lacks"]) == {"clinic"}
    for name in ("p40", "p41"):
        assert alone.loc[name, "prediction"] == whole.loc[name, "prediction"]
    other = person.submit(f"{run.url.path}/predict", files=[("files", ("x.csv", "nr,c\np1,3\n"))])
    assert "x is none of the views that the model learned from, clinic, lab" in said(other)
    twice = person.submit(f"{run.url.path}/predict", files=[("files", lab), ("files", ("y.csv", lab[1]))])
    assert "Two files hold the view &#39;lab&#39;" in said(twice)
    one = said(person.submit(f"{run.url.path}/predict-one", **{"cell-0": "0.5", "cell-1": "f"}))
    assert "This sample lacks lab, which is completed by its other views" in one
    nothing = said(person.submit(f"{run.url.path}/predict-one"))
    assert "This sample lacks clinic and lab" in nothing


def test_files_that_share_no_sample_with_all_others_can_be_kept(person: Person) -> None:
    rng = np.random.default_rng(1)
    names = np.array([f"s{k}" for k in range(30)])
    parts = {"a": range(20), "b": range(10, 30), "c": [*range(10), *range(20, 30)]}  # no sample is in all three
    tables = []
    for name, rows in parts.items():
        part = pd.DataFrame({"nr": names[list(rows)], "x": rng.normal(size=20), "y": rng.integers(2, size=20)})
        tables.append((f"{name}.csv", part.to_csv(index=False)))
    page = person.upload(*tables, key="nr")
    assert "0 of 30 samples are in all 3 files" in said(page)
    assert "Each sample lacks a view; keep samples that lack one" in said(page)
    form = {"target": "a: y", "how": "look"}
    assert "Each sample lacks" not in said(person.submit(f"{page.url.path}/learn", **form, missing="keep"))


@pytest.mark.parametrize(
    ("columns", "views"),
    [
        ({"a": ["1"], "b": ["2"]}, ["lab: a", "lab: b"]),
        ({"nr": ["7"], "b": ["2"], "a": ["1"], "z": ["3"]}, ["nr", "lab: b", "lab: a", "lab: z"]),
        ({"lab: a": ["1"], "clinic: age": ["2"]}, ["lab: a", "clinic: age"]),
    ],
)
def test_one_file_is_the_view_whose_columns_it_has(columns: dict[str, list[str]], views: list[str]) -> None:
    model = ViewsOfModel({"lab": ["a", "b"], "clinic": ["age"]}, "nr")
    assert list(join_by_model(model, [UploadedFile("new", columns)]).columns) == views


def test_what_a_recipe_does_with_gaps_is_checked(invoke: Invoke, tmp_path: Path) -> None:
    from multikernel.app.toml import toml

    recipe = Recipe("p", "y", "regression", {"a": "number"}, missing="leave")  # type: ignore[arg-type]
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    assert "missing must be one of 'drop', 'keep', got 'leave'" in invoke("repeat", "run.toml").stderr
