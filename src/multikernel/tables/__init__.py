"""Tables as people have them: cells are read once, and become typed columns once, for all other rooms.

cells.py       one column of a frame, an array or a list, as numbers, strings, dates or durations
numerals.py    numbers in writing          dates.py    dates in writing
columns.py     what a column holds: a number, a category, a date, a text
table.py       columns side by side, as samples that a bank takes apart by rows and columns
"""
