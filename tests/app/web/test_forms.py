"""Forms of estimators, made from their signatures and docstrings."""

from __future__ import annotations

import pytest

from multikernel.app.web.forms import Method, methods, parameters
from multikernel.datasets.dataset import Task

_ALL = [(task, method) for task in ("classification", "regression") for method in methods(task).values()]  # type: ignore[arg-type]


@pytest.mark.parametrize(("task", "method"), _ALL, ids=lambda each: getattr(each, "name", each))
def test_a_form_says_what_each_field_is_and_changes_nothing_by_itself(task: Task, method: Method) -> None:
    assert method.about.endswith(".")
    assert method.fields
    assert all(field.form for field in method.fields)
    filled = {field.name: field.value for field in method.fields}
    assert parameters(method, filled) == {}
    assert parameters(method, {}) == {}


def test_fields_become_values_and_wrong_ones_are_refused() -> None:
    method = methods("classification")["EasyMKLClassifier"]
    filled = {field.name: field.value for field in method.fields}
    changed = parameters(method, filled | {"lam": "0.5", "max_iter": "10", "learner": "svc"})
    assert changed == {"lam": 0.5, "max_iter": 10, "learner": "svc"}
    lam = next(field for field in method.fields if field.name == "lam")
    assert "0 is the hard margin" in lam.about
    assert next(field for field in method.fields if field.name == "learner").choices == ("margin", "svc")
    with pytest.raises(ValueError, match="lam must be"):
        parameters(method, filled | {"lam": "2"})
    with pytest.raises(ValueError, match="max_iter must be"):
        parameters(method, filled | {"max_iter": "many"})
    flag = next(field for field in methods("classification")["L1MKLClassifier"].fields if field.kind == "flag")
    unticked = {f.name: f.value for f in methods("classification")["L1MKLClassifier"].fields if f.kind != "flag"}
    assert parameters(methods("classification")["L1MKLClassifier"], unticked)[flag.name] is False
