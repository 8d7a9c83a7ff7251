"""
Why this prediction?
====================

A model with a weighted sum of kernels is a sum over the kernels. The figure shows two patients with the same
prediction, for different reasons.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from multikernel import RLS2Regressor, kernels

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
model = RLS2Regressor(kernels.per_feature(kernels.RBF(0.1))).fit(X[:300], y[:300])
rest = X[300:]
parts, predictions = model.contributions(rest), model.predict(rest)
assert np.allclose(parts.sum(axis=1) + model.intercept_, predictions)

# %%
# Among patients with nearly the same prediction, these are the two whose reasons differ most.

near = np.flatnonzero(abs(predictions - 200) < 5)
apart = np.linalg.norm(parts[near][:, None] - parts[near][None], axis=2)
pair = near[list(np.unravel_index(apart.argmax(), apart.shape))]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, sharex=True, layout="constrained")
for axis, patient in zip(axes, pair, strict=True):
    values = parts[patient]
    axis.barh(X.columns, values, color=np.where(values > 0, "tab:orange", "tab:blue"))
    axis.axvline(0, color="gray", lw=0.8)
    axis.set(title=f"predicted {predictions[patient]:.0f}", xlabel=f"added to {model.intercept_:.0f}")
axes[0].invert_yaxis()
plt.show()
