"""Faults in one of several sources are told by the name of the source, and by the label of the row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from multikernel import AverageMKLClassifier, kernels, views

N = 20
RNG = np.random.default_rng(0)
NAMES = [f"p{k}" for k in range(N)]
LAB = pd.DataFrame(RNG.normal(size=(N, 3)), index=NAMES, columns=list("uvw"))
GUT = pd.DataFrame(RNG.normal(size=(N, 4)), index=NAMES, columns=list("wxyz"))
Y = np.arange(N) % 2


def _with(value: Any) -> pd.DataFrame:
    found = GUT.astype(object) if isinstance(value, str) else GUT.copy()
    found.iloc[3, 1] = value
    return found


FAULTS = [
    (_with("high"), None, "column 'x' holds strings, but .* in row 0 ('p0'), and 'high' in row 3 ('p3')"),
    (_with(np.inf), None, "column 'x' holds inf in row 3 ('p3')"),
    (_with(-np.inf).to_numpy(), "rbf", "column 1 holds -inf in row 3 ('p3')"),
    (_with(np.nan), "rbf", "takes no missing cells, and column 'x' has some: fill them in"),
    (GUT * np.nan, "rbf", "is missing for all samples"),
    (GUT * 1e200, "rbf", "beyond double precision for samples with entries up to .*: give them in other units"),
    (GUT.astype(complex), None, "column 'w' holds complex numbers; give their parts as numbers"),
    (np.zeros((N, 2, 2)), None, "it has 3 dimensions, (20, 2, 2): give each sample one row"),
    (np.empty((N, 0)), None, "it has no columns"),
    (np.zeros(N, dtype=[("a", float), ("b", int)]), None, "it is a structured array: give its fields as"),
    (GUT.assign(d=pd.date_range("2020", periods=N)), "rbf", "column 'd' holds dates or durations"),
    (None, None, "a view has a row for each sample; 'gut' is None: give an array"),
    (GUT[:-2].to_numpy(), None, "got 20 in 'lab' and 18 in 'gut'"),
]


def _pattern(sentence: str) -> str:
    return re.escape(sentence).replace(re.escape(".*"), ".*")


@pytest.mark.parametrize(("fault", "given", "sentence"), FAULTS, ids=[each[2][:30] for each in FAULTS])
def test_a_fault_names_its_source_and_its_row(fault: Any, given: Any, sentence: str) -> None:
    model = AverageMKLClassifier(given)
    with pytest.raises(ValueError, match=_pattern(sentence)) as told:
        model.fit({"lab": LAB, "gut": fault}, Y)
    assert "'gut'" in str(told.value)
    assert " X " not in str(told.value).replace("column of X", "")


def test_new_samples_are_told_by_their_own_labels() -> None:
    model = AverageMKLClassifier("rbf").fit({"lab": LAB, "gut": GUT}, Y)
    new = views({"lab": LAB, "gut": _with(np.inf)}, rows="index")[[5, 3]]
    with pytest.raises(ValueError, match=r"view 'gut': column 'x' holds inf in row 1 \('p3'\)"):
        model.predict(new)
    with pytest.raises(ValueError, match=r"view 'gut': RBF\(.*\) takes no missing cells, and column 'x' has some"):
        model.predict({"lab": LAB, "gut": _with(np.nan)})


def test_a_single_row_of_a_single_column_is_not_taken_for_a_kernel_matrix_in_silence() -> None:
    model = AverageMKLClassifier("rbf").fit({"lab": LAB, "gut": GUT[["w"]]}, Y)
    row = {"lab": LAB[:1].to_numpy(), "gut": np.array([[2.0]])}
    with pytest.raises(ValueError, match=r"view 'gut' held features in training, and is symmetric now, .* views\(X, f"):
        model.predict(views(row))
    np.testing.assert_array_equal(model.predict(views(row, features=["gut"])), model.predict(row))


def test_rows_without_labels_are_told_by_their_number() -> None:
    plain = _with(np.inf).reset_index(drop=True)
    with pytest.raises(ValueError, match="column 'x' holds inf in row 3, where"):
        AverageMKLClassifier().fit({"lab": LAB.to_numpy(), "gut": plain}, Y)


def _no_atom(*_: Any) -> float:
    raise RuntimeError("no such atom")


@pytest.mark.parametrize(
    ("function", "pairwise", "sentence"),
    [
        (_no_atom, False, "external(_no_atom) was called with all samples at a time and failed, RuntimeError: no such"),
        (_no_atom, True, "external(_no_atom, pairwise=True) failed for the samples 'C' and 'C', RuntimeError: no such"),
        (lambda x, z: float("nan"), True, "is NaN or infinite for samples 0 and 0"),
        (lambda x, z: "a", True, "returned 'a' for two samples, where pairwise=True needs a number"),
        (lambda X, Z: np.ones((len(X), len(Z) + 1)), False, "shape (20, 21) for 20 and 20 samples"),
        (lambda X, Z: np.arange(len(X))[:, None] + 2.0 * np.arange(len(Z)), False, "is not symmetric: it is 38"),
        (lambda X, Z: -np.eye(len(X), len(Z)), False, "is not positive semi-definite"),
    ],
)
def test_a_kernel_of_another_package_that_fails_is_told_with_its_view(
    function: Any, pairwise: bool, sentence: str
) -> None:
    molecules = ["C" * (1 + k % 5) for k in range(N)]
    model = AverageMKLClassifier({"mol": kernels.external(function, pairwise=pairwise), "lab": "rbf"})
    with pytest.raises(ValueError, match=r"view 'mol': external\(") as told:
        model.fit({"mol": molecules, "lab": LAB}, Y)
    assert sentence in str(told.value)
    assert (str(told.value.__cause__) == "no such atom") == (function is _no_atom)


def test_a_kernel_of_another_package_that_fails_on_new_samples_is_told_with_its_view() -> None:
    def compared(x: str, z: str) -> float:
        if "?" in x + z:
            raise KeyError("?")
        return float(len(x) * len(z))

    molecules = ["C" * (1 + k % 5) for k in range(N)]
    model = AverageMKLClassifier({"mol": kernels.external(compared, pairwise=True), "lab": "rbf"})
    model.fit({"mol": molecules, "lab": LAB}, Y)
    with pytest.raises(ValueError, match=r"'C\?' and 'C', KeyError: '\?'"):
        model.predict({"mol": ["C?"], "lab": LAB[:1]})
