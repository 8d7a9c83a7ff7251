"""Banks and paths print as what they are."""

import numpy as np

from multikernel import L1MKLClassifier, bind, kernels, path


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
