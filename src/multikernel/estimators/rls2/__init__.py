"""Regularised least squares with two layers."""
