"""Generalised multiple kernel learning."""
