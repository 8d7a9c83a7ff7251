"""Cross-validation on one bank."""

from multikernel.selection.search import BankSearchCV

__all__ = ["BankSearchCV"]
