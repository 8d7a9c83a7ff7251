"""Types for annotations, of this package and of code that extends it."""

from multikernel._typing import Array, Columns, Index

__all__ = ["Array", "Columns", "Index"]
