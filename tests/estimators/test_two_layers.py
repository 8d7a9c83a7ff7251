"""The value that two layers tell is that of the problem in their docstring; the unit of a target changes nothing."""

import numpy as np
import pytest

from multikernel import MultiKernelRegressor, TwoLayerRegressor, kernels
from multikernel.estimators.two_layers.two_layers import _plainly_best

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = 3.0 + 5.0 * X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=40)
FAMILY = [4.0 * kernels.Linear(), kernels.RBF(0.3)]
SECOND = {
    "linear": lambda Z: Z @ Z.T,
    "polynomial": lambda Z: (1.0 + Z @ Z.T) ** 2,
    "gaussian": lambda Z: np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2)),
}


@pytest.mark.parametrize("weight", [None, RNG.uniform(0.5, 2.0, 40)], ids=["plain", "weighted"])
@pytest.mark.parametrize("second", SECOND)
def test_the_objective_is_that_of_the_docstring(second, weight):
    model = TwoLayerRegressor(FAMILY, second=second, alpha=0.5, beta=0.2).fit(X, Y, sample_weight=weight)
    s = np.ones(40) if weight is None else weight
    share = s / s.sum()
    unit = np.sqrt(share @ (Y - share @ Y) ** 2)
    matrices = [kernel(X, X) for kernel in FAMILY]
    size = np.mean([np.diag(K) @ share for K in matrices])
    Z, c = model.first_layer(X), model.dual_coef_ / unit
    K2 = SECOND[second](Z)
    # the function of least norm with given values z at the samples has the square of its norm z'K^+ z
    norms = [z @ np.linalg.lstsq(K / size, z, rcond=1e-10)[0] for K, z in zip(matrices, Z.T, strict=True)]
    value = s @ ((Y - share @ Y) / unit - K2 @ c) ** 2 + 0.5 * c @ K2 @ c + 0.2 * sum(norms)
    assert model.objective_ == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("second", SECOND)
def test_predictions_follow_the_unit_of_the_target(second):
    model, other = (TwoLayerRegressor(FAMILY, second=second, alpha=0.5).fit(X, unit * Y) for unit in (1.0, 2.0**-20))
    np.testing.assert_allclose(2.0**20 * other.predict(X), model.predict(X), rtol=1e-9)
    tiny = TwoLayerRegressor(FAMILY, second=second, alpha=0.5).fit(X, 1e-6 * Y)
    np.testing.assert_allclose(1e6 * tiny.predict(X), model.predict(X), atol=1e-5 * Y.std())


def test_an_automatic_model_of_a_constant_has_no_weights():
    model = MultiKernelRegressor(random_state=0).fit(X, np.full(40, 3.0))
    assert len(model.weights_) == len(model.kernel_names_) == 0
    np.testing.assert_allclose(model.predict(X), 3.0)


@pytest.mark.filterwarnings("ignore::UserWarning")  # the advice to centre them, and that rounding ends the descent
@pytest.mark.parametrize("name", [*SECOND, "auto"])
def test_columns_far_from_zero_are_learned_from(name):
    """Outputs of spread one are of size 1e8: the ridge is below the rounding error of the second layer's kernel."""
    model = TwoLayerRegressor([kernels.Linear()], second=name, alpha=1e-9).fit(X + 1e8, Y)
    assert np.isfinite(model.predict(X + 1e8)).all()
    assert np.isfinite(model.objective_)


def test_a_second_layer_that_cannot_be_fitted_is_not_chosen():
    failed, losses = np.full(1, np.inf), np.arange(5.0)
    assert _plainly_best({"linear": failed, "polynomial": losses}) == "polynomial"
    assert _plainly_best({"linear": losses, "polynomial": failed}) == "linear"
    assert _plainly_best({"linear": failed, "polynomial": failed}) == "linear"
