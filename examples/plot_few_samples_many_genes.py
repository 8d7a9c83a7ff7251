"""
Few samples: do not learn too much
==================================

The data are sixty-two tissues and two thousand genes, with a kernel for each of twenty groups of genes. With so few
samples, no way to learn the weights predicts better than their plain average.
"""

# needs colon

import numpy as np
from matplotlib import pyplot as plt
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from multikernel import AverageMKLClassifier, EasyMKLClassifier, L1MKLClassifier, LpMKLClassifier, datasets, kernels

data = datasets.load("colon")
X = StandardScaler().fit_transform(np.log(data.X.clip(min=1)))
groups = {f"genes {k}": list(range(100 * k, 100 * k + 100)) for k in range(20)}
family = kernels.column_groups(groups, kernels.Linear().normalized())
models = {
    "L1, selects": L1MKLClassifier(family),
    "Lp, p = 1.2": LpMKLClassifier(family, p=1.2),
    "Lp, p = 4": LpMKLClassifier(family, p=4),
    "EasyMKL": EasyMKLClassifier(family, lam=0.5),
    "average": AverageMKLClassifier(family, C=1.0),
}
folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=5, random_state=0)
scores = [cross_val_score(model, X, data.y, cv=folds, scoring="roc_auc") for model in models.values()]
means = [each.mean() for each in scores]
errors = [each.std() / len(each) ** 0.5 for each in scores]

plt.errorbar(means, range(len(models)), xerr=errors, fmt="o", capsize=3)
plt.yticks(range(len(models)), models)
plt.gca().invert_yaxis()
plt.xlabel("area under the curve, with its standard error over folds")
plt.tight_layout()
plt.show()
