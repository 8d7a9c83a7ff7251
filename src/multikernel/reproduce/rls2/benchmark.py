"""Tables 3 and 4, Figures 4 to 8: paths of thirty values of lambda, on random splits of ten data sets."""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from multikernel import RLS2Regressor, bind, kernels
from multikernel import path as certified_path
from multikernel.banks import KernelBank
from multikernel.datasets import DataDirectory
from multikernel.reproduce.data import DataSource, FeatureScaling, random_split
from multikernel.reproduce.experiment import Cell, Experiment, Figure, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.results import Results
from multikernel.reproduce.rls2 import conjugate
from multikernel.reproduce.verdict import STATED, Better, Binding, Measured, NotComparable, Query, over_repetitions
from multikernel.typing import Array

ALPHAS = tuple(np.logspace(6, -6, 30).tolist())
SPLITS = 100
FEWER = 30  # splits, of the variants
_ZERO = 1e-10  # relative to the largest weight; smaller weights count as zero
LIKELY = 0.05  # the smallest chance of a lambda that counts as tied with the best one
RESAMPLES = 20_000


@dataclass(frozen=True)
class BenchmarkSet:
    """A data set of the benchmark: its name in this package, and its properties in Table 2."""

    source: str
    standardised: bool
    regression: bool = False


SETS = {
    "Auto-mpg": BenchmarkSet("auto_mpg", True, regression=True),
    "Cpu": BenchmarkSet("cpu", True, regression=True),
    "Servo": BenchmarkSet("servo", False, regression=True),
    "Housing": BenchmarkSet("housing_boston", True, regression=True),
    "Heart": BenchmarkSet("heart_statlog", True),
    "Liver": BenchmarkSet("liver_bupa", False),
    "Pima": BenchmarkSet("diabetes_pima", True),
    "Ionosphere": BenchmarkSet("ionosphere", True),
    "Wpbc": BenchmarkSet("wpbc", True),
    "Sonar": BenchmarkSet("sonar", False),
}
_BY_SOURCE = {benchmark_set.source: benchmark_set for benchmark_set in SETS.values()}


Solver = Literal["conjugate", "paper", "certified"]


@dataclass(frozen=True)
class Mode:
    """How one variant runs.

    Parameters
    ----------
    solver : "paper", the printed algorithm with exact linear systems; "conjugate", the same with conjugate gradients
        that stop at the printed residual and start from the last coefficients; "certified", every lambda solved to a
        duality gap of 1e-4
    centred : bool, whether the mean of the labels is subtracted, as that of regression targets always is
    """

    solver: Solver
    centred: bool = False


CONJUGATE = "conjugate gradients"
CENTRED = "labels centred"
CENTRED_CONJUGATE = "conjugate gradients, labels centred"
ERP = "ERP"
ERP_CONJUGATE = "ERP, conjugate gradients"
AS_FEATURE = "ERP as a feature"
CERTIFIED = "certified"
MODES = {
    STATED: Mode("paper"),
    CONJUGATE: Mode("conjugate"),
    CENTRED: Mode("paper", centred=True),
    CENTRED_CONJUGATE: Mode("conjugate", centred=True),
    CERTIFIED: Mode("certified"),
    ERP: Mode("paper"),
    ERP_CONJUGATE: Mode("conjugate"),
    AS_FEATURE: Mode("paper"),
}
OF_LABELS = (CENTRED, CENTRED_CONJUGATE)  # the variants of classification
OF_CPU = (ERP, ERP_CONJUGATE, AS_FEATURE)
IN_FEWER = (CENTRED, CERTIFIED, AS_FEATURE)  # splits; none of them is the cause of a difference
TIED = "tied lambda"


def tied(variant: str) -> str:
    """The name of a variant with a tied lambda."""
    return TIED if variant == STATED else f"{variant}, {TIED}"


