"""OpenML through a stand-in for scikit-learn's function: no test needs the network."""

from __future__ import annotations

from http.client import IncompleteRead
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from multikernel.datasets import load


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch):
    """``openml(bunch or exception)`` answers the next calls; returns the list of their arguments."""

    def answer(what: Any) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def fetch(**arguments: Any) -> Any:
            calls.append(arguments)
            if isinstance(what, Exception):
                raise what
            return what

        monkeypatch.setattr("multikernel.datasets.openml.fetch_openml", fetch)
        return calls

    return answer


def _bunch(data: Any, target: Any, names: list[str], categories: dict[str, list[str]] | None = None) -> Bunch:
    return Bunch(
        data=data,
        target=target,
        feature_names=names,
        target_names=["class"],
        categories=categories or {},
        DESCR="Donated by\n\n   somebody.",
        details={"name": "crabs", "version": "2"},
        url="https://www.openml.org/d/7",
    )


def test_categories_are_spread_and_gaps_dropped(openml) -> None:
    X = np.array([[0.0, 1.5], [1.0, 2.5], [np.nan, 3.5], [0.0, np.nan]])
    y = np.array(["b", "o", "b", "o"], dtype=object)
    calls = openml(_bunch(X, y, ["sex", "length"], {"sex": ["M", "F"]}))
    data = load("openml:crabs")
    assert calls == [{"name": "crabs", "as_frame": False, "parser": "liac-arff"}]
    assert data.feature_names == ("sex=M", "sex=F", "length")
    np.testing.assert_array_equal(data.X, [[1, 0, 1.5], [0, 1, 2.5]])
    assert data.y.tolist() == ["b", "o"]
    assert (data.name, data.task, data.origin, data.split) == ("openml:crabs", "classification", "openml", None)
    assert data.description == (
        "OpenML crabs version 2 (https://www.openml.org/d/7). Target: class. "
        "2 of 4 rows dropped for a missing value. Donated by somebody."
    )


def test_a_number_is_an_id_and_a_declared_type_decides(openml) -> None:
    X = np.ones((4, 1))
    calls = openml(_bunch(X, np.array([0.0, 1.0, np.nan, 1.0]), ["a"]))
    data = load("openml:61")
    assert calls[0]["data_id"] == 61
    assert "name" not in calls[0]
    assert data.task == "regression"
    assert data.y.tolist() == [0.0, 1.0, 1.0]
    openml(_bunch(X, np.array(["1", "2", "1", None], dtype=object), ["a"]))
    data = load("openml:61")
    assert data.task == "classification"
    assert data.y.dtype == np.int64
    assert data.y.tolist() == [1, 2, 1]


def test_a_sparse_set_stays_sparse(openml) -> None:
    X = csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, np.nan], [0.0, 0.0]]))
    openml(_bunch(X, np.array(["a", "b", "a", "b"], dtype=object), ["p", "q"]))
    data = load("openml:s")
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1], [2, 0], [0, 0]])
    assert data.y.tolist() == ["a", "b", "b"]
    openml(_bunch(X, np.array(["a", "b", "a", "b"], dtype=object), ["p", "q"], {"q": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"openml:s: the sparse set has categorical columns \('q'\)"):
        load("openml:s")


@pytest.mark.parametrize("error", [URLError("no route"), TimeoutError(), IncompleteRead(b""), ConnectionResetError()])
def test_a_network_failure_is_one_sentence(openml, error: Exception) -> None:
    openml(error)
    with pytest.raises(ConnectionError, match=r"^openml:sonar could not be fetched from openml\.org \(.+\): check"):
        load("openml:sonar")


def test_what_openml_refuses(openml) -> None:
    openml(ValueError("No active dataset qq found."))
    with pytest.raises(ValueError, match=r"openml:qq cannot be had .*No active dataset qq found"):
        load("openml:qq")
    with pytest.raises(ValueError, match="names no data set: write openml:NAME"):
        load("openml:")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "OpenML names no target column"),
        (np.zeros((2, 3)), "OpenML names 3 target columns, one is needed"),
        (np.array([np.nan, np.nan]), "no row without a missing value"),
    ],
)
def test_targets_that_cannot_be_used(openml, target: Any, message: str) -> None:
    openml(_bunch(np.ones((2, 1)), target, ["a"]))
    with pytest.raises(ValueError, match=message):
        load("openml:9")
