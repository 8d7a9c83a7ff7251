"""What becomes of the columns of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from multikernel.auto.preparation import Preparation, PreparedColumns
from multikernel.auto.table import read


def test_columns_of_a_feature_share_a_group():
    frame = pd.DataFrame({"n": [1.0, 2.0, np.nan], "c": ["u", "v", "w"], "k": [3.0, 4.0, 6.0]})
    table = read(frame)
    samples = Preparation.of(table).samples(table)
    assert samples.owner.tolist() == [0, 1, 2, 3, 3, 3]
    assert samples.names == ("n", "k", "n", "c")
    np.testing.assert_allclose(samples.plain[:, :3], [[-1, -4 / 14**0.5, 0], [1, -1 / 14**0.5, 0], [0, 5 / 14**0.5, 1]])
    np.testing.assert_array_equal(samples.plain[:, 3:], np.eye(3))


def test_new_samples_are_read_as_training_was():
    """Strings are numbers where training had these; numbers are categories, and blanks missing, where it had those."""
    frame = pd.DataFrame({"n": ["1", "2", "4"], "c": ["5", "x", None], "text": ["a b c d", "a c d e", "b d e f"]})
    preparation = Preparation.of(read(frame))
    new = preparation.samples(preparation.read(pd.DataFrame({"n": [2.0, 1.0], "c": [5.0, np.nan], "text": ["a", " "]})))
    old = preparation.samples(preparation.read(frame))
    np.testing.assert_array_equal(new.plain[:, 0], old.plain[[1, 0], 0])
    np.testing.assert_array_equal(new.plain[:, 1:], [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(np.sqrt(old.sparse[0].multiply(old.sparse[0]).sum(axis=1)).ravel(), 1.0)
    assert new.sparse[0][[1]].nnz == 0


def test_views_keep_their_columns():
    genes = np.random.default_rng(0).normal(size=(4, 2))
    table = read({"genes": genes, "clinical": pd.DataFrame({"sex": ["f", "m", "f", "m"], "age": [1.0, 2.0, 3.0, 4.0]})})
    samples = Preparation.of(table).samples(table)
    assert samples.names == ("genes: x0", "genes: x1", "clinical: age", "clinical: sex")
    assert samples.view.tolist() == [0, 0, 1, 1, 1]


def test_columns_of_two_views_with_one_name_are_refused():
    one, other = pd.DataFrame({"b: c": [1.0, 2.0]}), pd.DataFrame({"c": [3.0, 4.0]})
    with pytest.raises(ValueError, match="views 'a' and 'a: b' both have a column 'a: b: c'"):
        read({"a": one, "a: b": other})


def test_a_kernel_matrix_is_not_prepared():
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match="view 'b' is a kernel matrix, which has no columns"):
        PreparedColumns().fit({"a": X, "b": X @ X.T})


@pytest.mark.parametrize("ask", [lambda columns: columns.transform([[1.0]]), PreparedColumns.get_feature_names_out])
def test_prepared_columns_are_fitted_first(ask):
    with pytest.raises(NotFittedError):
        ask(PreparedColumns())
