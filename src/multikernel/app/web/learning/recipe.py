"""The settings of a run: everything on which its answer depends besides the cells of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

from multikernel.app.web.learning.measuring import Measuring
from multikernel.datasets import Task

AUTOMATIC = "automatic"
COMPARISON = "comparison"
Kind = Literal["number", "category", "date", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SCALES = ("LearnedScalesClassifier", "LearnedScalesRegressor")
Missing = Literal["drop", "keep"]
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class Recipe:
    """The settings of a run.

    Parameters
    ----------
    data : str, the name of the data set
    target : str, the column to predict
    task : "classification" or "regression"
    columns : dict from the columns to learn from to their types
    views : dict from the views to their columns; empty where there is a single view
    method : str, "automatic", "comparison" or the name of an estimator
    parameters : dict of its parameters
    kernels : dict from the views, "" for all columns, to words of kernel families
    kernel_parameters : dict from the views to those parameters of each word that were changed
    path : str, the parameter that is chosen along a path; "" for none
    path_count, path_folds : int, the numbers of values of the path and of folds that test each; 0 for the defaults
    seed : int
    worth : bool, whether the run measures the worth of each view, and learns no model
    missing : "drop" or "keep", whether samples that lack a view (all of its cells are empty) are left out, or kept and
        completed from their other views
    key : str, the column that names the samples of several views; "" where there is none
    written : dict from columns of numbers to the decimal mark and the unit in the loaded file
    measured : Measuring, which rows are held out, and by which measure they are scored
    chosen_by : str, the measure by which a value of the path is chosen; "" for the score of the estimator
    other_targets : list of str, further columns of numbers that the model predicts
    """

    data: str
    target: str
    task: Task
    columns: dict[str, Kind]
    views: dict[str, list[str]] = field(default_factory=dict)
    method: str = AUTOMATIC
    parameters: dict[str, Any] = field(default_factory=dict)
    kernels: dict[str, list[str]] = field(default_factory=dict)
    kernel_parameters: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    path: str = ""
    path_count: int = 0
    path_folds: int = 0
    seed: int = 0
    worth: bool = False
    missing: Missing = "drop"
    key: str = ""
    written: dict[str, list[str]] = field(default_factory=dict)
    measured: Measuring = field(default_factory=Measuring)
    chosen_by: str = ""
    other_targets: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As dictionaries, lists, strings and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """From the result of ``to_json``, or from a file that a person wrote; ``data`` may be missing."""
        measured = Measuring(**stored.get("measured", {}))
        return cls(**{"data": "", **stored, "measured": measured})

    @property
    def targets(self) -> list[str]:
        """The columns to predict."""
        return [self.target, *self.other_targets]

    @property
    def automatic(self) -> bool:
        """Whether the automatic estimator chooses everything."""
        return self.method == AUTOMATIC

    @property
    def named(self) -> bool:
        """Whether a person chose an estimator by name."""
        return self.method not in (AUTOMATIC, COMPARISON)

    @property
    def scales(self) -> bool:
        """Whether the method learns a scale for each column of one kernel, instead of weights of several kernels."""
        return self.method in SCALES

    @property
    def leaves_model(self) -> bool:
        """Whether the run learns and saves a model of all rows."""
        return self.method != COMPARISON and not self.worth

    @property
    def families(self) -> list[tuple[str, str, dict[str, Any]]]:
        """The view, the word and the changed parameters of each family; by default the family by type."""
        return [
            (view, word, self.kernel_parameters.get(view, {}).get(word, {}))
            for view in self.by_view
            for word in self.kernels.get(view) or ["types"]
        ]

    @property
    def by_view(self) -> dict[str, list[str]]:
        """The columns to learn from, by view; a single view "" where there are no views."""
        columns_by_view = {view: [name for name in names if name in self.columns] for view, names in self.views.items()}
        return {view: names for view, names in columns_by_view.items() if names} or {"": list(self.columns)}
