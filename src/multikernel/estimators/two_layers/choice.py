"""Which second layer predicts samples that are held out best; the linear one where the others are not plainly better.

A model without products is the simpler one: another layer has to lower the mean held-out loss by more than the standard
error of the mean of the differences, sample by sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from multikernel._typing import Array
from multikernel._warnings import keeping
from multikernel._workers import time_is_up, warn_of_cut_choice
from multikernel.estimators.parameters import AUTO
from multikernel.estimators.search import Samples, at_candidate, best_place, folds_of, roughly, with_parameters

LAYERS = ("linear", "polynomial", "gaussian")


def chosen_layer(model: Any, whole: Samples) -> dict[str, Any]:
    """The second layer and its ridge, by name.

    Parameters
    ----------
    model : an estimator whose ``second`` is "auto"
    whole : the training samples
    """
    learn, losses, ridges = model._method.learn, dict[str, Array](), dict[str, float]()
    for name in LAYERS:
        each = with_parameters(model, second=name)
        if AUTO.accepts(each.alpha):
            each = at_candidate(each, "alpha", whole, best_place(each, "alpha", learn, whole))
        ridges[name] = each.alpha
        if time_is_up():  # there is no time to compare this layer with others
            break
        losses[name] = _losses(each, learn, whole)
    if time_is_up():
        warn_of_cut_choice(f"{len(losses)} of {len(LAYERS)} second layers ({', '.join(LAYERS)}) were compared")
    best = _plainly_best(losses) if losses else LAYERS[0]
    return {"second": best, "alpha": ridges[best]}


def _plainly_best(losses: dict[str, Array]) -> str:
    simplest = LAYERS[0]
    best = min(losses, key=lambda name: losses[name].mean())
    better = losses[simplest] - losses[best]
    return best if better.mean() > better.std() / np.sqrt(len(better)) else simplest


def _losses(model: Any, learn: Any, whole: Samples) -> Array:
    """The weighted losses of the samples, each by the model of a fold that it is not in; infinite where a fit fails."""
    rough, found = roughly(with_parameters(model, class_weight=None)), [np.zeros(1)]
    for train, test in folds_of(whole, is_classifier(model)):
        try:
            keeping(
                lambda train=train: rough.fit_bank(  # type: ignore[misc]
                    train.bank, train.target, (), train.weight, learn, exact=False, resampling=train.resampling
                )
            )
        except (ValueError, ArithmeticError):
            return np.full(1, np.finfo(float).max)
        found.append(test.losses(rough, rough.predictor_.values(test.bank)))
    return np.concatenate(found)
