"""Linear two-layer least squares on the prostate data, beside Table 1 of the paper (Dinuzzo).

    python benchmarks/rls2_prostate.py --data-dir DIR [--figure prostate.png]

67 training and 30 test rows as given, inputs standardised over all rows, every feature divided by its length on the
training rows. The published coefficients are looked for along the path; which lambda is chosen depends on folds that
are not known, so ten ways to make ten folds are tried with the rule of one standard error.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.model_selection import KFold

import multikernel as mk

Array = Any
PUBLISHED = np.array([0.544, 0.207, 0.0, 0.104, 0.170, 0.0, 0.0, 0.064])
INTERCEPT, ERROR, DEVIATION = 2.452, 0.454, 0.152
ALPHAS = np.logspace(4, -4, 50)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    data = mk.datasets.load("prostate", data_dir=asked.data_dir)
    X, train = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0, ddof=1), data.split == "train"

    def model(log_alpha: float) -> Any:
        return mk.LinearRLS2Regressor(alpha=10.0**log_alpha, tol=1e-10).fit(X[train], data.y[train])

    grid = np.linspace(-4, 4, 81)

    def distance(g: float) -> float:
        return float(np.abs(model(g).coef_ - PUBLISHED).max())

    nearest = grid[np.argmin([distance(g) for g in grid])]
    at = minimize_scalar(distance, bounds=(nearest - 0.2, nearest + 0.2), method="bounded").x
    found = model(at)
    squares = (found.predict(X[~train]) - data.y[~train]) ** 2
    print(f"{'':10s} published     here")
    print(f"{'intercept':10s} {INTERCEPT:9.3f} {found.intercept_:8.3f}")
    for name, published, own in zip(data.feature_names, PUBLISHED, found.coef_, strict=True):
        print(f"{name:10s} {published:9.3f} {own:8.3f}")
    print(f"{'error':10s} {ERROR:9.3f} {squares.mean():8.3f}")
    print(f"{'its error':10s} {DEVIATION:9.3f} {squares.std(ddof=1) / np.sqrt(len(squares)):8.3f}")
    print(f"at lambda = {10**at:.4g}, {found.degrees_of_freedom_:.2f} degrees of freedom, gap {found.duality_gap_:.0e}")
    sizes = []
    for seed in range(10):
        search = mk.BankSearchCV(
            mk.LinearRLS2Regressor(),
            {"alpha": list(ALPHAS)},
            cv=KFold(10, shuffle=True, random_state=seed),
            scoring="neg_mean_squared_error",
            one_standard_error=True,
        ).fit(X[train], data.y[train])
        chosen = search.best_estimator_
        squares = (chosen.predict(X[~train]) - data.y[~train]) ** 2
        sizes.append(int((chosen.coef_ != 0).sum()))
        print(f"folds {seed}: lambda {chosen.alpha:.3g}, {sizes[-1]} variables, test error {squares.mean():.3f}")
    print(f"five variables, as published, with {sizes.count(5)} of 10 ways to make the folds")
    if asked.figure:
        mk.path(mk.LinearRLS2Regressor(), X[train], data.y[train], "alpha", ALPHAS).plot("coefficients").figure.savefig(
            asked.figure, dpi=120
        )


if __name__ == "__main__":
    main()
