"""
Which digits do not belong?
===========================

A one-class machine is trained on sevens only, as a whole and in halves. Among new digits it identifies those that
are not sevens, and among the sevens those that are written in an unusual way.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from multikernel import OneClassMKL, kernels

pixels, digit = load_digits(return_X_y=True)
sevens = np.flatnonzero(digit == 7)
seen, new = sevens[:100], np.setdiff1d(np.arange(len(digit)), sevens[:100])
views = kernels.column_groups(
    {"upper": slice(0, 32), "lower": slice(32, 64), "whole": slice(0, 64)}, kernels.RBF("median")
)
model = OneClassMKL(views, nu=0.05).fit(pixels[seen])
scores = model.score_samples(pixels[new])
print(f"area under the curve, sevens against all others: {roc_auc_score(digit[new] == 7, scores):.3f}")

# %%
# Top: the five most typical of the new sevens. Bottom: the five most unusual.

ranked = new[digit[new] == 7][np.argsort(-scores[digit[new] == 7])]
fig, axes = plt.subplots(2, 5, figsize=(7, 3), layout="constrained")
for axis, number in zip(axes.ravel(), [*ranked[:5], *ranked[-5:]], strict=True):
    axis.imshow(pixels[number].reshape(8, 8), cmap="gray_r")
    axis.axis("off")
plt.show()
