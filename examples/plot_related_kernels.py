"""
Kernels that belong together
============================

Ten measurements of a cell's nucleus are given, each by its mean, deviation and extreme: thirty kernels, three for
each measurement. An ellipsoid in place of the ball expresses this, so that the weights of the same measurement rise
and fall together. Predictions gain nothing here; the gain is that the weights change less when other samples are
drawn.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from multikernel import LpMKLClassifier, kernels

data = load_breast_cancer()
X, y = StandardScaler().fit_transform(data.data), data.target
family = kernels.per_feature(kernels.RBF(0.5))
together = 0.2 * np.eye(30) + 0.8 * np.kron(np.ones((3, 3)), np.eye(10))  # S, columns j, j + 10, j + 20 being related
models = {"a ball": {}, "related weights": {"shape": together}}
rng = np.random.default_rng(0)
draws = [rng.permutation(len(y)) for _ in range(5)]
figure, places = plt.subplots(1, 2, sharey=True, figsize=(8, 4))
for place, (name, more) in zip(places, models.items(), strict=True):
    weights, scores = [], []
    for order in draws:
        model = LpMKLClassifier(family, C=1.0, **more).fit(X[order[:100]], y[order[:100]])
        weights.append(model.weights_ / model.weights_.sum())
        scores.append(model.score(X[order[100:]], y[order[100:]]))
    spread = np.std(weights, axis=0).sum()
    print(f"{name:16} accuracy {np.mean(scores):.3f}, weights change by {spread:.2f} between draws")
    place.imshow(np.mean(weights, axis=0).reshape(3, 10).T, cmap="Blues", vmin=0.0, aspect="auto")
    place.set_xticks(range(3), ["mean", "deviation", "extreme"])
    place.set_title(name)
places[0].set_yticks(range(10), [each.removeprefix("mean ") for each in data.feature_names[:10]])
plt.tight_layout()
plt.show()
