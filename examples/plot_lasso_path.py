"""
Two-layer least squares is the Lasso
====================================

With a kernel for each feature, multiple kernel learning with squared losses follows the path of the Lasso: every
solution of one is a solution of the other, at another penalty.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path
from sklearn.preprocessing import StandardScaler

from multikernel import LinearRLS2Regressor, path

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
found = path(LinearRLS2Regressor(tol=1e-9), X, y, "alpha", np.logspace(4, -3, 60))
ours = np.array([model.coef_ for model in found.models])
_, _, lasso = lars_path(X.to_numpy(), (y - y.mean()).to_numpy(), method="lasso")

# %%
# Lines: the Lasso. Dots: kernel weights learned here, turned into coefficients.

for j, name in enumerate(X.columns):
    line = plt.plot(abs(lasso).sum(axis=0), lasso[j], label=name)
    plt.plot(abs(ours).sum(axis=1), ours[:, j], ".", color=line[0].get_color())
plt.xlabel("sum of absolute coefficients"), plt.ylabel("coefficient"), plt.legend(fontsize=8, ncols=2)
plt.show()
