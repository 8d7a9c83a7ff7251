"""
The value of a certificate
==========================

Three solvers of the same problem are stopped after a few steps. The gap that each reports is never smaller than its
true distance from the optimum. The change of the weights, which many programs use as a stopping rule, says nothing
about that distance.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from multikernel import L1MKLClassifier, kernels

X, y = load_breast_cancer(return_X_y=True)
X, y = scale(X)[:150], y[:150]
family = kernels.per_feature([kernels.RBF(0.1), kernels.RBF(1.0)])
best = L1MKLClassifier(family, tol=1e-9).fit(X, y).objective_
print(f"optimum {best:.6f}, known to 9 digits")

# %%
# Each dot is a fit that was stopped after a given number of steps. All dots lie on the side of the diagonal where the
# reported gap is larger than the true one.

warnings.simplefilter("ignore")
for solver in ("cutting_plane", "level", "reduced_gradient"):
    reported, true = [], []
    for steps in (2, 4, 8, 16, 32):
        model = L1MKLClassifier(family, solver=solver, max_iter=steps, tol=1e-6).fit(X, y)
        reported.append(model.duality_gap_)
        true.append(max((model.objective_ - best) / model.objective_, 1e-9))
    plt.loglog(true, reported, "o-", label=solver)
ends = np.array([1e-9, 1.0])
plt.loglog(ends, ends, ":", color="gray")
plt.xlabel("true distance from the optimum"), plt.ylabel("duality_gap_, as reported"), plt.legend()
plt.show()
