"""Fisher's scores: by the features themselves, and as the order in which RLS2 takes kernels."""

import numpy as np
import pytest

from multikernel import RLS2Classifier, bind, kernels
from multikernel.diagnostics import fisher_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) * [1.0, 5.0, 0.2, 1.0] + 3.0
Y = np.where(np.arange(30) % 3 == 0, 1, -1)
X[Y > 0, 2] += 0.1


def test_they_are_those_of_the_features_centred_or_not():
    mean = [X[c == Y].mean(axis=0) for c in (1, -1)]
    spread = [X[c == Y].var(axis=0) for c in (1, -1)]
    expected = (mean[0] - mean[1]) ** 2 / (spread[0] + spread[1])
    bank = bind(kernels.linear_features(), X)
    np.testing.assert_allclose(fisher_scores(bank, Y), expected, rtol=1e-9)
    np.testing.assert_allclose(fisher_scores(bank.centered().matrices(), Y), expected, rtol=1e-8)


def test_the_first_kernel_of_rls2_has_the_largest_score():
    bank = bind([kernels.Linear().on([j]) for j in range(4)], X - X.mean(axis=0))
    model = RLS2Classifier(scaling="fisher", alpha=1e6).fit(bank, Y)
    assert np.flatnonzero(model.weights_).tolist() == [int(np.argmax(fisher_scores(bank, Y)))]


def test_no_variance_and_no_difference():
    K = np.array([np.outer(Y, Y), np.ones((30, 30)), np.zeros((30, 30))], dtype=float)
    assert fisher_scores(K, Y).tolist() == [np.inf, 0.0, 0.0]
    with pytest.raises(ValueError, match="class"):
        fisher_scores(K, np.ones(30))