VARIANTS = {
    CONJUGATE: (
        "Linear systems are solved by conjugate gradients, as the paper says. It says neither where they start nor how "
        "accurate they are: that they start from the last coefficients and end at the residual of the stopping test "
        "was found by comparing iterations."
    ),
    CENTRED: (
        "In classification, the mean of the training labels is subtracted from the labels, as the paper says of "
        "regression targets only; this was found by comparing the numbers."
    ),
    CENTRED_CONJUGATE: "Conjugate gradients and labels centred, both as above.",
    CERTIFIED: "The problem is solved to a duality gap of 1e-4 at every lambda.",
    ERP: (
        "On Cpu the target is ERP, an estimate by others, and the measured performance PRP is one of the features, as "
        "the paper has one feature more than the file; that it is this one was found by comparing the numbers."
    ),
    ERP_CONJUGATE: "On Cpu the target is ERP, with conjugate gradients as above.",
    AS_FEATURE: "On Cpu the target is PRP, and ERP is the feature that the paper has in addition to those of the file.",
    TIED: (
        "The number of kernels is that of another lambda. Mean performance is so flat along the path that the splits "
        "decide which lambda is the best. Among the values of lambda that are the best one in at least a twentieth of "
        "other draws of the splits, as resamples of resamples of these splits imitate them, that is taken at which the "
        "number of kernels is nearest to the published one."
    ),
    **{tied(v): f'The same, of the variant "{v}".' for v in (CONJUGATE, CENTRED_CONJUGATE, ERP, ERP_CONJUGATE)},
}
_TARGET = "The paper's target is probably ERP, an estimate by others."
_SYSTEMS = "Conjugate gradients that end early give the published iterations."
_SYSTEMS_AND_LABELS = (
    "Conjugate gradients that end early, with labels centred, give the published iterations. The paper says of "
    "regression targets only that their mean is subtracted."
)
_SPLITS = (
    "Performance is so flat along the path that the splits decide which lambda is the best, and with it the number of "
    "kernels."
)
_ONE_CLASS = (
    "The published number of kernels belongs to a lambda at which hardly any class but the larger one is predicted."
)
_LABELS = {
    "performance": "error, or accuracy in %",
    "kernels": "kernels with nonzero weight",
    "iterations": "iterations",
}
_SEES = {
    "performance": (
        "Light lines are single splits, and the thick line is their mean; the dotted line marks the lambda that is "
        "best for the mean."
    ),
    "kernels": "At large lambda one kernel is selected; towards small lambda more are.",
    "iterations": "Few iterations are needed at both ends of the path; most are needed in between.",
}


@lru_cache(maxsize=2)
def _bank_and_target(source: DataSource, name: str, variant: str) -> tuple[KernelBank, Array]:
    """All kernels on all rows, each divided by its trace over training and test rows, and the target."""
    data = source.load(name)
    X = features(source, name)
    if data.task == "regression":
        y = data.y.astype(float)
    else:
        y = source.signs(name)[1]
    if variant in OF_CPU:
        more = _estimates(source)
        if variant != AS_FEATURE:
            more, y = y, more
        X = np.column_stack([X, FeatureScaling("standard")(more[:, None])])
    bank = bind(kernels.rls2_basis(), X)
    traces = bank.traces()
    return bank.select(np.flatnonzero(traces > 0)).scaled(1.0 / traces[traces > 0]), y


def features(source: DataSource, name: str) -> Array:
    """Features that vary, categories as indicators, standardised over all rows where Table 2 says so."""
    data = source.load(name)
    keep = [not str(feature).startswith("model=") for feature in data.feature_names]  # which differs from row to row
    X = np.asarray(data.X, dtype=float)[:, keep]
    return FeatureScaling("standard" if _BY_SOURCE[name].standardised else "raw", rows="all")(X)


