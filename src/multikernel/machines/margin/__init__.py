"""The machine of the largest margin between two hulls."""
