"""What both applications do with a table: fit, predict, compare."""
