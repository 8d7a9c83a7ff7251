"""
Testing features against shuffled copies
========================================

Every measurement of 178 wines gets a copy whose values are shuffled over the wines. Learned scales keep the copies
small: a measurement whose scale is larger than those of all copies carries information.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine

from multikernel import LearnedScalesClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
rng = np.random.default_rng(0)
copies = X.apply(lambda column: pd.Series(rng.permutation(column.to_numpy()))).add_suffix(", shuffled")
both = X.join(copies)
model = LearnedScalesClassifier().fit(both, y)
print(f"held-out error {model.cv_loss_:.3f}; with one scale for all features {model.cv_loss_equal_:.3f}")

# %%
# The dashed line is the largest scale of a shuffled copy.

order = np.argsort(model.relative_scales_)[-18:]
colours = ["silver" if "shuffled" in both.columns[j] else "tab:blue" for j in order]
plt.figure(figsize=(7, 5))
plt.barh(both.columns[order], model.relative_scales_[order], color=colours)
plt.axvline(model.relative_scales_[13:].max(), ls="--", color="gray")
plt.xscale("log"), plt.xlabel("learned scale, times the mean distance"), plt.tick_params(axis="y", labelsize=8)
plt.tight_layout()
plt.show()
