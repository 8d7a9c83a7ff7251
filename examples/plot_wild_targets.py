"""
A few outliers among the targets
================================

Some readings in a table were typed with one digit too many. Ridge regression squares the residuals and follows the
outliers; support vector regression uses their absolute values and is hardly affected, however the kernels are
weighted.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from multikernel import GMKLRegressor, GMKLSupportRegressor, RLS2Regressor, SMKLRegressor, kernels

X, y = load_diabetes(return_X_y=True)
X, rng = scale(X), np.random.default_rng(0)
order = rng.permutation(len(y))
train, test = order[:250], order[250:]
family = kernels.per_feature(kernels.RBF(0.3)) + kernels.per_feature(kernels.Linear())
tube = {"C": 10.0, "epsilon": 10.0}
models = {
    "SMKL, support vectors": (SMKLRegressor(family, **tube), "o-"),
    "GMKL, support vectors": (GMKLSupportRegressor(family, **tube), "^-"),
    "GMKL, ridge": (GMKLRegressor(family), "s--"),
    "RLS2, ridge": (RLS2Regressor(family), "v--"),
}
counts = [0, 3, 6, 12, 25]
for name, (model, style) in models.items():
    scores = []
    for count in counts:
        typed = y[train].copy()
        typed[:count] *= 10.0
        scores.append(model.fit(X[train], typed).score(X[test], y[test]))
    print(f"{name:22} {np.round(scores, 2)}")
    plt.plot(counts, scores, style, label=name)
plt.xlabel("outliers among 250 targets"), plt.ylabel("R² on new patients"), plt.ylim(-1.0, 0.6), plt.legend()
plt.show()
