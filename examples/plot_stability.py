"""
Two kernels with the same information
=====================================

Radius, perimeter and area of a cell nucleus are nearly the same number. L1 gives all the weight to one of them, and
with some samples to another; L2 shares it among them. A gap of zero says nothing about this; resampling does.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from multikernel import L1MKLClassifier, LpMKLClassifier, kernels, weight_stability

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
sizes = [
    name for name in X.columns if any(word in name for word in ("radius", "perimeter", "area")) and "error" not in name
]
family = kernels.per_feature(kernels.RBF(0.1))

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for axis, model in zip(axes, (L1MKLClassifier(family), LpMKLClassifier(family, p=2.0)), strict=True):
    found = weight_stability(model, X[sizes], y, n_resamples=15, random_state=0)
    weights = found.weights[:, 0]
    axis.boxplot(weights / weights.sum(axis=1, keepdims=True), orientation="horizontal", tick_labels=sizes)
    axis.set(title=type(model).__name__, xlabel="proportion of the weights, on 15 random halves")
plt.show()
