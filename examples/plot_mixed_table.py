"""
A table with mixed columns
==========================

The table has ages, schools, occupations and missing cells. Kernels that suit the type of each column predict
incomes as well as the usual one-hot columns with one Gaussian, and their weights show what mattered.
"""

# needs adult

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.compose import make_column_selector as columns
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from multikernel import L1MKLClassifier, datasets, kernels

data = datasets.load("adult")
table = pd.DataFrame(data.X, columns=data.feature_names).infer_objects()
table, rest, income, _ = train_test_split(table, data.y, train_size=1500, stratify=data.y, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(table, income, train_size=500, stratify=income, random_state=0)

usual = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), columns(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), columns(dtype_exclude="number")),
    ),
    SVC(),
)
ours = L1MKLClassifier(kernels.for_columns(X_train))
for name, model in {"one-hot and one Gaussian": usual, "kernels for columns": ours}.items():
    print(f"{name}: {model.fit(X_train, y_train).score(X_test, y_test):.3f} correct")

# %%
# The kernels that have a weight.

weights = ours.weights_frame()["weight"]
weights[weights > 0.01].sort_values().plot.barh()
plt.xlabel("weight"), plt.ylabel("")
plt.tight_layout()
plt.show()
