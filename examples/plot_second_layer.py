"""
When does a second layer help?
==============================

The position of a robot's hand depends on products of functions of its angles, which a second layer learns. The
progression of diabetes is a sum of effects of single measurements: there a second layer only fits noise, and
``second="auto"``, which compares held-out errors, chooses the linear one.
"""

# needs kin8nm

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from multikernel import TwoLayerRegressor, datasets, kernels

arm = datasets.load("kin8nm")
tables = {
    "robot arm": (np.asarray(arm.X, dtype=float)[:600], np.asarray(arm.y, dtype=float)[:600]),
    "diabetes": load_diabetes(return_X_y=True),
}
layers = ["linear", "gaussian", "auto"]
for place, (name, (X, y)) in enumerate(tables.items()):
    X, family = scale(X), kernels.per_feature(kernels.RBF(0.3))
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:150], order[150:]
    models = [TwoLayerRegressor(family, second=second).fit(X[train], y[train]) for second in layers]
    scores = [model.score(X[test], y[test]) for model in models]
    print(f"{name}: {np.round(scores, 2)}, auto chose the {models[-1].second_} layer")
    plt.bar(np.arange(3) + 0.35 * (place - 0.5), scores, 0.35, label=f"{name}: auto is {models[-1].second_}")
plt.xticks(range(3), [f"second layer\n{each}" for each in layers])
plt.ylabel("R² on new samples"), plt.ylim(0.0, 0.85), plt.legend()
plt.show()
