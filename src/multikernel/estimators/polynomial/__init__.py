"""Polynomial combinations of kernels."""
