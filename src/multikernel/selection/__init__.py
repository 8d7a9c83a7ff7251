"""Cross-validation on one bank."""

from multikernel._folds import Fold
from multikernel.selection.folds import grouped_folds
from multikernel.selection.search import BankSearchCV

__all__ = ["BankSearchCV", "Fold", "grouped_folds"]
