"""Tables as people have them: cells are read once, and become typed columns once, for all packages.

cells.py       one column of a frame, an array or a list, as numbers, strings, dates or durations
numerals.py    numbers in writing          dates.py    dates in writing
columns.py     the type of a column: a number, a category, a date, a text
table.py       columns side by side, as samples whose rows and columns a bank selects
"""

from multikernel.tables.cells import Cells
from multikernel.tables.columns import Column, type_of, typed
from multikernel.tables.dates import Order, in_writing, is_ambiguous, likely_order, parsed
from multikernel.tables.numerals import PLAIN, Numerals, as_float, numbers_in, other_reading, written_in

__all__ = [
    "PLAIN",
    "Cells",
    "Column",
    "Numerals",
    "Order",
    "as_float",
    "in_writing",
    "is_ambiguous",
    "likely_order",
    "numbers_in",
    "other_reading",
    "parsed",
    "type_of",
    "typed",
    "written_in",
]
