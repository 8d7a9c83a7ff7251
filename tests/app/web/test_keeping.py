"""Settings from a file, names, notes, and several runs deleted at once."""

from __future__ import annotations

import re

import pytest
from app_server import people

from multikernel.app.toml import toml
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.run_settings import TakenSettings
from multikernel.app.web.store import DataSet

_COLUMNS = {"age": "number", "city": "category"}
_RUN = {"target": "bought", "task": "classification", "columns": _COLUMNS}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """A data set without a server."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "table.csv").write_text(people(40))
    return DataSet("d", "people", 0.0, 40, 5, {}, folder)


def test_settings_come_back_as_the_form_that_they_are_from(data: DataSet) -> None:
    changed = {
        "method": "L1MKLClassifier",
        "parameters": {"C": 7.5, "fit_intercept": False},
        "kernels": {"": ["anova", "polynomials"]},
        "kernel_parameters": {"": {"polynomials": {"degrees": [2, 3]}, "anova": {"max_degree": 2}}},
        "path": "",
    }
    taken = TakenSettings.of(toml(Recipe("other", **_RUN, **changed).to_json()), data)  # type: ignore[arg-type]
    assert taken.how == "method"
    assert taken.left == []
    assert taken.ticked == {0: ["anova", "polynomials"]}
    assert taken.typed["p-C"] == "7.5"
    assert "p-fit_intercept" not in taken.typed
    assert taken.typed["k0-polynomials-degrees"] == "2, 3"
    assert {name for name, use in taken.choice["used"].items() if use} == set(_COLUMNS)
    from multikernel.app.web.forms import family_parameters, methods, parameters

    method = methods("classification")["L1MKLClassifier"]
    fields = {name.removeprefix("p-"): value for name, value in taken.typed.items() if name.startswith("p-")}
    assert parameters(method, fields) == changed["parameters"]
    for word, own in changed["kernel_parameters"][""].items():  # type: ignore[index]
        prefix = f"k0-{word}-"
        given = {name.removeprefix(prefix): value for name, value in taken.typed.items() if name.startswith(prefix)}
        assert family_parameters(word, given) == own


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = [", "is no TOML"),
        ("[" * 3000, "is no TOML"),
        ("", "no setting target"),
        ("unknown = 1", "none of this name"),
        ("target = 5", "has to be a word"),
        ('columns = ["age"]', "has to be a table"),
        ("seed = true", "has to be a whole number"),
        ({"target": "nothing"}, "has no column 'nothing'"),
        ({"target": "<script>" * 2000}, "has no column '<script>"),
        ({"columns": {"age": "number", "zip": "text"}}, "has no column 'zip'"),
        ({"columns": {"age": "colour"}}, "columns: age"),
        ({"columns": {"bought": "category"}}, "which is what they predict"),
        ({"columns": {"city": "number"}}, "No cell of 'city' can be read as a number"),
        ({"task": "ranking"}, "task"),
        ({"method": "Perceptron"}, "method"),
        ({"method": "L1MKLClassifier", "parameters": {"C": -1.0}}, "C"),
        ({"method": "L1MKLClassifier", "parameters": {"depth": 3}}, "depth"),
        ({"method": "L1MKLClassifier", "kernels": {"": ["magic"]}}, "magic"),
        ({"method": "L1MKLClassifier", "kernels": {"": "types"}}, "has to be a list of names"),
        ({"method": "L1MKLClassifier", "kernel_parameters": {"": {"anova": 3}}}, "a table for each family"),
        (
            {"method": "L1MKLClassifier", "views": {"a": ["age"], "b": ["city"]}, "kernels": {"a": ["types"]}},
            "kernels for the file 'a', and this data set is a single file",
        ),
    ],
)
def test_settings_that_cannot_be_taken_are_refused_in_a_sentence(
    data: DataSet, text: str | dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        TakenSettings.of(text if isinstance(text, str) else toml(_RUN | text), data)
    assert len(str(refused.value)) < 700


def test_settings_that_no_form_has_are_named(data: DataSet) -> None:
    taken = TakenSettings.of(toml(_RUN | {"seed": 3, "parameters": {"time_budget": 5.0}}), data)
    assert taken.how == "automatic"
    assert taken.left == ["seed", "parameters: time_budget"]
    check_recipe(Recipe.from_json(_RUN))
