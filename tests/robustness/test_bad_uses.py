"""Whatever is wrong with samples, targets, weights or parameters is said in one sentence."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from bad_uses import every, fits, functions, said

_EACH = 41  # of the wrong uses, every so many are tried in the short part


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some wrong values are names of files."""
    monkeypatch.chdir(tmp_path)


def test_some_wrong_uses() -> None:
    some = [*islice(functions(), 3, None, _EACH), *islice(fits("RLS2Regressor"), 3, None, _EACH // 4)]
    assert {each.words: what for each in some if (what := said(each)) is not None} == {}


@pytest.mark.study
def test_all_wrong_uses() -> None:
    outcomes = {each.words: said(each) for each in every()}
    obscure = {words: what for words, what in outcomes.items() if what is not None}
    print(f"{len(outcomes)} wrong uses, {len(obscure)} obscure errors: {Counter(obscure.values())}")
    assert obscure == {}
