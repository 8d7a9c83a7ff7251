"""
A digit as a set of inked pixels
================================

A vector of pixels changes when the digit is shifted; the set of its inked positions, relative to their centre, does
not. A tree of repeated halving describes the same digit as nested parts. Pixels are best on digits that stay in
place, and sets on shifted digits; a weighted combination of all three kernels adapts to either case.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from multikernel import EasyMKLClassifier, kernels

images = load_digits().images
digit = load_digits().target
chosen = np.flatnonzero((digit == 4) | (digit == 9))[:240]
rng = np.random.default_rng(0)


def moved(image, most):
    """The digit on a larger sheet, up to ``most`` places off its middle."""
    down, right = rng.integers(-most, most + 1, size=2)
    sheet = np.zeros((16, 16))
    sheet[4 + down : 12 + down, 4 + right : 12 + right] = image
    return sheet


def places(sheet):
    """Where there is ink, from its middle."""
    found = np.argwhere(sheet > 6.0)
    return (found - found.mean(axis=0)) / 2.0


def halves(part):
    """A tree: ink or paper where a part is all one, else its halves, cut across the longer side."""
    if (part > 6.0).all() or (part <= 6.0).all():
        return "ink" if part[0, 0] > 6.0 else "paper"
    side = int(part.shape[1] > part.shape[0])
    first, second = np.array_split(part, 2, axis=side)
    return f"({'down' if side == 0 else 'across'} {halves(first)} {halves(second)})"


def table(sheets):
    frame = pd.DataFrame({f"p{k}": column for k, column in enumerate(sheets.reshape(len(sheets), -1).T)})
    return frame.assign(places=kernels.written([places(s) for s in sheets]), halves=[halves(s) for s in sheets])


pixels = [f"p{k}" for k in range(256)]
each = {
    "pixels": [kernels.RBF(0.0005).on(pixels)],
    "sets of places": [kernels.VectorSets(kernels.RBF(1.0)).normalized().on("places")],
    "trees of halves": [kernels.Subtrees(partial=True).normalized().on("halves")],
}
each["all, weighed"] = [kernel for family in each.values() for kernel in family]
ways = [0, 1, 2, 3]
scores = {name: [] for name in each}
for most in ways:
    data = table(np.array([moved(image, most) for image in images[chosen]]))
    train, test = slice(0, 120), slice(120, 240)
    for name, family in each.items():
        model = EasyMKLClassifier(family, lam=0.1).fit(data[train], digit[chosen][train])
        scores[name].append(model.score(data[test], digit[chosen][test]))
for name, values in scores.items():
    print(f"{name:16} {np.round(values, 2)}")
    plt.plot(ways, values, "o-", label=name)
plt.xticks(ways), plt.xlabel("largest shift of a digit, in pixels"), plt.ylabel("accuracy, 4 or 9"), plt.legend()
plt.show()
