"""
Where on the strand is the signal?
==================================

Sixty letters of DNA, and the question whether a splice site stands in their middle. A kernel for every place,
and weights that find it: nearly all on the letters around the junction.
"""

# needs splice

import numpy as np
from matplotlib import pyplot as plt

from multikernel import L1MKLClassifier, datasets, kernels

data = datasets.load("splice")
model = L1MKLClassifier(kernels.per_feature(kernels.Hamming()), C=0.1).fit(data.X[:600], data.y[:600])
print(f"right labels of others: {model.score(data.X[600:], data.y[600:]):.3f}, gap {model.duality_gap_:.0e}")
print(f"{(model.weights_ > 1e-6).sum()} of 60 places have a weight")

# %%
# The junction is between places 30 and 31.

places = np.arange(1, 61)
plt.figure(figsize=(8, 3))
plt.bar(places, model.weights_)
plt.axvline(30.5, ls=":", color="gray")
plt.xlabel("place on the strand"), plt.ylabel("weight")
plt.tight_layout()
plt.show()
