"""The work of the command line and of the browser application on a table: fit, predict, compare."""
