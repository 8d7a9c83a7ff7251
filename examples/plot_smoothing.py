"""
How concentrated should the weights be?
=======================================

Smoothed multiple kernel learning leads from selection (left) to equal weights (right), where it equals the average
of the kernels; the dotted line is the effective number of kernels. The best smoothing has to be found by
validation, and the differences are small.
"""

# needs ionosphere

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from multikernel import AverageMKLClassifier, SMKLClassifier, datasets, diagnostics, kernels, path

data = datasets.load("ionosphere")
X_train, X_test, y_train, y_test = train_test_split(data.X, data.y, train_size=0.5, stratify=data.y, random_state=1)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
family = kernels.per_feature(kernels.RBF(0.5)) + kernels.rbf_grid([0.01, 0.03, 0.1])
found = path(SMKLClassifier(family), X_train, y_train, "smoothing", np.logspace(-1, 4, 16), validation=(X_test, y_test))
equal = AverageMKLClassifier(family, C=1.0).fit(X_train, y_train).score(X_test, y_test)

plt.semilogx(found.values, found.validation_score, "o-", label="smoothed")
plt.axhline(equal, ls="--", color="gray", label="average of the kernels")
plt.xlabel("smoothing"), plt.ylabel("accuracy on new samples"), plt.legend(loc="lower left")
twin = plt.twinx()
twin.semilogx(found.values, [diagnostics.effective_number(w) for w in found.weights], ":", color="tab:orange")
twin.set_ylabel("effective number of kernels (dotted)")
plt.show()
