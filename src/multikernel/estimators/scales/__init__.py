"""Estimators that learn a scale for each feature inside the kernel."""
