"""
Useless views do no harm
========================

Two halves of a digit show whether it is odd; noise shows nothing. The average of all views gets worse with every
useless view, while weights that select do not.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from multikernel import AverageMKLClassifier, L1MKLClassifier, LpMKLClassifier, kernels

pixels, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(digit))
train, test = order[:200], order[200:]
views = {"upper half": pixels[:, :32], "lower half": pixels[:, 32:]}
noise = {f"noise {k}": rng.normal(size=(len(digit), 8)) for k in range(32)}
models = {
    "L1: few views": L1MKLClassifier(kernels.RBF("median"), C=10),
    "L2: all views, weighed": LpMKLClassifier(kernels.RBF("median"), C=10, p=2),
    "average": AverageMKLClassifier(kernels.RBF("median"), C=10),
}

# %%
# Twice as many useless views each time, up to 32 of them beside the two that help.

counts = [0, 2, 4, 8, 16, 32]
scores = {name: [] for name in models}
for count in counts:
    seen = views | dict(list(noise.items())[:count])
    of_train, of_test = ({name: view[rows] for name, view in seen.items()} for rows in (train, test))
    for name, model in models.items():
        scores[name].append(model.fit(of_train, digit[train] % 2).score(of_test, digit[test] % 2))

for name, values in scores.items():
    plt.plot(range(len(counts)), values, "o-", label=name)
plt.xticks(range(len(counts)), counts)
plt.xlabel("useless views beside two that help"), plt.ylabel("accuracy on new digits"), plt.legend()
plt.show()
