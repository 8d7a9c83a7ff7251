"""The methods in plain names, and when to use each: the same words in the command line and in the application."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlainName:
    """The plain name of a method, and a sentence about when to use it.

    Parameters
    ----------
    title, when : str
    """

    title: str
    when: str


AUTOMATIC = PlainName(
    "Automatic",
    "First of all, and where you need no particular model: it takes any table and chooses by held-out rows.",
)
NAMES = {
    "easymkl": PlainName("Largest margin, many kernels", "Two or more classes and hundreds of kernels: the fastest."),
    "l1mkl": PlainName("Few kernels (L1)", "You want to see which few of many kernels or views matter."),
    "lpmkl": PlainName("All kernels, weighted (Lp)", "Several sources that all say something, or few rows."),
    "localized": PlainName("Weights by region", "Other kernels matter in other groups of rows; one best answer."),
    "gated": PlainName(
        "Weights that follow the row", "Other kernels matter from row to row, by the values of numbers."
    ),
    "smkl": PlainName("Smooth weights", "Between few and all kernels, by one parameter (smoothing)."),
    "rls2": PlainName("Few kernels, least squares (RLS2)", "A sparse model with degrees of freedom, AIC, BIC and GCV."),
    "twolayers": PlainName("Two layers", "Classes or targets that share structure; more flexible than weights."),
    "polynomial": PlainName("Products of kernels", "Interactions of kernels: powers of their weighted sum."),
    "hkl": PlainName("Products of columns (HKL)", "To find which columns interact, simple products first; up to 20."),
    "gmkl": PlainName(
        "Sums or products, penalised (GMKL)", "Products of kernels of single columns, which select columns."
    ),
    "gmklsvr": PlainName(
        "The same, insensitive to small errors", "As before, where errors below a bound do not count."
    ),
    "linearrls2": PlainName(
        "Sparse linear model (linear RLS2)", "A formula with few columns; as the Lasso, very many columns."
    ),
    "scales": PlainName("A width for each column", "One smooth function; which columns matter, and how finely."),
    "ridgecv": PlainName(
        "Least squares by held-out error", "Numbers, also many targets: weights and ridge by held-out rows."
    ),
    "average": PlainName("Equal weights", "Few rows, or to compare with: nothing is learned of the kernels."),
    "alignment": PlainName("Weights by likeness to the target", "Very quick weights, found before the model."),
    "proportional": PlainName("Weights by single scores", "To compare with: each kernel weighs what it scores alone."),
    "best": PlainName("The best single kernel", "To compare with: does more than one kernel help at all?"),
}
