"""
Calibrated probabilities
========================

A decision value is not a probability. Calibrated on held-out fifths of the same bank, it becomes one: where the
model predicts 80 %, it is correct in about 80 % of the cases.
"""

# needs diabetes_pima

import numpy as np
from matplotlib import pyplot as plt
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from multikernel import L1MKLClassifier, datasets, kernels

data = datasets.load("diabetes_pima")
X, y = StandardScaler().fit_transform(data.X), data.y == np.unique(data.y)[1]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = L1MKLClassifier(kernels.per_feature(kernels.RBF(0.1)), probability="platt").fit(X_train, y_train)
said = {
    "decision value, squashed": expit(5.0 * model.decision_function(X_test)),
    'probability="platt"': model.predict_proba(X_test)[:, 1],
}

for name, values in said.items():
    seen, expected = calibration_curve(y_test, values, n_bins=6, strategy="quantile")
    plt.plot(expected, seen, "o-", label=f"{name}: Brier score {brier_score_loss(y_test, values):.3f}")
plt.plot([0, 1], [0, 1], ":", color="gray")
plt.xlabel("predicted probability"), plt.ylabel("observed frequency"), plt.legend()
plt.show()
