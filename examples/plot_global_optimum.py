"""
Is a local minimum the global one?
==================================

A descent shows that a point is stationary, but not that there is no better one. Branch and bound over the weights
of a few kernels shows exactly that: here it proves that the descent had found the optimum, at ten times the cost.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from multikernel import PolynomialMKLRegressor, kernels

X, y = load_diabetes(return_X_y=True)
X, y = scale(X)[:60], scale(y[:60])
family = [kernels.RBF(0.5).on([2]), kernels.RBF(0.5).on([8])]  # body mass, and a blood value
problem = {"kernels": family, "degree": 3, "alpha": 1.0, "fit_intercept": False}
ball = {"norm": 1, "offset": 0.0, "radius": 2.0}
descent = PolynomialMKLRegressor(**problem, **ball).fit(X, y)
proved = PolynomialMKLRegressor(**problem, **ball, solver="branch_and_bound").fit(X, y)
print(f"descent: {descent.weights_.round(3)}, value {descent.objective_:.4f}, stationarity {descent.stationarity_:.0e}")
print(f"proved:  {proved.weights_.round(3)}, value {proved.objective_:.4f}, gap {proved.duality_gap_:.0e}")
print(f"ridge regressions: {descent.n_iter_} and {proved.n_iter_}")

# %%
# The objective along the boundary of the ball, where the optimum is, for every division of the weights.

shares = np.linspace(0.0, 2.0, 41)
values = [
    PolynomialMKLRegressor(**problem, radius=0.0, offset=np.array([w, 2.0 - w])).fit(X, y).objective_ for w in shares
]
plt.plot(shares, values)
plt.plot(descent.weights_[0], descent.objective_, "o", ms=10, mfc="none", label="where the descent ends")
plt.plot(proved.weights_[0], proved.objective_, "+", ms=12, mew=2, label="the optimum, proved")
plt.xlabel("weight of body mass; the rest of 2 is the other's"), plt.ylabel("value"), plt.legend()
plt.show()
