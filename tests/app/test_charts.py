"""Charts: that names, ticks and axes stay on their sheet and off each other, whatever things are called."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from markupsafe import Markup

from multikernel.app.charts import confusion, distribution, lines, path
from multikernel.app.drawing import SHEET, Scale, intervals, label
from multikernel.app.model_charts import dependence_levels
from multikernel.app.row_charts import bars, counts, folds, sources
from multikernel.app.short_names import apart, room, shortened

_NAMES = [
    "Klasse_" + "ohneLeerzeichen" * 4,
    "高风险患者需要立即住院治疗并进行进一步的检查与观察" * 2,
    "مستوى السكر في الدم",
    "x",
]
_LETTER = 6.5  # of 12 or 13 px type, on average


def _texts(chart: Markup) -> list[tuple[float, float, str, str]]:
    """Left end, right end, height and words of texts that are not slanted."""
    found = []
    for x, y, anchor, words in re.findall(r'<text x="(.*?)" y="(.*?)" text-anchor="(.*?)"[^>]*>(.*?)</text>', chart):
        width = _LETTER * sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in words)
        left = float(x) - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
        found.append((left, left + width, y, words))
    return found


@pytest.mark.parametrize(
    "chart",
    [
        bars("t", [(name, 1.0, 0.2, "") for name in _NAMES], f"added to the probability of {_NAMES[1]}"),
        counts("t", [(name, 7) for name in _NAMES], 28),
        folds("t", [(name, [0.5, 0.6]) for name in _NAMES], "accuracy"),
        dependence_levels(_NAMES[0], _NAMES, ([0.0] * 4, [0.5] * 4, [1.0] * 4), (0.0, 1.0), f"value of {_NAMES[1]}"),
        lines("t", [0.1, 1.0], [(name, [0.0, 1.0]) for name in _NAMES], ("C", "weight")),
        sources(
            {
                "score": 0.9,
                "constant": 0.5,
                "sources": [{"source": n, "alone": 0.6, "without": 0.8, "adds": 0.1, "se": 0.05} for n in _NAMES],
            },
            "accuracy",
        ),
    ],
)
def test_words_of_a_chart_stay_on_its_sheet_which_can_be_read_on_a_phone(chart: Markup) -> None:
    width = float(re.search(r'viewBox="0 0 (\S+) ', chart)[1])  # type: ignore[index]
    assert width <= SHEET
    texts = _texts(chart)
    assert all(left >= 0.0 and right <= width + _LETTER for left, right, *_ in texts), texts
    assert any(words.startswith("مستوى السكر في الدم") for *_, words in texts)


@pytest.mark.parametrize(("low", "high"), [(1e-9, 1.0), (0.1, 0.9), (3.0, 40.0), (1e-3, 1e3), (20.0, 21.0)])
def test_ticks_are_some_and_their_labels_do_not_touch(low: float, high: float) -> None:
    scale = Scale(low, high, 56.0, 420.0, logarithmic=True)
    assert len(scale.ticks) >= 2
    assert all(low * 0.999 <= tick <= high * 1.001 for tick in scale.ticks)
    chart = path(
        {"parameter": "C", "values": [low, high], "mean": [0.5, 0.6], "error": [0.1, 0.1], "line": 0.5}
        | {"chosen": 0, "best": 1, "kernels": [], "freedom": []},
        "R²",
    )
    labels = sorted((left, right) for left, right, y, _ in _texts(chart) if float(y) == 276.0)
    assert len(labels) >= 2
    assert all(before[1] < after[0] for before, after in pairwise(labels))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.0, 2.5e6, ["0", "500000", "1e6", "1.5e6", "2e6", "2.5e6"]),
        (-4e-4, 2e-4, ["−4e−4", "−2e−4", "0", "2e−4"]),
        (0.0, 4e-27, ["0", "1e−27", "2e−27", "3e−27", "4e−27"]),
        (1e12, 1.3e12, ["1e12", "1.1e12", "1.2e12", "1.3e12"]),
    ],
)
def test_labels_of_ticks_are_the_numbers_where_they_stand(low: float, high: float, words: list[str]) -> None:
    ticks = Scale(low, high, 0.0, 1.0).ticks
    assert [label(tick) for tick in ticks] == words


def test_intervals_have_digits_enough_to_tell_their_ends_apart() -> None:
    assert intervals([0.0, 0.12345, 1.0]) == ["0 to 0.1235", "0.1235 to 1"]
    assert intervals([4.1e6, 4.15e6, 4.2e6]) == ["4.1e6 to 4.15e6", "4.15e6 to 4.2e6"]
    assert intervals([1000.01, 1000.02, 1000.03]) == ["1000.01 to 1000.02", "1000.02 to 1000.03"]


def test_lines_below_zero_stay_on_their_sheet() -> None:
    chart = lines("t", [1.0, 2.0], [("a", [-5.0, -4.0]), ("b", [-4.5, -4.1])], ("C", "coefficient"))
    assert min(float(y) for y in re.findall(r'cy="(.*?)"', chart)) > 26.0


def test_classes_have_their_whole_names_where_columns_are_too_narrow() -> None:
    short, drawn = distribution("t", np.array(["a", "b"] * 9), classes=True)
    assert (short.count('class="mark"'), drawn) == (2, 2)
    names = [f"a class of a long name, number {k:02}" for k in range(20)]
    chart, drawn = distribution("t", np.array(names * 3 + names[:5]), classes=True)
    assert drawn == 12
    assert all(f">{name}</text>" in chart for name in names[:5])
    numbers, drawn = distribution("t", np.arange(100.0), classes=False)
    assert drawn == 10
    assert ">99</text>" in numbers


def test_bars_of_whole_numbers_hold_equally_many_of_them() -> None:
    evenly = np.repeat(np.arange(27), 11)  # of 27 numbers, whose bars by 20 equal parts would hold one or two of them
    chart, drawn = distribution("t", evenly, classes=False)
    assert drawn == 14
    tips = re.findall(r'data-tip="(.*?) \(', chart)
    assert tips == [*(f"{low} to {low + 1}: 22 rows" for low in range(0, 26, 2)), "26: 11 rows"]
    below, drawn = distribution("t", np.repeat([-2.0, -1.0, 0.0, 3.0], 9), classes=False)
    assert drawn == 6
    assert all(f">{name}</text>" in below for name in ("−2", "1", "3"))
    assert distribution("t", np.array([1e17, 2e17]), classes=False)[1] == 5


def test_a_matrix_of_mistakes_is_no_wider_than_its_names_need() -> None:
    chart = confusion([[3, 1, 0, 0]] * 4, _NAMES)
    assert float(re.search(r'width="(\S+)"', chart)[1]) < 520  # type: ignore[index]


def test_wide_signs_take_the_room_of_two_letters_and_are_not_torn() -> None:
    assert room("高风险") == 6
    assert shortened("高风险患者需要", 9) == "高风…需要"
    family = "👩\u200d👩\u200d👧"
    assert room(family) == 2
    assert shortened(family * 9, 6) == f"{family}…{family}"
    accents = "e\u0301" * 20
    assert all(len(part) % 2 == 0 for part in shortened(accents, 9).split("…"))
    long = [f"{'高' * 30}{k}{'险' * 30}" for k in range(3)]
    found = apart(long, 12)
    assert len(set(found)) == 3
    assert max(map(room, found)) <= 14
