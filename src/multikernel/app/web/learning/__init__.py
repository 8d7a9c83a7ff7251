"""Runs: the recipe of a run, and the functions that learn by it and make its findings."""
