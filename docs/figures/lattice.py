"""Draws docs/images/lattice.png: the products that hierarchical kernel learning selects for the diabetes data.

442 patients, ten measurements, a Gaussian on each; the progression of the disease a year later. C is chosen by five
folds. Products are drawn by how many factors they have, the area of a disc is its weight.

    python docs/figures/lattice.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from multikernel import BankSearchCV, HKLRegressor, kernels

OUT = Path(__file__).parents[1] / "images" / "lattice.png"


def main() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = (X - X.mean()) / X.std(), (y - y.mean()) / y.std()
    measured = kernels.column_groups({name: name for name in X.columns}, kernels.RBF(0.5))
    folds = KFold(5, shuffle=True, random_state=0)
    search = BankSearchCV(HKLRegressor(measured), {"C": [0.3, 1.0, 3.0, 10.0]}, cv=folds).fit(X, y)
    model = search.best_estimator_
    print(f"C = {model.C}, R2 of the folds {search.best_score_:.3f}, gap {model.duality_gap_:.1e}")
    for name, weight in zip(model.kernel_names_, model.weights_, strict=True):
        print(f"  {name:12s} {weight:.4f}")
    ax = model.plot_lattice()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(OUT, dpi=150)


if __name__ == "__main__":
    main()
