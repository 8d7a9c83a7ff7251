"""The figure of a lattice: which nodes and lines it shows, and what it says about the others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from multikernel.estimators.hierarchical.lattice_plot import draw_lattice

pytest.importorskip("matplotlib").use("Agg")

NODES = [w for size in range(4) for w in combinations(range(4), size)]
NAMES = "abcd"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def weights(**of: float) -> Any:
    return np.array([of.get("".join(NAMES[i] for i in w), 0.0) for w in NODES])


def test_nodes_with_weight_and_their_ancestors_are_drawn() -> None:
    ax = draw_lattice(NODES, weights(a=0.2, bc=0.4), NAMES)
    ax.figure.canvas.draw()
    assert sorted(labels(ax)) == sorted(["1", "a", "b", "c", "b * c"])
    assert len(ax.lines) == 5  # from the root to three, from two of these to b * c
    hollow, discs = ax.collections
    assert (len(hollow.get_sizes()), len(hollow.get_offsets())) == (1, 3)
    np.testing.assert_allclose(discs.get_sizes()[0], 0.5 * discs.get_sizes()[1])
    assert ax.get_title(loc="left") == "area: weight, the largest 0.4; ancestors without weight: 3"


def test_nodes_do_not_cover_one_another() -> None:
    ax = draw_lattice(NODES, np.linspace(0.0, 1.0, len(NODES)), NAMES)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    frame = ax.figure.bbox
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)


def test_of_many_nodes_the_largest_are_drawn() -> None:
    nodes = [w for size in range(4) for w in combinations(range(9), size)]
    values = np.random.default_rng(0).random(len(nodes))
    ax = draw_lattice(nodes, values, "abcdefghi")
    assert set(labels(ax)) == {" * ".join("abcdefghi"[i] for i in nodes[k]) or "1" for k in np.argsort(-values)[:40]}
    assert ax.get_title(loc="left").endswith("the 40 largest of 130 nodes with weight")


def test_long_names_keep_their_ends() -> None:
    first, second = "RBF(gamma=0.25) of the column height", "RBF(gamma=0.25) of the column weight"
    ax = draw_lattice([(), (0,), (1,), (0, 1)], np.ones(4), [first, second])
    assert labels(ax)[:3] == ["1", first, second]
    assert max(map(len, labels(ax))) <= 44
    assert "height * RBF(" in labels(ax)[3]


def test_nothing_to_draw_and_given_axes() -> None:
    import matplotlib.pyplot as plt

    ax = plt.figure().add_subplot()
    assert draw_lattice(NODES, np.zeros(len(NODES)), NAMES, ax) is ax
    assert ax.get_title(loc="left") == "no node has weight"
    assert not ax.texts
