"""Kernel weights that differ between groups of samples, or follow the sample."""