def _estimates(source: DataSource) -> Array:
    """ERP, a column of the file of Cpu that is not a feature."""
    directory = DataDirectory.find(source.directory)
    if directory is None:
        raise FileNotFoundError("cpu: the column _ERP is read from a directory of data files, and there is none")
    with gzip.open(directory.path / "cpu.csv.gz", "rt", encoding="utf-8") as file:
        return np.array([float(line["_ERP"]) for line in csv.DictReader(file)])


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        return grid(data=["servo", "liver_bupa"], variant=["stated"], part=[0.6, 0.7], seed=range(2))
    return [
        cell
        for benchmark_set in SETS.values()
        for variant in MODES
        if not (benchmark_set.regression and variant in OF_LABELS)
        and (variant not in OF_CPU or benchmark_set.source == "cpu")
        for cell in grid(
            data=[benchmark_set.source],
            variant=[variant],
            part=[0.6, 0.7],
            seed=range(FEWER if variant in IN_FEWER else SPLITS),
        )
    ]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    mode = MODES[cell["variant"]]
    bank, y = _bank_and_target(source, cell["data"], cell["variant"] if cell["data"] == "cpu" else STATED)
    regression = _BY_SOURCE[cell["data"]].regression
    train, test = random_split(y, cell["part"], cell["seed"], stratified=False)
    train_bank = bank.block(train, train).compact()
    test_bank = bank.block(test, train)
    mean = float(y[train].mean()) if regression or mode.centred else 0.0
    start = time.perf_counter()
    weights, coefs, iterations, gap = _solution_path(train_bank, y[train] - mean, mode.solver)
    seconds = time.perf_counter() - start
    values = np.stack([test_bank.combine(d).multiply(c) + mean for d, c in zip(weights, coefs, strict=True)])
    if regression:
        performance = np.sqrt(((values - y[test]) ** 2).mean(axis=1))
    else:
        misclassified = np.where(values >= 0, 1.0, -1.0) != y[test]
        performance = 100.0 * (1.0 - misclassified.mean(axis=1))
    return {
        "performance": performance,
        "kernels": [int((d > _ZERO * d.max()).sum()) for d in weights],
        "iterations": iterations,
        "total": int(sum(iterations)),
        "seconds": seconds,
        "certificate": gap,
    }


def _solution_path(bank: KernelBank, y: Array, solver: Solver) -> tuple[list[Array], list[Array], list[int], float]:
    """Weights, coefficients and iterations at every lambda; the largest gap, NaN where it is unknown."""
    if solver == "conjugate":
        steps = list(conjugate.path(bank, y, ALPHAS))
        return [s.weights for s in steps], [s.coef for s in steps], [s.n_iter for s in steps], np.nan
    estimator = RLS2Regressor("precomputed", scaling="none", mode=solver, tol=1e-4, fit_intercept=False)
    models = certified_path(estimator, bank, y, "alpha", ALPHAS).models
    coefs = [np.ravel(model.dual_coef_) for model in models]
    gap = max(float(model.duality_gap_) for model in models)
    return [np.ravel(model.weights_) for model in models], coefs, [int(model.n_iter_) for model in models], gap


def _at_best(quantity: str, sign: float) -> Callable[[Sequence[Any]], Measured]:
    """A number at the lambda whose mean performance over the splits is the best; of equal ones the smallest lambda."""

    def summary(measurements: Sequence[Any]) -> Measured:
        return _mean_at(measurements, quantity, int(_best(_performance(measurements, sign).mean(axis=0))))

    return summary


def _at_a_tie(quantity: str, sign: float, published: float) -> Callable[[Sequence[Any]], Measured]:
    """The number nearest to the published one, at a lambda that other splits would have made the best one."""

    def summary(measurements: Sequence[Any]) -> Measured:
        performance = _performance(measurements, sign)
        likely = _chances(performance) >= LIKELY
        likely[_best(performance.mean(axis=0))] = True
        tied = np.flatnonzero(likely)
        return min(
            (_mean_at(measurements, quantity, int(i)) for i in tied), key=lambda m: abs(float(m.value) - published)
        )

    return summary


def _performance(measurements: Sequence[Any], sign: float) -> Array:
    """Of every split and every lambda, signed so that higher is better."""
    return sign * np.array([measurement["performance"] for measurement in measurements])


def _best(means: Array) -> Array:
    """The position of the best mean, in the last axis; of equal ones the last, which is the smallest lambda."""
    return means.shape[-1] - 1 - np.argmax(means[..., ::-1] >= means.max(axis=-1, keepdims=True) - 1e-9, axis=-1)


def _chances(performance: Array) -> Array:
    """The chance that each lambda is the best one with other splits than these.

    All lambda are measured on the same splits, so their differences matter, and not the deviation of each. The means of
    resampled splits deviate from these means as these do from the true ones. Other splits, such as those of the paper,
    deviate from the true ones, too, and so from these by the root of 2 times as much: as resamples of resamples do.
    """
    count, lambdas = performance.shape
    rng = np.random.default_rng(0)
    once = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    twice = rng.multinomial(count, once / count)
    return np.bincount(_best(twice @ performance / count), minlength=lambdas) / RESAMPLES


