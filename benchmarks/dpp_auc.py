"""Area under the curve of EasyMKL on dot-product polynomials against fixed weights, by nested 10-fold cross-validation.

    python benchmarks/dpp_auc.py [--max-degree 10] [--data-dir DIR] [--seeds 1]

The protocol of Donini and Aiolli (2017, section 5.2): stratified outer folds test; on the other nine an inner
stratified 10-fold chooses lam in {0, 0.1, ..., 1} by the area under the curve; the chosen model is fitted anew. K_MKL
is EasyMKL on degrees 0..D, K_D the degree D alone, K_sum the mean of all degrees, each followed by the margin machine.
The paper is silent on how features are scaled before samples are brought to unit length, so two ways are run and named:
"standardised" (mean 0, deviation 1) and "unit interval" ([0, 1]), both with the statistics of the nine folds.

The data sets are those of the directory MULTIKERNEL_DATA (default ../shared/data).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from multikernel import AverageMKLClassifier, BankSearchCV, EasyMKLClassifier, datasets, kernels

NAMES = ("ionosphere", "sonar", "spect_heart", "heart_statlog", "australian", "diabetes_pima")
SCALERS = {"standardised": StandardScaler, "unit interval": MinMaxScaler}
LAMS = {"lam": [v / 10 for v in range(11)]}


def methods(D):
    top = [kernels.HomogeneousPolynomial(D).normalized()]
    family = kernels.homogeneous_polynomials(D)
    return {
        "K_MKL": EasyMKLClassifier(family),
        "K_D": AverageMKLClassifier(top, learner="margin"),
        "K_sum": AverageMKLClassifier(family, learner="margin"),
    }


def nested(X, y, scaler, D, seed):
    """Scores of each method on each outer fold, and the worst relative duality gap of a final fit."""
    scores = {name: [] for name in methods(D)}
    gap = 0.0
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
        scale = scaler().fit(X[train])
        inner = StratifiedKFold(10, shuffle=True, random_state=seed)
        for name, model in methods(D).items():
            search = BankSearchCV(model, LAMS, cv=inner, scoring="roc_auc").fit(scale.transform(X[train]), y[train])
            scores[name].append(roc_auc_score(y[test], search.decision_function(scale.transform(X[test]))))
            gap = max(gap, search.best_estimator_.duality_gap_)
    return scores, gap


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--max-degree", type=int, default=10)
    parser.add_argument("--data-dir", default=os.environ.get("MULTIKERNEL_DATA", "../shared/data"))
    parser.add_argument("--seeds", type=int, default=1, help="repetitions with other folds")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the worst gap stands in the table
    warnings.filterwarnings("ignore", message="EasyMKL: the hulls")
    means = {}
    for way, scaler in SCALERS.items():
        print(f"\nD = {options.max_degree}, features {way}: area under the curve, mean ± deviation over outer folds")
        for name in NAMES:
            data = datasets.load(name, options.data_dir)
            start = time.perf_counter()
            runs = [nested(data.X, data.y, scaler, options.max_degree, seed) for seed in range(options.seeds)]
            line = f"  {name:14s}"
            for method in runs[0][0]:
                values = np.concatenate([scores[method] for scores, _ in runs])
                means.setdefault((way, method), []).append(values.mean())
                line += f" {method} {values.mean():.4f} ± {values.std(ddof=1):.4f} "
            print(
                f"{line} worst gap {max(gap for _, gap in runs):.0e}, {time.perf_counter() - start:.0f} s", flush=True
            )
        summary = " ".join(f"{method} {np.mean(v):.4f}" for (own, method), v in means.items() if own == way)
        print(f"  {'mean':14s} {summary}")


if __name__ == "__main__":
    main()
