"""Figures of many targets' scores: what is drawn, and what is refused."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from multikernel.inspection import plot_best_kernels, plot_hist2d


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_every_target_with_two_scores_is_counted_once():
    first = np.array([0.1, 0.2, 0.3, -9.0, np.nan])
    second = np.array([0.2, 0.3, 0.2, 0.1, 0.4])
    ax = plot_hist2d(first, second, labels=("old", "new"), bins=7)
    counts = ax.collections[0].get_array()
    assert np.ma.sum(counts) == 4  # also the one far below, at the lower end
    assert ax.get_xlim() == ax.get_ylim()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("old", "new")
    assert [text.get_text() for text in ax.texts] == ["75% above", "25% below"]


def test_models_that_score_alike_are_drawn():
    ax = plot_hist2d(np.zeros(3), np.zeros(3))
    assert np.ma.sum(ax.collections[0].get_array()) == 3
    assert [text.get_text() for text in ax.texts] == ["0% above", "0% below"]


def test_scores_that_are_all_negative_are_drawn_where_they_are():
    ax = plot_hist2d([-0.1, -2.0, -3.0], [-0.5, -1.0, -4.0])
    assert ax.get_xlim()[0] < -4.0
    assert np.ma.count(ax.collections[0].get_array()) == 3


def test_the_best_kernel_of_each_predicted_target():
    parts = np.array([[0.5, 0.1, 0.0, 0.3, np.nan], [0.1, 0.4, -0.1, 0.0, 0.1]])
    ax = plot_best_kernels(parts, ["motion", "words"], minimum=0.05)
    assert [bar.get_width() for bar in ax.patches] == [2.0, 1.0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["motion", "words"]
    assert "3 of 5" in ax.get_xlabel()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="two scores for each target"):
        plot_hist2d([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="no target has two finite scores"):
        plot_hist2d([np.nan], [0.1])
    with pytest.raises(ValueError, match="a row for each of 2 kernels"):
        plot_best_kernels(np.ones((3, 4)), ["a", "b"])
    with pytest.raises(ValueError, match="no target has a score above 2"):
        plot_best_kernels(np.ones((1, 4)), ["a"], minimum=2.0)