def _mean_at(measurements: Sequence[Any], quantity: str, index: int) -> Measured:
    return over_repetitions([measurement[quantity][index] for measurement in measurements])


def _causes(name: str) -> dict[str, str]:
    """Why numbers of Table 4 differ from the published ones, by variant: what gives the iterations of every set."""
    if name == "Cpu":
        return {ERP: _TARGET, ERP_CONJUGATE: f"{_TARGET} {_SYSTEMS}"}
    if SETS[name].regression:
        return {CONJUGATE: _SYSTEMS}
    return {CENTRED_CONJUGATE: _SYSTEMS_AND_LABELS}


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place == "text 5.2":
        return NotComparable("These are the iterations of Table 4, divided by the thirty values of lambda.")
    if row.place not in ("Table 3", "Table 4"):
        return None
    benchmark_set = SETS[row.data]
    fields = {"data": benchmark_set.source, "part": 0.6 if row.setting.startswith("60/40") else 0.7}
    sign = -1.0 if benchmark_set.regression else 1.0
    if row.place == "Table 3":
        better: Better = "lower" if benchmark_set.regression else "higher"
        return Query(fields, (), better, _at_best("performance", sign), causes={ERP: _TARGET})
    causes = _causes(row.data)
    if row.metric.startswith("iterations"):
        return Query(fields, ("total",), "neither", causes=causes)
    if row.metric.startswith("selected"):
        tie = _at_a_tie("kernels", sign, float(row.value))
        return Query(
            fields,
            (),
            "neither",
            _at_best("kernels", sign),
            summaries={tied(variant): tie for variant in (STATED, *causes)},
            summaries_of={tied(variant): variant for variant in causes},
            causes={TIED: _SPLITS, **causes, **{tied(v): f"{why} {_SPLITS}" for v, why in causes.items()}},
            remark=_ONE_CLASS if row.data == "Wpbc" else "",
        )
    return Query(fields, ("seconds",), "lower")


def _profiles(quantity: str, sign: float) -> Callable[[Any, Results], None]:
    def draw(ax: Any, results: Results) -> None:
        splits = np.array([measurement[quantity] for measurement in results.measurements], dtype=float)
        ax.plot(ALPHAS, splits[:30].T, color="#8d96a8", alpha=0.25, linewidth=0.7)
        ax.plot(ALPHAS, splits.mean(axis=0), color="#4a7fe0", linewidth=2.0, label="mean over the splits")
        means = _performance(results.measurements, -sign).mean(axis=0)
        ax.axvline(ALPHAS[int(_best(means))], color="#dd8a33", linestyle=":")
        ax.set_xscale("log")
        ax.set(xlabel="lambda", ylabel=_LABELS[quantity])

    return draw


EXPERIMENT = Experiment(
    paper="rls2",
    name="benchmark",
    title="Regularisation paths on ten data sets",
    protocol=(
        "There are a hundred random splits, not stratified, with 60 or 70 % of the rows for training. There are thirty "
        "values of lambda, from 1e6 down to 1e-6, and each fit starts from the weights of the last. There are 13 (N + "
        "1) kernels, each divided by its trace over training and test rows. The mean of regression targets is "
        "subtracted, and labels are -1 and +1, as the paper says. The printed algorithm is run with the printed "
        "stopping test on the residual, and linear systems are solved exactly. The paper solves them by conjugate "
        "gradients, and does not say how accurately; this is a variant. Table 3 states the performance at the lambda "
        "that is best for the mean over the splits, of equal ones at the smallest, a choice that uses the test rows. "
        "Table 4 states the number of kernels at this lambda, and the iterations and seconds of the whole path. "
        "Features are standardised over all rows, as the paper does not say over which."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(3, 4),
    figures=(4, 5, 6, 7, 8),
    variants=VARIANTS,
    fitted=frozenset(VARIANTS) - {CERTIFIED, AS_FEATURE},
    version=3,
    tol=1e-4,
    seconds=0.7,
    draw=tuple(
        Figure(
            f"{name}: {quantity}",
            _SEES[quantity],
            _profiles(quantity, 1.0 if benchmark_set.regression else -1.0),
            {"data": benchmark_set.source, "part": 0.7, "variant": "stated"},
        )
        for name, benchmark_set in SETS.items()
        for quantity in _SEES
    ),
)
