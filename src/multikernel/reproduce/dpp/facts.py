"""Sizes of the data of the paper, and what its experiments set."""

from __future__ import annotations

from multikernel.reproduce.dpp.protocol import DRAWN, NAMES, OVO_C, OVO_LAM
from multikernel.reproduce.facts import facts
from multikernel.reproduce.published import Row
from multikernel.reproduce.verdict import Binding, Constant, NotComparable

_PRINTED: dict[str, float | str] = {
    "Lambda": f"{OVO_LAM:g}/(1-{OVO_LAM:g})",
    "C": OVO_C,
    "binary tasks": 10 * 9 // 2,
    "steps (drawn monomials)": DRAWN,
    "repetitions": 10,
}


def _others(row: Row) -> Binding | None:
    if row.data == "Gisette":
        return NotComparable("the data are not to be had here")
    if "LeCun" in row.method:
        return NotComparable("the paper quotes this number from another one")
    return Constant(_PRINTED[row.metric]) if row.metric in _PRINTED else None


EXPERIMENT = facts("dpp", {**NAMES, "MNIST": "mnist"}, ("Table 2",), _others, cut={"pendigits": 4000})
