"""Kernel ridge regression."""
