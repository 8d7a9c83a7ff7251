"""
Noise moves the weights to high degrees
=======================================

EasyMKL is applied to powers of the cosine. Low degrees capture what most samples have in common, while high degrees
distinguish every sample from all others. If labels are wrong, only high degrees can separate the classes, and the
weights move there.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler

from multikernel import EasyMKLClassifier, diagnostics, kernels

X, y = load_breast_cancer(return_X_y=True)
X = MinMaxScaler().fit_transform(X)
rng = np.random.default_rng(0)
wrong = rng.permutation(len(y))

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
centres = []
for part in (0.0, 0.1, 0.3):
    labels = y.copy()
    labels[wrong[: int(part * len(y))]] ^= 1
    weights = EasyMKLClassifier(kernels.homogeneous_polynomials(15), lam=0.1).fit(X, labels).weights_
    centres.append(diagnostics.center_of_mass(weights))
    left.plot(weights, "o-", markersize=4, label=f"{part:.0%} wrong labels")
left.set(xlabel="degree", ylabel="weight"), left.legend()
right.plot([0, 10, 30], centres, "o-", color="gray")
right.set(xlabel="wrong labels, %", ylabel="centre of the weights (1: all on the highest degree)")
plt.show()
