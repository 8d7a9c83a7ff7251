"""
Using the learned kernel in other methods
=========================================

The figure shows kernel principal components of wines of three growers: with equal weights, and with the kernel that
a classifier learned on half of the wines. It shows the other half.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from multikernel import AverageMKLClassifier, LpMKLClassifier, kernels

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.5, random_state=0)
family = kernels.per_feature(kernels.RBF(1.0))

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
models = {"equal weights": AverageMKLClassifier(family), "learned weights": LpMKLClassifier(family, p=1.2)}
for axis, (title, model) in zip(axes, models.items(), strict=True):
    K = model.fit(X_train, y_train).kernel_matrix(X_test)
    points = KernelPCA(2, kernel="precomputed").fit_transform(K)
    axis.scatter(*points.T, c=y_test, cmap="viridis", s=18)
    axis.set(title=title, xlabel="first component", ylabel="second component")
plt.show()
