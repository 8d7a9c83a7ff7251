"""Probabilities by ``probability="platt"`` beside scikit-learn's CalibratedClassifierCV on the same model.

    python benchmarks/probabilities.py [--splits 5] [--sets wdbc sonar ...] [--models l1 easymkl ...]

Brier scores on 40 per cent of the samples, and seconds of processor time: of calibration, which is what a fit with
probabilities takes beyond one without (the median over the splits), and of CalibratedClassifierCV with five folds, as
an ensemble (its default) and not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import EasyMKLClassifier, L1MKLClassifier, LpMKLClassifier, RLS2Classifier, datasets, kernels

SETS = ("wdbc", "ionosphere", "sonar", "heart_statlog", "diabetes_pima", "australian", "german", "parkinsons")
WIDTHS = kernels.per_feature([kernels.RBF(0.1), kernels.RBF(1.0)])
MODELS = {
    "l1": L1MKLClassifier(WIDTHS),
    "lp": LpMKLClassifier(WIDTHS),
    "easymkl": EasyMKLClassifier(),
    "rls2": RLS2Classifier(alpha=1e-2),
}


def processor_seconds() -> float:
    times = os.times()
    return times.user + times.system


def timed(model, X, y):
    """The fitted model, and the processor time of it."""
    start = processor_seconds()
    model = clone(model).fit(X, y)
    return model, processor_seconds() - start


def compared(learner, X, y, splits):
    """Over the splits: seconds and Brier scores of calibration within, of an ensemble, and of one model."""
    plain, told = (make_pipeline(StandardScaler(), clone(learner).set_params(probability=p)) for p in (None, "platt"))
    contenders = [told, CalibratedClassifierCV(plain, cv=5), CalibratedClassifierCV(plain, cv=5, ensemble=False)]
    for model in (plain, *contenders):
        clone(model).fit(X[::3], y[::3])  # compile, import late modules, start threads
    seconds, scores = [], []
    for train, test in StratifiedShuffleSplit(splits, test_size=0.4, random_state=1).split(X, y):
        _, base = timed(plain, X[train], y[train])
        found = [timed(model, X[train], y[train]) for model in contenders]
        seconds.append([base, *(own for _, own in found)])
        positive = y[test] == np.unique(y)[1]
        scores.append([brier_score_loss(positive, model.predict_proba(X[test])[:, 1]) for model, _ in found])
    base, told, *theirs = (statistics.median(column) for column in zip(*seconds, strict=True))
    return [base, max(told - base, 0.0), *theirs], np.mean(scores, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':24}{'Brier score':^30}{'seconds':^40}")
    print(f"{'':24}{'within':>10}{'ensemble':>10}{'one':>10}{'fit':>10}{'+ within':>10}{'ensemble':>10}{'one':>10}")
    for name in options.models:
        every = []
        for data in options.sets:
            loaded = datasets.load(data)
            seconds, scores = compared(MODELS[name], np.asarray(loaded.X, float), np.asarray(loaded.y), options.splits)
            every.append([*scores, *seconds])
            print(f"{name:8}{data:16}" + "".join(f"{number:10.4f}" for number in every[-1]), flush=True)
        mean = np.mean(every, axis=0)
        print(f"{name:8}{'mean':16}" + "".join(f"{number:10.4f}" for number in mean))
        ensemble, one = mean[5] / mean[4], mean[6] / mean[4]
        print(f"{'':8}calibration takes 1/{ensemble:.0f} of the time of an ensemble, 1/{one:.0f} of that of one model")


if __name__ == "__main__":
    main()
