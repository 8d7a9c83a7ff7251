"""Table 4: EasyMKL on dot-product polynomials beside hierarchical kernel learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from multikernel import HKLClassifier, KernelBank, bind, kernels, path
from multikernel.reproduce.data import DataSource, FeatureScaling, Split, folds
from multikernel.reproduce.dpp.protocol import (
    NAMES,
    SCALINGS,
    SIGNED,
    STANDARDISED,
    area_under_curve,
    load,
    nested_area,
    powers,
)
from multikernel.reproduce.experiment import Cell, Experiment, grid
from multikernel.reproduce.published import PublishedNumber
from multikernel.reproduce.verdict import Binding, Query
from multikernel.typing import Array

SETS = ("Haberman", "Liver", "Diabetes", "Australian")
EASY = "K_MKL (EasyMKL, K_10)"
RHOS = {"gHKL rho=1.1": 1.1, "gHKL rho=1.5": 1.5, "gHKL rho=2.0 (=HKL)": 2.0}
COSTS = tuple(10.0**e for e in range(-3, 4))
DEGREE = 10
INNER = 1e-2
OUTER = 1e-3  # relative duality gaps of hierarchical kernel learning
GAUSSIANS = "Gaussians"
CONSTANT = "with a constant"
PER_SAMPLE = "signed, C per sample"
ONLY_COST = "C per sample"
_PREPARATIONS = {
    **SCALINGS,
    GAUSSIANS: SCALINGS["standardised"],
    CONSTANT: FeatureScaling("interval", constant=True),
    PER_SAMPLE: SCALINGS["signed"],
    ONLY_COST: SCALINGS["stated"],
}
_HABERMAN = (
    "Three features that are scaled to [0, 1] have only two dimensions left once samples have unit length. If a "
    "constant feature is added, the AUC is within the published deviation."
)
_SCALED = (
    "The paper does not state how features are scaled. With standardised features EasyMKL has the published area, as "
    "with those on [-1, 1], on which gHKL has 0.83 for every rho, more than is published."
)
_SIGNED = "The published number is reproduced with features that are scaled to [-1, 1]."
_CAUSES = {
    "Haberman": {CONSTANT: _HABERMAN},
    "Liver": {"signed": _SIGNED},
    "Diabetes": {"standardised": _SCALED},
}
_COST = (
    "With features scaled to [-1, 1], and with C divided by the number of training samples, so that its grid ends at "
    "about 3, the published AUC is reproduced on Liver for rho = 1.1 and 1.5, though not for 2; neither of these two "
    "changes alone gives it. Where C is not divided, the end of its grid, 1000, is chosen in 20 of 30 folds of Liver. "
    "On Diabetes and Australian the published numbers are reproduced without these changes, on Diabetes with rho = 1.1 "
    "only without them."
)
_ORDER = (
    "On Haberman gHKL hardly finds a function that is better than a constant (by less than 0.1 % in 28 of 30 models), "
    "so that the order of the test samples is arbitrary: the tolerance of the solver alone changes the AUC of a fold "
    "by up to 0.82."
)


def _cells(quick: bool) -> Sequence[Cell]:
    if quick:
        return grid(
            data=["haberman"], variant=["stated", "signed"], method=[EASY, "gHKL rho=2.0 (=HKL)"], fold=range(2)
        )
    names = [NAMES[name] for name in SETS]
    shorter = [name for name in names if name != NAMES["Australian"]]
    return [
        *grid(data=names, variant=["stated", "signed", "standardised", CONSTANT], method=[EASY], fold=range(10)),
        *grid(data=names, variant=["stated", "signed", PER_SAMPLE], method=list(RHOS), fold=range(10)),
        *grid(data=[NAMES["Liver"]], variant=[ONLY_COST], method=list(RHOS), fold=range(10)),
        *grid(data=shorter, variant=[GAUSSIANS], method=list(RHOS), fold=range(10)),
    ]


def _measure(cell: Cell, source: DataSource, prerequisite: Mapping[str, Any]) -> Mapping[str, Any]:
    X, y = load(source, cell["data"])
    split = folds(y, 10, 0, stratified=True)[cell["fold"]]
    scaled = _PREPARATIONS[cell["variant"]](X, split[0])
    if cell["method"] == EASY:
        return nested_area(powers(scaled, DEGREE), y, split, 3, 0)
    gaussian = kernels.per_feature(kernels.RBF(1.0))
    if cell["variant"] == GAUSSIANS:
        bank = bind(gaussian, scaled)
    else:
        bank = bind(kernels.linear_features(), normalize(scaled))
    costs = np.array(COSTS) / (len(split[0]) if cell["variant"] in (PER_SAMPLE, ONLY_COST) else 1)
    return _hierarchical(bank, y, split, RHOS[cell["method"]], costs.tolist())


def _hierarchical(bank: KernelBank, y: Array, split: Split, rho: float, costs: Sequence[float]) -> Mapping[str, Any]:
    """The area under the ROC curve on the test rows, with the smallest C among the best over three inner folds."""
    train, test = split
    areas = []
    gaps = []
    for fit_rows, held_out_rows in folds(y, 3, 0, stratified=True, rows=train):
        cost_path = path(HKLClassifier(rho=rho, tol=INNER), bank.block(fit_rows, fit_rows), y[fit_rows], "C", costs)
        held_out_bank = bank.block(held_out_rows, fit_rows)
        areas.append(
            [area_under_curve(y[held_out_rows], model.decision_function(held_out_bank)) for model in cost_path.models]
        )
        gaps.append(float(cost_path.duality_gap.max()))
    mean = np.mean(areas, axis=0)
    C = min(C for C, area in zip(costs, mean, strict=True) if area >= mean.max() - 1e-12)
    model = HKLClassifier(C=C, rho=rho, tol=OUTER).fit(bank.block(train, train), y[train])
    return {
        "auc": area_under_curve(y[test], model.decision_function(bank.block(test, train))),
        "C": C,
        "products": len(model.nodes_),
        "factors": max(map(len, model.nodes_)),
        "certificate": float(model.duality_gap_),
        "inner gap": max(gaps),
    }


def _bind(row: PublishedNumber) -> Binding | None:
    if row.place != "Table 4":
        return None
    fields = {"data": NAMES[row.data], "method": row.method}
    if row.method == EASY:
        return Query(fields, ("auc",), "higher", causes=_CAUSES.get(row.data, {}), same_samples=True)
    if row.data == "Haberman":
        return Query(fields, ("auc",), "higher", same_samples=True, instead=_ORDER)
    causes = {PER_SAMPLE: f"Why is not known. {_COST}"}
    return Query(fields, ("auc",), "higher", same_samples=True, causes=causes, remark=_COST)


EXPERIMENT = Experiment(
    paper="dpp",
    name="table4",
    title="EasyMKL beside hierarchical kernel learning",
    protocol=(
        "Ten stratified outer folds are used for testing. Three inner folds choose lam for EasyMKL, and C from 1e-3 to "
        "1e3 for hierarchical kernel learning (gHKL). The paper does not state which base kernels and which weights of "
        "the graph gHKL was given. Here its kernels are products of x_i z_i, on the same inputs as those of EasyMKL, "
        "and the weight of a product doubles with each factor. Features are scaled to [0, 1], and samples to unit "
        "length. The inner folds of EasyMKL stop at a duality gap of 1e-3; those of gHKL stop at a gap of "
        "1e-2, and its final models at 1e-3; where they end before, on Haberman, gaps are up to 0.033 and 0.007."
    ),
    cells=_cells,
    measure=_measure,
    bind=_bind,
    tables=(4,),
    variants={
        "signed": SIGNED,
        "standardised": STANDARDISED,
        GAUSSIANS: (
            "The base kernels of gHKL are Gaussians, one for each standardised feature; not on Australian, where a "
            "model takes minutes."
        ),
        PER_SAMPLE: "Features are scaled to [-1, 1], and C is divided by the number of training samples.",
        ONLY_COST: "On Liver, C is divided by the number of training samples, with features on [0, 1].",
        CONSTANT: (
            "A constant feature is added to those on [0, 1], so that a sample that is scaled to unit length still "
            "shows how long it was; this was found by comparing the numbers."
        ),
    },
    fitted=frozenset({"signed", PER_SAMPLE, ONLY_COST, CONSTANT}),
    tol=1e-3,
    seconds=5.0,
)
