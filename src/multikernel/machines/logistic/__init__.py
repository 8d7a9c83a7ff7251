"""Logistic losses."""
