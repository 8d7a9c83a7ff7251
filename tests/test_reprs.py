"""Banks, paths and what is found of weights print as what they are."""

import numpy as np

from multikernel import L1MKLClassifier, bind, kernel_importance, kernels, path, weight_stability


def test_a_bank_says_how_many_kernels_of_how_many_samples():
    X = np.random.default_rng(0).normal(size=(20, 3))
    bank = bind(kernels.rbf_grid([0.1, 1.0]), X)
    assert repr(bank) == "<PackedBank: 2 kernels of 20 samples>"
    assert repr(bank.cross(X[:4])).endswith(": 2 kernels of 4 new samples against 20>")
    assert repr(bank.distances()) == "<DistanceBank: 2 distances of 20 samples>"
    assert repr(bank.normalized()) == "<NormalizedBank: 2 kernels of 20 samples>"


def test_a_path_says_where_it_leads():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = L1MKLClassifier(kernels.rbf_grid([0.1, 1.0]))
    found = path(model, X, X[:, 0] > 0, "C", [0.1, 10.0])
    assert repr(found).startswith("<Path of L1MKLClassifier: 2 steps of C from 0.1 to 10, ")
    assert repr(path(model, X, X[:, 0] > 0, "C", [1.0])).startswith("<Path of L1MKLClassifier: C = 1, ")


def test_what_is_found_of_weights_fits_in_a_line():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = L1MKLClassifier(kernels.per_feature([kernels.RBF(1.0)]))
    found = weight_stability(model, X, X[:, 0] > 0, n_resamples=4, random_state=0)
    assert repr(found).startswith("<WeightStability: 3 kernels on 4 parts of the sample, ")
    assert len(repr(found)) < 150
    importance = kernel_importance(model.fit(X, X[:, 0] > 0), X, X[:, 0] > 0, random_state=0)
    assert "most by RBF(gamma=1.0).on(0) (" in repr(importance)
