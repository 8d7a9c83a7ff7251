"""Problems of every kind and size: no certificate is false, no model lies or breaks, and refusals say what is wrong.

A short part runs with the other tests, the same cases in every run. ``make study`` runs the long one, other cases in
every run, unless MULTIKERNEL_FUZZ_SEED says which; MULTIKERNEL_FUZZ_CASES says how many (5000 by default). It prints
how many were true, refused, undecided by the points at hand, and within the last digits of double precision.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

from cases import one_in
from fuzz.claims import Case
from fuzz.families import FAMILIES
from fuzz.judge import Verdict, examine
from fuzz.open import open_question

FEW = 2  # cases of each estimator in the short part
MANY = int(os.environ.get("MULTIKERNEL_FUZZ_CASES", "5000"))
SEED = int(os.environ.get("MULTIKERNEL_FUZZ_SEED", random.randrange(10**6)))


def fuzz(name: str, number: int, chosen: int | None = None) -> Counter[str]:
    """Examine cases of one estimator, the same in every run unless a seed is chosen; how many came out how."""
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=number,
        derandomize=chosen is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(FAMILIES[name].cases(name))
    def holds(case: Case) -> None:
        verdict = judged(case)
        outcomes[verdict.outcome] += 1
        assert verdict.outcome != "false", verdict

    (holds if chosen is None else seed(chosen)(holds))()
    return outcomes


def judged(case: Case) -> Verdict:
    """The verdict, unless the case is of a kind that is known to fail."""
    try:
        verdict = examine(case)
    except Exception as error:
        if (reason := open_question(case, error)) is not None:
            return Verdict("open", text=reason)
        raise
    if verdict.outcome == "false" and (reason := open_question(case, verdict)) is not None:
        return Verdict("open", text=reason)
    return verdict


@pytest.mark.parametrize("name", one_in(3, FAMILIES))
def test_a_few_cases(name):
    fuzz(name, FEW)


@pytest.mark.study
@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs more than double precision")
@pytest.mark.parametrize("name", FAMILIES)
def test_many_cases(name, capsys):
    outcomes = fuzz(name, -(-MANY // len(FAMILIES)), SEED)
    with capsys.disabled():
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        print(f"\n{name}, seed {SEED}: {told}", end="")
