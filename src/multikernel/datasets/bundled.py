"""The data sets that come with scikit-learn, which need no file and no network."""

from __future__ import annotations

from typing import Any

from multikernel.datasets.dataset import Dataset, Entry

_ABOUT = {
    "breast_cancer": "Wisconsin diagnostic breast cancer (UCI, 1995), cell nuclei in images of fine needle aspirates. "
    "Target: 0 = malignant (212), 1 = benign (357).",
    "wine": "Wine recognition (UCI, 1991), chemical analysis of wines of one Italian region. "
    "Target: cultivar 0, 1, 2 (59, 71, 48).",
    "iris": "Fisher's iris, as in the paper of 1936. Target: 0 = setosa, 1 = versicolor, 2 = virginica (50 each).",
    "digits": "Optical recognition of handwritten digits (UCI, 1998), the test part, 8 x 8 counts from 0 to 16. "
    "Target: digit 0-9. Not MNIST.",
    "diabetes": "Efron, Hastie, Johnstone and Tibshirani, Least angle regression (2004). Target: progression of the "
    "disease one year after baseline. Features are centred and scaled to unit norm, as scikit-learn returns them. "
    "Not the Pima diabetes set.",
}
_ENTRIES = (
    Entry("breast_cancer", "classification", 569, 30, "scikit-learn"),
    Entry("wine", "classification", 178, 13, "scikit-learn"),
    Entry("iris", "classification", 150, 4, "scikit-learn"),
    Entry("digits", "classification", 1797, 64, "scikit-learn"),
    Entry("diabetes", "regression", 442, 10, "scikit-learn"),
)
BUNDLED = {entry.name: entry for entry in _ENTRIES}  # the catalogue lists them without reading any


def load_bundled(name: str) -> Dataset:
    """One of ``BUNDLED``."""
    from sklearn import datasets  # takes long to import

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        X=bunch.data,
        y=bunch.target,
        feature_names=tuple(map(str, bunch.feature_names)),
        task=BUNDLED[name].task,
        description=f"Bundled with scikit-learn. {_ABOUT[name]}",
        split=None,
        origin="scikit-learn",
    )
