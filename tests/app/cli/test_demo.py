"""``multikernel demo``: the numbers of the report are those of the study, and of an independent computation."""

from __future__ import annotations

import re
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from csv_tables import Invoke
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from multikernel import EasyMKLClassifier, kernels
from multikernel.app.demo import results, study

FOLDS, DEGREE, LAMS = 2, 3, (0.0, 0.2, 0.6)
SVC_GRID = {"C": [1.0, 100.0], "gamma": [0.1, 1.0]}


class Page(HTMLParser):
    """What a reader of the report needs: attributes of the marked elements, text, and all addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.methods: dict[str, dict[str, str]] = {}
        self.sections: list[dict[str, str]] = []
        self.drawings: list[str] = []
        self.addresses: list[str] = []
        self.text = re.sub(r"\s+", " ", text)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "data-method" in given:
            self.methods[given["data-method"]] = given
        if tag == "section":
            self.sections.append(given)
        if tag == "svg":
            self.drawings.append(given["aria-label"])
        self.addresses += [given[name] for name in ("src", "href", "xlink:href") if name in given]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, str]:
    from typer.testing import CliRunner

    from multikernel.app.cli.program import app

    out = tmp_path_factory.mktemp("demo") / "page.html"
    words = ["demo", "--data", "breast_cancer", "--folds", FOLDS, "--max-degree", DEGREE, "--seed", 3, "--out", out]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(out.parent)
        patch.delenv("MULTIKERNEL_DATA", raising=False)
        patch.setattr(results, "StudyPlan", partial(results.StudyPlan, lams=LAMS))
        patch.setattr(study, "SVC_GRID", SVC_GRID)
        result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]  # nothing temporary is left
    return Page(out.read_text()), result.stdout


def _outside_auc(model: object) -> list[float]:
    """AUC of every outer fold, by scikit-learn alone."""
    X, y = load_breast_cancer(return_X_y=True)
    outer = StratifiedKFold(FOLDS, shuffle=True, random_state=3)
    scores = cross_val_predict(make_pipeline(MinMaxScaler(), model), X, y, cv=outer, method="decision_function")
    return [float(roc_auc_score(y[test], scores[test])) for _, test in outer.split(X, y)]


def _inner() -> StratifiedKFold:
    return StratifiedKFold(results.StudyPlan().inner_folds, shuffle=True, random_state=3)


def test_the_table_has_all_methods_with_sensible_numbers(page: tuple[Page, str]) -> None:
    methods = page[0].methods
    assert list(methods) == ["easymkl", "average", "top", "best", "svc"]
    for row in methods.values():
        assert 0.95 < float(row["data-mean"]) < 1.0
        assert 0.0 <= float(row["data-std"]) < 0.05


def test_easymkl_is_what_scikit_learns_own_nested_search_finds(page: tuple[Page, str]) -> None:
    grid = {"lam": LAMS}
    model = EasyMKLClassifier(kernels.homogeneous_polynomials(DEGREE))
    aucs = _outside_auc(GridSearchCV(model, grid, cv=_inner(), scoring="roc_auc"))
    row = page[0].methods["easymkl"]
    assert float(row["data-mean"]) == pytest.approx(np.mean(aucs), abs=2e-4)
    assert float(row["data-std"]) == pytest.approx(np.std(aucs, ddof=1), abs=4e-4)


def test_the_reference_is_a_plain_support_vector_machine(page: tuple[Page, str]) -> None:
    aucs = _outside_auc(GridSearchCV(SVC(), SVC_GRID, cv=_inner(), scoring="roc_auc"))
    assert float(page[0].methods["svc"]["data-mean"]) == pytest.approx(np.mean(aucs), abs=1e-9)


def test_the_page_shows_what_the_console_shows(page: tuple[Page, str]) -> None:
    parsed, console = page
    for row in parsed.methods.values():
        number = f"{float(row['data-mean']):.4f} ± {float(row['data-std']):.4f}"
        assert number in parsed.text
        assert number in console


def test_the_page_needs_nothing_from_outside(page: tuple[Page, str]) -> None:
    parsed = page[0]
    assert all(address.startswith("#") for address in parsed.addresses)
    for outside in ("http://", "https://", "@import", "url(http", "<script", "<link"):
        assert outside not in parsed.text


def test_the_page_has_figures_certificate_command_and_versions(page: tuple[Page, str]) -> None:
    parsed = page[0]
    assert len(parsed.drawings) == 4
    assert all(label.endswith("on breast_cancer") for label in parsed.drawings)
    certificate = next(s for s in parsed.sections if s.get("id") == "certificate")
    assert 0.0 <= float(certificate["data-worst-gap"]) < 1e-5
    assert "multikernel demo --data breast_cancer --folds 2 --seed 3 --max-degree 3 --out" in parsed.text
    assert f"numpy {np.__version__}" in parsed.text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--data", "breast_canser"), "did you mean 'breast_cancer'?"),
        (("--data", "wine"), "wine has 3 classes"),
        (("--data", "diabetes"), "is not a table of features with classes"),
        (("--data-dir", "nowhere"), "'nowhere', which is not an existing directory"),
        (("--folds", "200"), "200 folds are too many for a class of 212 samples"),
        (("--out", "nowhere/report.html"), "the directory nowhere does not exist"),
        (("--out", "."), "it is a directory"),
    ],
)
def test_a_demo_that_cannot_be_leaves_one_line_and_no_file(
    invoke: Invoke, words: tuple[str, ...], complaint: str
) -> None:
    result = invoke("demo", *words)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ")
    assert complaint in result.stderr
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("words", [("--folds", "1"), ("--max-degree", "0"), ("--folds", "ten"), ("--no-such-option",)])
def test_bad_usage_is_status_two(invoke: Invoke, words: tuple[str, ...]) -> None:
    result = invoke("demo", *words)
    assert result.exit_code == 2
    assert list(Path.cwd().iterdir()) == []
