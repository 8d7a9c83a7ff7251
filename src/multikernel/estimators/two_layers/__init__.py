"""Kernel machines with two layers."""
