"""Polynomial combinations of kernels for ridge regression, with a bound of the whole problem where one is known."""

from multikernel.procedures.polynomial.method import SOLVERS, polynomial_mkl

__all__ = ["SOLVERS", "polynomial_mkl"]
