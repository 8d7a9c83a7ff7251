"""Ceilings of scores from repeats, beside known signals, the formulas of the field, and what a perfect model scores."""

import numpy as np
import pytest
from scipy.stats import zscore
from sklearn.metrics import r2_score

from multikernel import explainable_variance, noise_ceiling, normalized_scores

RNG = np.random.default_rng(0)
R, N, T = 4, 300, 200
SIGNAL = RNG.normal(size=(N, T)) * np.linspace(0.0, 2.0, T)
REPEATS = SIGNAL + RNG.normal(size=(R, N, T))


def test_explainable_variance_is_that_of_the_signal():
    found = explainable_variance(REPEATS)
    wanted = SIGNAL.var(axis=0) / (SIGNAL.var(axis=0) + 1.0)
    assert abs(np.mean(found - wanted)) < 0.01  # without bias; single targets have an error of a few hundredths
    assert np.abs(found - wanted).max() < 0.15
    biased = explainable_variance(REPEATS, bias_correction=False)
    np.testing.assert_allclose(biased - (1 - biased) / (R - 1), found, rtol=1e-12)


def test_the_formula_of_voxelwise_tutorials_on_standardised_repeats():
    data = zscore(REPEATS, axis=1)
    ratio = data.mean(axis=0).var(axis=0, ddof=1) / data.var(axis=1, ddof=1).mean(axis=0)
    np.testing.assert_allclose(explainable_variance(data), ratio - (1 - ratio) / (R - 1), rtol=1e-12)


def test_the_signal_itself_reaches_the_ceiling():
    mean = REPEATS.mean(axis=0)
    single = [noise_ceiling(REPEATS, against="single"), noise_ceiling(REPEATS)]
    truth = [REPEATS[0], mean]
    for ceiling, y in zip(single, truth, strict=True):
        reached = r2_score(y, SIGNAL, multioutput="raw_values")
        assert abs(np.mean(reached - ceiling)) < 0.02
    correlations = [np.corrcoef(mean[:, t], SIGNAL[:, t])[0, 1] for t in range(T // 2, T)]
    ceiling = noise_ceiling(REPEATS, scoring="correlation")
    assert np.abs(ceiling[T // 2 :] - correlations).max() < 0.1
    np.testing.assert_allclose(ceiling**2, noise_ceiling(REPEATS), rtol=1e-12)


def test_normalised_r2_is_the_signal_power_explained():
    """(Var(mean) - Var(mean - f)) / SP for predictions with the mean of the responses."""
    mean = REPEATS.mean(axis=0)
    f = mean - (mean - SIGNAL - (mean - SIGNAL).mean(axis=0)) * 1.3
    sp = (R * mean.var(axis=0, ddof=1) - REPEATS.var(axis=1, ddof=1).mean(axis=0)) / (R - 1)
    explained = (mean.var(axis=0, ddof=1) - (mean - f).var(axis=0, ddof=1)) / sp
    found = normalized_scores(r2_score(mean, f, multioutput="raw_values"), noise_ceiling(REPEATS))
    some = np.isfinite(found)
    np.testing.assert_allclose(found[some], explained[some], rtol=1e-8)
    np.testing.assert_array_equal(some, sp > 0)


def test_one_target_and_constant_ones():
    assert noise_ceiling(REPEATS[:, :, 150]) == noise_ceiling(REPEATS)[150]
    assert explainable_variance(np.full((3, 9), 0.1)) == 0.0
    for value in (0.1, 0.945, 1.7e308):
        assert noise_ceiling(np.full((2, 3), value)) == noise_ceiling(np.full((3, 9), value)) == 0.0
    same = np.tile(RNG.normal(size=9), (3, 1))
    assert noise_ceiling(same) == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    np.testing.assert_allclose(noise_ceiling(unit * REPEATS), noise_ceiling(REPEATS), rtol=1e-9)
    single = noise_ceiling((unit * REPEATS).astype(np.float32))
    np.testing.assert_allclose(single, noise_ceiling(REPEATS), atol=1e-5)


@pytest.mark.parametrize("power", [-900, 900])
def test_squares_may_be_beyond_floating_point(power):
    np.testing.assert_array_equal(noise_ceiling(np.ldexp(REPEATS, power)), noise_ceiling(REPEATS))
    np.testing.assert_array_equal(explainable_variance(np.ldexp(REPEATS, power)), explainable_variance(REPEATS))


def test_scores_of_kernels_are_divided_and_low_ceilings_are_not_known():
    found = normalized_scores([[0.2, 0.1], [0.3, 0.4]], [0.5, 0.1], minimum=0.1)
    np.testing.assert_allclose(found, [[0.4, np.nan], [0.6, np.nan]])
    assert normalized_scores(0.2, 0.4) == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(5,), (1, 9, 2), (3, 1, 2), (2, 3, 4, 5)])
def test_shapes_that_are_no_repeats_are_refused(shape):
    with pytest.raises(ValueError, match=r"\(repeats, samples, targets\)"):
        noise_ceiling(np.ones(shape))


def test_what_is_no_score_or_ceiling_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        noise_ceiling(np.where(REPEATS > 3, np.nan, REPEATS))
    with pytest.raises(ValueError, match="scoring must be"):
        noise_ceiling(REPEATS, scoring="mse")
    with pytest.raises(ValueError, match="one ceiling for each target"):
        normalized_scores([0.1, 0.2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="minimum"):
        normalized_scores([0.1], [0.1], minimum=-1.0)
