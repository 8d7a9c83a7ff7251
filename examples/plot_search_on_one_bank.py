"""
A search that evaluates its kernels once
========================================

For twelve kernels, twenty ridges and five folds, ``GridSearchCV`` evaluates the kernels 101 times and factorises as
often; ``BankSearchCV`` evaluates them once and uses an eigendecomposition. Both choose the same model.
"""

import time

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import scale

from multikernel import AverageMKLRegressor, BankSearchCV, kernels

X, y = load_diabetes(return_X_y=True)
X = scale(X)
model = AverageMKLRegressor(kernels.per_feature(kernels.RBF(0.1)) + kernels.rbf_grid([0.01, 0.1]))
grid, folds = {"alpha": np.logspace(-4, 2, 20)}, KFold(5)
results = {}
for search in (GridSearchCV(model, grid, cv=folds), BankSearchCV(model, grid, cv=folds)):
    began = time.process_time()
    search.fit(X, y)
    results[type(search).__name__] = time.process_time() - began, search.cv_results_["mean_test_score"]
    print(f"{type(search).__name__}: best alpha {search.best_params_['alpha']:.3g}")

for name, (seconds, scores) in results.items():
    label = f"{name}: {seconds:.2f} s of one processor"
    plt.semilogx(grid["alpha"], scores, "o-" if "Bank" in name else "s--", label=label)
plt.xlabel("alpha"), plt.ylabel("R², held out"), plt.legend()
plt.show()
