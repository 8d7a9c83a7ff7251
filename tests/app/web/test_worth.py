"""What each view is worth, in the browser application: by the automatic estimator, and by a method of one's choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, said
from csv_tables import Invoke

from multikernel.app.tables.table import read_table
from multikernel.app.toml import toml
from multikernel.app.web.learning.division import Division, layout_of
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.learning.worth import worth_of_views
from multikernel.app.web.sentences import sentences


def _files() -> list[tuple[str, str]]:
    rng = np.random.default_rng(0)
    genes, age = rng.normal(size=(40, 2)), rng.normal(size=40)
    person = {"nr": [f"p{k}" for k in range(40)]}
    lab = pd.DataFrame(person | {"a": genes[:, 0], "b": genes[:, 1]}).round(3)
    form = pd.DataFrame(person | {"age": age, "ill": np.where(genes[:, 0] + age > 0, "yes", "no")}).round(3)
    return [("lab.csv", lab.to_csv(index=False)), ("form.csv", form.to_csv(index=False))]


def test_a_button_measures_it_beside_the_data_and_with_a_result(person: Person) -> None:
    page = person.upload(*_files())
    assert "What is each view worth?" in said(page)
    form = {"method": "AverageMKLClassifier", "kernels-0": "linear", "kernels-1": "linear", "p-C": "1"}
    person.submit(f"{page.url.path}/choose", target="form: ill", **TWO_FOLDS)
    model = person.learned(person.submit(f"{page.url.path}/method", **form))
    assert "What is each view worth?" in said(model)
    found = person.learned(person.submit(f"{model.url.path}/worth"))
    text = said(found)
    assert "All views together reach" in text
    assert "Do they repeat or complete each other?" in text
    assert person.get(f"{found.url.path}/files/model.mk").status_code == 404
    assert "What these add" in said(person.get(f"{found.url.path}/files/report.html")) or "falls most" in text
    assert "worth = true" in person.get(f"{found.url.path}/files/run.toml").text
    runs = [f"run={each.url.path.split('/')[-1]}" for each in (found, model)]
    assert person.get(f"/runs/compare?{'&'.join(runs)}").status_code == 200


@pytest.mark.study
def test_the_automatic_estimator_gets_some_of_the_views(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=["lab: x", "lab: u", "form: z"])
    views = {"lab": ["lab: x", "lab: u"], "form": ["form: z"]}
    recipe = Recipe("d", "y", "regression", dict.fromkeys(X, "number"), views, worth=True)  # type: ignore[arg-type]
    said: list[str] = []
    X.assign(y=2 * X["lab: x"] + X["form: z"]).to_csv(tmp_path / "table.csv", index=False)
    table = read_table(tmp_path / "table.csv")
    found = worth_of_views(
        recipe, Division.of(layout_of(recipe, table, tmp_path)), lambda stage, part, words="": said.append(words)
    )
    assert [row["source"] for row in found["worth"]["sources"]] == ["lab", "form"]
    assert said[-1] == "fold 5 of 5"
    text = sentences(recipe.to_json(), found)["worth"]
    assert "Without lab the score falls most" in text
    alone = Recipe("d", "y", "regression", {"lab: x": "number"}, worth=True)
    with pytest.raises(ValueError, match="one view only"):
        layout_of(alone, table, tmp_path)


def test_an_exported_run_is_repeated_and_leaves_no_model(invoke: Invoke, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(24, 2)), columns=["lab: x", "form: z"])
    X.assign(y=X["lab: x"]).to_csv(tmp_path / "table.csv", index=False)
    recipe = Recipe(
        "p",
        "y",
        "regression",
        dict.fromkeys(X, "number"),  # type: ignore[arg-type]
        {"lab": ["lab: x"], "form": ["form: z"]},
        method="AverageMKLRegressor",
        parameters={"alpha": 0.1},
        worth=True,
    )
    (tmp_path / "run.toml").write_text(toml(recipe.to_json()))
    done = invoke("repeat", "run.toml")
    assert done.exit_code == 0, done.output
    assert "without" in done.stdout
    assert "lab" in done.stdout
    assert not (tmp_path / "model.mk").exists()
