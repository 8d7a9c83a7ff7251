"""Features that memory has no room for are in a temporary file, and the model is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import one_in
from multikernel import L1MKLClassifier, LpMKLClassifier, RLS2Regressor, _memory
from multikernel.banks.low_rank import approximate, feature_map, nystroem, space
from multikernel.kernels import RBF
from multikernel.machines.support import base, many

RNG = np.random.default_rng(0)
N = 1400
X = RNG.normal(size=(N, 3))
Z = X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=N)
Y = np.where(Z > 0.0, 1, -1)
HOW: dict[str, Any] = {"approximation": "nystroem", "rank": 9}
KERNELS = [RBF(0.3), RBF(1.0), RBF(0.1).on([0, 1])]
MODELS = {
    "L1": (lambda: L1MKLClassifier(KERNELS, C=1.0, tol=1e-3, **HOW), Y),
    "Lp": (lambda: LpMKLClassifier(KERNELS, C=1.0, tol=1e-3, **HOW), Y),
    "RLS2": (lambda: RLS2Regressor(KERNELS, alpha=1e-3, tol=1e-6, **HOW), Z),
}


@pytest.mark.parametrize("name", one_in(3, MODELS))
def test_the_model_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, target = MODELS[name]
    monkeypatch.setattr(base, "_SYSTEM", 0.0)
    monkeypatch.setattr(approximate, "MEMORY", 0)  # single precision in both
    known = make().fit(X, target)
    made: list[Any] = []
    for module in (feature_map, nystroem):
        monkeypatch.setattr(module, "space", lambda *shape: made.append(space.space(*shape)) or made[-1])
    monkeypatch.setattr(space, "fits", lambda needed: False)
    monkeypatch.setattr(many, "fits", lambda needed: False)
    monkeypatch.setattr(many, "BUFFER_VALUES", 1 << 9)
    model = make().fit(X, target)
    assert any(isinstance(F.base, np.memmap) and F.shape == (N, 27) for F in made)
    assert all(type(F) is np.ndarray for F in made)
    assert model.duality_gap_ <= model.tol
    np.testing.assert_allclose(model.weights_, known.weights_, atol=0.05)
    say = "decision_function" if name != "RLS2" else "predict"
    here, there = (getattr(each, say)(X) for each in (model, known))
    assert np.corrcoef(here, there)[0, 1] > 0.999


def test_a_disk_without_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "total_memory", lambda: 4e5)
    monkeypatch.setattr(space.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1e4})())
    with pytest.raises(
        MemoryError, match=r"take 0[.]000302 GB: more than half of the memory.*1e-05 GB free in .*TMPDIR"
    ):
        L1MKLClassifier(KERNELS, **HOW).fit(X, Y)
