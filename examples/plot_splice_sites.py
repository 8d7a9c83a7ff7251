"""
Where on the strand is the signal?
==================================

The task is to decide whether there is a splice site in the middle of sixty letters of DNA. With a kernel for every
position, the weights find it: nearly all the weight is on the letters around the junction.
"""

# needs splice

import numpy as np
from matplotlib import pyplot as plt

from multikernel import L1MKLClassifier, datasets, kernels

data = datasets.load("splice")
model = L1MKLClassifier(kernels.per_feature(kernels.Hamming()), C=0.1).fit(data.X[:600], data.y[:600])
print(f"accuracy on the others: {model.score(data.X[600:], data.y[600:]):.3f}, gap {model.duality_gap_:.0e}")
print(f"{(model.weights_ > 1e-6).sum()} of 60 positions have a weight")

# %%
# The junction is between positions 30 and 31.

places = np.arange(1, 61)
plt.figure(figsize=(8, 3))
plt.bar(places, model.weights_)
plt.axvline(30.5, ls=":", color="gray")
plt.xlabel("position on the strand"), plt.ylabel("weight")
plt.tight_layout()
plt.show()
