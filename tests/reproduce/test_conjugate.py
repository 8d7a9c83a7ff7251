"""The printed algorithm with conjugate gradients: the residual passes its test, and weights lie on the simplex."""

from __future__ import annotations

import numpy as np

from multikernel import bind, kernels
from multikernel.reproduce.rls2.conjugate import DELTA, path


def test_each_step_meets_the_printed_test() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)
    y -= y.mean()
    bank = bind(kernels.rls2_basis(), X)
    bank = bank.scaled(1.0 / bank.traces())
    K = [bank.matrix(k) for k in range(len(bank))]
    alphas = np.logspace(4, -4, 9).tolist()
    for alpha, step in zip(alphas, path(bank, y, alphas), strict=True):
        residual = sum(d * M for d, M in zip(step.weights, K, strict=True)) @ step.coef + alpha * step.coef - y
        assert np.linalg.norm(residual) <= DELTA * np.linalg.norm(y) * (1 + 1e-9)
        assert abs(step.weights.sum() - 1.0) < 1e-12
        assert (step.weights >= 0).all()
    first = next(path(bank, y, alphas))
    assert first.weights.argmax() == np.argmax([y @ M @ y for M in K])
    assert first.n_iter == 1
