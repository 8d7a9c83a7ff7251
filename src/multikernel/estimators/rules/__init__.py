"""Kernel weights by a rule: the baselines that every paper compares with."""
